"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature ee7612bda0ca90d2, runtime 7d02c7a025e721eb.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "ee7612bda0ca90d221246cc177d66e0b61c9745603639321c695d3bbe585a32c"
