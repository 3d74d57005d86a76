"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 0aad8a6a3ed02b2c, runtime 2910d75707fc720b.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "0aad8a6a3ed02b2cab0213725698c34f9c2dda70aefaab9e4204824362cdc19d"
