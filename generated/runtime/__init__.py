"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 2e3652defefc66ed, runtime bca8a2b3e7d43eb7.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "2e3652defefc66ed718d71f00ee30fc54592b6a6332a1894a750c5303d7b82d7"
