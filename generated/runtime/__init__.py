"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 7090400356e253c4, runtime 87f7ad3f488f8e05.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "7090400356e253c4afd30f2b8e4e9d53cd52be889ee56efd549faca486b340a4"
