"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 21d00dabe81d328c, runtime d192ee58e12c1eab.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "21d00dabe81d328c6be4d4d0f3d6036dbfe26103c43f78ffafd88810fc94a4fa"
