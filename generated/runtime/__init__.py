"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 4620ea3054aa8440, runtime fac509ee2d536293.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "4620ea3054aa84402fd41eb6ce93f3a404a4acd0c5493cb80af1d245ec92873c"
