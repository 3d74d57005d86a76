"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 94fd79b9ee726d9a, runtime 254227f3056fa5d0.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "94fd79b9ee726d9aad72ad0a5af71a09da5528b13a0e70ee9b5b464667b571ad"
