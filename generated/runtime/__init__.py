"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 66e9a5e5e8ebda15, runtime ce3f2a0bb30196f8.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "66e9a5e5e8ebda1565e894fed58b96ba02ce29b996713ab0e52f9b8ae45ac62c"
