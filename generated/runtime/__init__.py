"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature f3a791f3b9b16628, runtime 24a6c54addad6400.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "f3a791f3b9b16628233212329c73bd3881f1bc4c6b22a2667416da2901f0043a"
