"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 3ade99dab89f2a97, runtime fb372df52348aadd.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "3ade99dab89f2a977f65ca004c8a8b3e100cc14eaf586d6c1871b7eab8036c90"
