"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 65cb76c781edc449, runtime cc45d3a8af7bcb10.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "65cb76c781edc44988a6016f5b80d8ba10bd0ccfac80229ad15815dbf3dbf031"
