"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 4d151509f6e42d87, runtime 973d8c848fc7a68e.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "4d151509f6e42d87d5c3605563583abe23499b88a663681190eeb68c3cb37219"
