"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 68e0c47aa01839ab, runtime b36d77f6908ecd8c.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "68e0c47aa01839ab18214b8c28f78455dcc95c65cfa351b5401ce8a646ad5d5b"
