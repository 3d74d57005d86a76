"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 620a7a9f8d591cb4, runtime d3a019d571db4e6d.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "620a7a9f8d591cb47162d952a6855e64a3a2c1070ee5c92f7e3c03f5e3c13f3d"
