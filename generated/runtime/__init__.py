"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature ee8a1694a3eb54ee, runtime c781de8fec2ee005.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "ee8a1694a3eb54ee48be0df437b532deb15d1bba439665995ef96a1cca659d04"
