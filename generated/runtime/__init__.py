"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature d4c778df9635aa9c, runtime 5b3eddb642039f2a.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "d4c778df9635aa9c8ed4dd1bb57fe558783de4a2f36b525dc481c95b5586bfb8"
