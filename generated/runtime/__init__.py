"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 945cf3290a92405b, runtime eb249ceed5436c56.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "945cf3290a92405b63d2578c484b35855ba8c3d430c6df38a6d52b232879b838"
