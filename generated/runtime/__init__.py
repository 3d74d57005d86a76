"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 49a05c2803d51558, runtime bd24b89aa8c8ab0b.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "49a05c2803d515580f84d2f3b8c0ec9f98c4eaf95d47f8e7c43bf501d0e1cedf"
