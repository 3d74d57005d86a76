"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature aac955910e6bd8e2, runtime 7bbe217b3c470fcc.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "aac955910e6bd8e27d68a35c28818843d4274bcece146b1503af655a2677217a"
