"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature be7fd9a2d2950103, runtime 6b185476582ced76.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "be7fd9a2d2950103b7e34d322b74e9d606e8b56d49cecd43705f172b9f800368"
