"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature e4d67ffd3430bdb9, runtime a5e30e34dcbc7d77.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "e4d67ffd3430bdb9e8430499d54d32da06ac6f56082a4ebcddec6fabc35121d4"
