"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature d2da31d12a668ffa, runtime ca15abb473c410a0.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "d2da31d12a668ffa0a74c577942b4f6d7282c1c52fae66b6b12852155b419843"
