"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 0869b236d371758d, runtime db6f56816a3cf49b.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "0869b236d371758d68edc6b7f2d3ba05106999b48e98153dc23b01daeabf7ad8"
