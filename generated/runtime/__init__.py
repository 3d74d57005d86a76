"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 21add5fe3ff84c26, runtime 7e066d04f8852e4b.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "21add5fe3ff84c269f14f1094f1998d4254baefc973e1a00dce54e8b3d356994"
