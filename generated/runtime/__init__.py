"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature eb9319756c4814e8, runtime 77d70af0ab42de58.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "eb9319756c4814e814001572eb1984110f4ead66553486d4232fbfd3eaf42b82"
