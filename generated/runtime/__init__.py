"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 6ad582905f949fc7, runtime 9a4ad3f05ffa5fe7.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "6ad582905f949fc73cb192ea6e61356a9daaece5b28778b7495972283840c5b7"
