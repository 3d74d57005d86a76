"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 045e14738bcaa3bf, runtime e741ddc2d02c551c.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "045e14738bcaa3bf0adf49f6566443db67095ff8bb6277ebe8d66b3ae5581e60"
