"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 0ac41f2fba056f5b, runtime d4be0987a88c9eb1.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "0ac41f2fba056f5b19a58dcaebe464ffc3f2a9da062caa6fb00ced6405768a51"
