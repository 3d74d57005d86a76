"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 7a5485a7d067c074, runtime ef774e0f61aa5ce0.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "7a5485a7d067c074cfb92e08a0e30bd8e5b4fcdf4c79c63e1902ef9ee8628c36"
