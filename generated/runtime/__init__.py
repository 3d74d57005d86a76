"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 039b14d6477026e6, runtime 15f5064a6e545ef2.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "039b14d6477026e6a3b887a4244b4102e0d0d96d731b92b8a74a8a4481e466c1"
