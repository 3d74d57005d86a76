"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 999f730240acee3b, runtime 2262931fa5e69f70.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "999f730240acee3b9e25ff355c7c8750acb285d807d7e1d410271a2fb9883249"
