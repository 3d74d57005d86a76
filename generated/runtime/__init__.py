"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature cb4befa5764d915f, runtime d836de114a153587.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "cb4befa5764d915ff4fb67161832b52d14b151ecb2b0675bbb45c90165997cff"
