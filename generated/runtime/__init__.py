"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 3a2ddd45c049ea26, runtime f25ce1d2a318585a.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "3a2ddd45c049ea26731b62bf4d791b51c90fcda184ebf038d0f6446439bec37f"
