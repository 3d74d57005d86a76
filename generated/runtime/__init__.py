"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature fb1a8203bddcae77, runtime 72db279826dd7aa8.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "fb1a8203bddcae77af6e18d20ecee65002c847594552f641ed097098f4d81436"
