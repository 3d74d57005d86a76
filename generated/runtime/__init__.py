"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 35518139dd44a3bb, runtime f2611087b784e6d8.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "35518139dd44a3bb40724ff2399c17b6067dc4d60d0a1a39e3c7b02efa226d7f"
