"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 06c5ec7f8b3df8e2, runtime c5a3468486a0a318.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "06c5ec7f8b3df8e26622be8b9d62200c207768ec2def837ceeb679104423bdcb"
