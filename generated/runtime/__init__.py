"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 446affab94ac2469, runtime 3b1d3919b8f48c2b.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "446affab94ac2469f1ae9ce5d18cec287373054dc043bc39d3dc1c6bc05a1bf3"
