"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 67593802da108a3b, runtime 7b23138fdccd0da9.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "67593802da108a3b27730730261e0fc15c34694bddcea5a8ccbb890855052ae1"
