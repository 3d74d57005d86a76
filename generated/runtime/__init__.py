"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature f88bbec66edfb99b, runtime d36daf5d64a98866.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "f88bbec66edfb99bb1e8647bd599e687bfc652dfbc4b3bfb2e27d9fc2cae6f57"
