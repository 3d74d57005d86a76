"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature c4014fcc3b509f88, runtime 3c554a09a263a4b3.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "c4014fcc3b509f88ad104b853d3828f11086980d3610919cf5f32db3aefff3b5"
