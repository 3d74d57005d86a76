"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature f3c8a1a91309392d, runtime 81434616722a9e60.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "f3c8a1a91309392d5b29f31cd07d2bd182eee87fe3b27f49ab33760f8f50c716"
