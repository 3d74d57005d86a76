"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature cbf9b79d09e48dcd, runtime 44196ba47bfba6dc.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "cbf9b79d09e48dcdfb7f33634d4f4eb932def095dd5b232e1d78a7b5a8bf2a2d"
