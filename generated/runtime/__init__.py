"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 95517b30ac28ee0a, runtime 16dbd12b15a7acbf.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "95517b30ac28ee0aab8fe2f0472564a6bbe0c99541674655cd26d2213b92f9fb"
