"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 3d9039c872837bd5, runtime 94537d35edce4315.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "3d9039c872837bd5cd54627381c667932317168a21fd8a3914a15df5f6ea8362"
