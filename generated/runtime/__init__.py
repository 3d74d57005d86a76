"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 8b72ae16033ff35d, runtime dd8b03cd1d339403.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "8b72ae16033ff35dbf057fbabeedc9fa82f9e43dae7e4371e49aa8f3c8facff2"
