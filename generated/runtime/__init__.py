"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 0dc4263f6549ef2d, runtime a7e8c1adbc97dd41.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "0dc4263f6549ef2db12a48d42e09b68e520ed135b6096adbe6ace2a0691f285a"
