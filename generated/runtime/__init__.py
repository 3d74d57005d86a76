"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature cdca80f3db1bb6de, runtime 04ea5cafab83c341.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "cdca80f3db1bb6de6bf5579388a5e5e265452dd163a66640062d2060664a280c"
