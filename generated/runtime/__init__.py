"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature c5c6050ca52ce959, runtime 6fffea2448be7ca2.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "c5c6050ca52ce95963cfabf5d5a29f7cdaced47577395762e32e9d7b1f47e3a8"
