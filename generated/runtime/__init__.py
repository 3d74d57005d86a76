"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature e26b3ac42f2b6d20, runtime 6b4901b214a95c05.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "e26b3ac42f2b6d2047d7c15e0d29ed62eb01bd8984c8e651c0a6b95bbd337917"
