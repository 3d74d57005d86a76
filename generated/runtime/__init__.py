"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 709e5f7a88f5d019, runtime fea0185573724550.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "709e5f7a88f5d019fe8cf0c56313f712df9c48d821b078cea8ef560839b050a5"
