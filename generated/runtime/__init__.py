"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature c29786fb08cff0ed, runtime 3ae53ac6fddafd80.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "c29786fb08cff0ed03fdb9a26cbfcc6ab941e7774e465f0c2e1f7372676fa6d7"
