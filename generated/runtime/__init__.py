"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 27b953f0dca52d7b, runtime 561ce8984c323c27.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "27b953f0dca52d7b3cae48ac06c5edf88d2975a27f008ad0dcd36b58e5ade8c7"
