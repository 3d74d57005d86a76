"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 5d4d9135beae87e6, runtime 4c51ac549b047583.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "5d4d9135beae87e60c5a3754ec61faeca1bc7487779db2cebb0cfb87b4512f95"
