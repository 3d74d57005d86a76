"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 30ad9ca9ec0fde1e, runtime 9b8358ac8f6d6481.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "30ad9ca9ec0fde1e866bbeb8e914de06be0f9112cd5e3ca1e9589b5b9794a143"
