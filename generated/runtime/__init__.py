"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature d82ea4df9c9a5553, runtime e86657cb5f2b3d23.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "d82ea4df9c9a555324b5a1fe95c34a09293fe75087f1b53dff2192e8513e2132"
