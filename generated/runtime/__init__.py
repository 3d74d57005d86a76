"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature f9612b4cb54aaa23, runtime 1845213c50cfee39.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "f9612b4cb54aaa2336c31f7a25249bb601b7a6486c48fc58e95deeb9e2412cd9"
