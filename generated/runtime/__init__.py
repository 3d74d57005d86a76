"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 562a661a20826a3e, runtime d206660635f75159.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "562a661a20826a3e090372b603d19be02c48d6927ec430bf588b8ddd33518ed4"
