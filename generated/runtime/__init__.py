"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 74d6f7d17cc5ae46, runtime cd963013fea3f9d8.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "74d6f7d17cc5ae4654f2aee5e4064257c1c4882bccc8dd332a1e15ee118facb4"
