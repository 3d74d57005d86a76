"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature c313c25bf4ba3949, runtime e19e8dd54aa930c2.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "c313c25bf4ba3949aef9efa45dd4905e348313b12b76b54037dbd1373ace4c61"
