"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 6f2627f8521f788c, runtime c3ab06808a618531.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "6f2627f8521f788c7b6560ae090f44c97dba1b6889e0fa27bc1e0550a1460990"
