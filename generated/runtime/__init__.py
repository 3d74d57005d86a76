"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 85618806a4e50187, runtime c0ad3ad506e4c99a.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "85618806a4e50187f6f6918487023364633d4c785ca20f359ed939156018813c"
