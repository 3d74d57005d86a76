"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 814bb51d54dba424, runtime c698fdccf7c1562d.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "814bb51d54dba42437aedf86c9c7f3c19e223f53efeeb8b263a791639380be71"
