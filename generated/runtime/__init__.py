"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 383a323f938aaaf7, runtime ae01d010f688993e.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "383a323f938aaaf7b3c8f048988dcd8b2ec39686dd09978a1359399dde62d37c"
