"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature e5ba9002bcaa470d, runtime c529c8b750dc5336.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "e5ba9002bcaa470d202b3da98ac6480bc983756e73cad48171bbdfa4b40873d8"
