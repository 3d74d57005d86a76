"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 5beee78639a4240a, runtime 71e9483b6ce3b8e5.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "5beee78639a4240aad6faab038250ada2e7970236ca506eb31c37989bf618c64"
