"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 3f3265883a8df7fe, runtime 406c27a2a00dc4d9.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "3f3265883a8df7fe5d5e4849d18709813dceafedfdb4b3795d8d0ff8680d7d67"
