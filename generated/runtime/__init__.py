"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 8053baa69fdf1aa5, runtime cdd2584516ff0fa8.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "8053baa69fdf1aa5adbf307e632a969ec95d2c6f1431b2be938052c4f13db388"
