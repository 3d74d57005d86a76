"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature d7edb02047fe3b19, runtime 4733d4c4e9330f0a.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "d7edb02047fe3b19a1482475ed10a59f75803a6f2f4f4d017f1c3d6004786959"
