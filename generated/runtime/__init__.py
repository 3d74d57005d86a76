"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 4d153c1f27eff1ca, runtime 2bef3618f02a7ef9.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "4d153c1f27eff1caa27dbe4b5aa65966dd7e2dd60c5b47d3750bf518dd10f92e"
