"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 873ef9b2a9268a22, runtime fdb99a172c7230b6.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "873ef9b2a9268a22fb49e65776a25e32671bdc6c9e711539d2ffb5e6da8ff73f"
