"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 029db2353317571f, runtime 65bd3cc4718a4120.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "029db2353317571fbcfec9a829c9aa50e0f54160ee9dc918129cf1377e6cbf80"
