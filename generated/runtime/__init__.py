"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature a1846bb4a0fe9ec9, runtime 6d8a0dc3ec9c079f.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "a1846bb4a0fe9ec9ca228c4d25bb1e3225c0e4314fc4bbde33d849d777a8d731"
