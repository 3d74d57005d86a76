"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 35d86d00af63073f, runtime 397be9fa5f17bd4d.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "35d86d00af63073fcdd718e13f2b1b169ec8336ae79686b6940bf2c1a0889387"
