"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 4440251a50264743, runtime 59e7d27520dd2fe2.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "4440251a502647439fc0146f27dd61e5731cfdb3980eaf3a4996df727f1f7df1"
