"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 0e06edf395925626, runtime 471e62a0d77a16df.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "0e06edf395925626537b9a6cb650c554d6434fd04a1584122e55a240359a4040"
