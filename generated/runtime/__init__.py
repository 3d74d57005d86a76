"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature bcc7c0a91077d3d0, runtime 7dbf5a10da058f4c.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "bcc7c0a91077d3d03133a88e39d61aa37b01925de8ecd6948635099f1e8a7802"
