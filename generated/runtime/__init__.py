"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 6abcf5acbd4c857a, runtime 93048800d804f5e3.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "6abcf5acbd4c857a5a15b4d0b67bc00e868462c1af97f111868c5de9be2ab019"
