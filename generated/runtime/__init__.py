"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 9a338ce76f779e64, runtime 80ca4ef63621c4aa.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "9a338ce76f779e64d5192e1401513d99153495602eadb76fe598b238f42cc0ec"
