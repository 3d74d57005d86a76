"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 45d63db53d5c2cd0, runtime cf0259ee717db900.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "45d63db53d5c2cd0b9511a9cf97f66703c805aa55142794d668a04fc1c447b5b"
