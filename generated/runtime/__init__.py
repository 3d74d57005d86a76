"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature e0c6475657c2fb97, runtime 2336a7780171ec38.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "e0c6475657c2fb979b1fea43417c88a528c46ae644852e5b70bfd8ddd08e454c"
