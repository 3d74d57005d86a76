"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 3bff72a3265c9b40, runtime 823472c6598205ce.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "3bff72a3265c9b40fb631387ed256edb6f82b70e8194d751edf54376d0bdd8d6"
