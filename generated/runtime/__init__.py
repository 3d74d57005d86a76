"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature a49dc30938d9a9fe, runtime 2936585039a2372a.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "a49dc30938d9a9fe0ed2cd0b84c7d58a52ee9ac32db409b2b986bc3e6ba619a5"
