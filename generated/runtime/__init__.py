"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 9ae7f4b04ce86628, runtime e771343fd9e106ec.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "9ae7f4b04ce8662852393f05351381ec6da25c8daef30e5f6ecbe09be43380b1"
