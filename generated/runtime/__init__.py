"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 3d7b2b381f43225c, runtime 9e094b7523b31579.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "3d7b2b381f43225c2b10a882f0e541025c23108ba86a236e37352e437b775920"
