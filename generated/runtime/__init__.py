"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature b3d93ec5ffc196b5, runtime 76545b5a7a7b6180.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "b3d93ec5ffc196b56b32bbff69e9ef7c84211bfc2469f63261f4d58181ce3d59"
