"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature a3add79bf73d086f, runtime 0f0c242adbbfbf5b.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "a3add79bf73d086fd2f85c51a4da1335633b0439cead94911f400d30ed8ddd19"
