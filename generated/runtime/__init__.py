"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 18c881cfe989307c, runtime 087fd5e5712b423f.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "18c881cfe989307cffa8cedbd7f3faafbc271806ebec0570d66733a13f79517b"
