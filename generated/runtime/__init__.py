"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 450436cbd6eb4ee0, runtime a31f41c318f98f42.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "450436cbd6eb4ee04dc8dd126555e01fe065ab6ba85d097befdee7086de2d493"
