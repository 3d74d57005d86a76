"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 886a595bf4c515e2, runtime 835b3635d834fd14.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "886a595bf4c515e2b1d13421adb4c85e7beac4975adddb9fe7564b5ec3e5cd46"
