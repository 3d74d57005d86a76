"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 72a91ee4dd586c7f, runtime 50d4face7c5bdfa4.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "72a91ee4dd586c7f9e7bb19026ce0149dc1e2be5422080fac481e133070cd3d9"
