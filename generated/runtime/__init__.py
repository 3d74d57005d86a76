"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 44409e07b83b414f, runtime 678b3d378f6c7ede.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "44409e07b83b414f09b2142bd5c89a47d90a58b4fa208fb7ad2d366892f41591"
