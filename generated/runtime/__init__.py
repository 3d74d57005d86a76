"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 0ced91b2a28c5b05, runtime df402cb779cb04c7.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "0ced91b2a28c5b055f751b8906a01e149b19a66496ba0515c0f82a31287f5e1b"
