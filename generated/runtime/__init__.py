"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature cd75410ab1e1dc2d, runtime 4521029f13eca364.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "cd75410ab1e1dc2d3a8d665bf0de57970acc3b19d337f22263ddf75fea453aa1"
