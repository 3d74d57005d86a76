"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature f1b008a21bd702a3, runtime 346396a47abd4c5f.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "f1b008a21bd702a3c945d1bb61f4c2609ec0d8cc46188b0454edeb2a19aada53"
