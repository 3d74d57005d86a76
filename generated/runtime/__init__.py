"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature e5cf9c23b8088e0a, runtime 5e608ee39e6bf5c3.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "e5cf9c23b8088e0a2e7a0ac26947ab9cb0e56a627e51b289966fc793ee88b343"
