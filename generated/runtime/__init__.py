"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 4ae6df272a789749, runtime 79283ab6f213e8e9.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "4ae6df272a7897495baed3effef327ef49a968b9ef620e3ae759fd66a5c4fb38"
