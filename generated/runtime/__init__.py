"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature dc4dbb75c2294d35, runtime 7099544a56f1f386.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "dc4dbb75c2294d35f60008243b5339e6316c1990e90df05342d9187816844116"
