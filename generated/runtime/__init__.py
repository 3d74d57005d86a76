"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature ad31a9c469e0b083, runtime f2f8f1eadb622fc6.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "ad31a9c469e0b083faba34bf1d0135934a3f08306894238961007176593c00ef"
