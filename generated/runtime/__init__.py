"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature c93a4a02258ac34d, runtime 606a193fd8555ced.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "c93a4a02258ac34d26b6bec8b37377b03c85752f9f4e9f0388fbe26d72ab8d49"
