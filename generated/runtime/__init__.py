"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature dbeaa56d82b2c681, runtime 2e3574b2aba22bd8.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "dbeaa56d82b2c68192232f47bc83c317d319140eea6f86f11c0b9b1b67fb041f"
