"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 95d0069cf1a66b1f, runtime 72ef0d92b41e325b.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "95d0069cf1a66b1f71fdb7686e73d98ebd944eb05537d1e89d129f3d641a3d6a"
