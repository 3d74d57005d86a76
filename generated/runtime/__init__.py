"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 6c946039717c102b, runtime 6f13d541299b4946.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "6c946039717c102ba156dc7992d332236e80d8372fd249a27ed3182cd7a25122"
