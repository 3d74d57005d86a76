"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature a752be1594c8c62a, runtime ab82e63fcdbe5c09.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "a752be1594c8c62ad5e83a83a221a32d2a53e4cec3f328567b4327f0a50a4581"
