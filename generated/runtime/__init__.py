"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 0f6fce6ec680221e, runtime aa9730e070df2d9f.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "0f6fce6ec680221ed65d0f13101cfddf8c98c6f722d194834a44e8cc571e3372"
