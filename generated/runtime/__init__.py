"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 9c50b95c2cf299b4, runtime 33060c9aa80ce7fc.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "9c50b95c2cf299b4cc1656d4f79bbbf4b6314522a675c6ee352839e834a01c04"
