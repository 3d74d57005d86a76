"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 3a5b8ae9b321df73, runtime 06094f07b984149b.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "3a5b8ae9b321df736f27ea81954eb33f4d44e1b436d7d52f6ea4f198301e49c9"
