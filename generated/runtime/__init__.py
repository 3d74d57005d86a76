"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 8b1add23c90d74e0, runtime 30fe2fe1062c5de0.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "8b1add23c90d74e0a4175f5ccf32f9b8ef115e6c26e025096f47a9ea09b7c198"
