"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature ae433fb374df0721, runtime bc1d70cfe4fe4c37.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "ae433fb374df0721192770569c5a38e49fd2da49741af40cfc424e0f0e4b6a1c"
