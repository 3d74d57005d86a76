"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature d23bfb0c81ec1ab2, runtime d4d4dfdd4d4a720c.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "d23bfb0c81ec1ab2278c5401b6861f6ebb9d52b9ea39442f25d61a44471d9ca2"
