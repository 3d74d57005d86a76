"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature f1f908c07ed8b591, runtime c3fb8dab7f844285.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "f1f908c07ed8b591640e032162c92e0b679a47a68833cc29d81ad9f3eb6b7109"
