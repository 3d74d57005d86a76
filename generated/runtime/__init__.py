"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature f01696392868d00b, runtime c2c668cebc06ec49.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "f01696392868d00b80e6ceaa8e04fb1bdc0c2fb54c32014a1f233d8b3fc9dc2f"
