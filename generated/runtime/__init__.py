"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 2e0d8cfa7e4f8707, runtime b1ed4abb97ca2055.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "2e0d8cfa7e4f8707a4199762d2327e7d17738978613718090491cf8862e740a3"
