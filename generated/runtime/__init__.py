"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature d48789a527979ab5, runtime 95abcdf832a28bb1.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "d48789a527979ab5cbb3c908d77e1362272c62f739ecf940a5f0b1b7a846422c"
