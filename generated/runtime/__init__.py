"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 06de7b66a4c7b92d, runtime 1982fd9af6c9e311.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "06de7b66a4c7b92d47cfeac4e1f4832754b980c2a615f2fac62f5d15f80855f3"
