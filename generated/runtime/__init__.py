"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature c126b6a00b5213e1, runtime bc1ca467bb2a743e.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "c126b6a00b5213e1d1946f28cd230acf402831b27dec505374540b88e1533a44"
