"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 3855d1c9f3f62990, runtime 1edb2b70c776f00b.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "3855d1c9f3f62990651c2edcf9141febe24b317cd4acdde030c752f31bf80189"
