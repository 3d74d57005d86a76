"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 9fffe6f04b0323b2, runtime 308d5a6bf6022070.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "9fffe6f04b0323b23f6dffc8ead789e020ef46e35e84949945014b21cc838c5b"
