"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature be3d1dde158aa1f9, runtime 76a6435c44d4586f.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "be3d1dde158aa1f9a872db732d4f3353adce76bedc5d52d72ade67dfe996c5b8"
