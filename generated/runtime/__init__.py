"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature ad148fb6b63cefd0, runtime f4b5a728414e12a7.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "ad148fb6b63cefd084d5a3ef9f7cd971bb174f986aee843ebc198f4614222fe5"
