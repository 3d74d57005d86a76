"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 0b91843f3af50534, runtime 644e12765470f79c.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "0b91843f3af505340fb6463f86bd33434af0fba18d78a797fc48938423d527e4"
