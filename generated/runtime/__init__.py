"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature dea6d82dfad21a04, runtime 29be198ee699e8c5.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "dea6d82dfad21a04e27a3412c5d5fd3dc6c8ff79d15ae8e754f7844f976a1724"
