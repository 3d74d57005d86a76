"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 939421dbeb5892b3, runtime 11b67a57a062aee3.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "939421dbeb5892b38bf61a730a967d873499cb9d99b0447c049c40126544e8d3"
