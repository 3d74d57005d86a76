"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 5f5600f862e4fb97, runtime 60a377d210e4b9f6.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "5f5600f862e4fb97d63d7d524420cb74d258e75400400894dc9b616488b6dadc"
