"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 93190f3cf73326c5, runtime b0313e007b7ec8da.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "93190f3cf73326c59edd1e4d32f1d4e8bf8d89f68aa577c2f5c4fead13285414"
