"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature c0012c7b71e5713b, runtime 55f4a34ac915bab2.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "c0012c7b71e5713bf9808e1f47be7657a9c9b54dec71a8ca2bf5986682851b3f"
