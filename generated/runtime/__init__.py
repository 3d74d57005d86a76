"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 993810f8a330d7b6, runtime 767a66e6918cd1e3.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "993810f8a330d7b680ea73c79993ba0a01027c85dcf63067649723a249312086"
