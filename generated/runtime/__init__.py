"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 452523246e6ee8a9, runtime dcc69974194966a7.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "452523246e6ee8a954eb1c7fbad86c814e605783546873aa273db41971d450ec"
