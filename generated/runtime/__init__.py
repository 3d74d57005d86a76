"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature f2a10896b1fb4ba9, runtime b955c039a104fb62.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "f2a10896b1fb4ba9e6746705b1fa3c97d7220a24bbaea5a498c02670bafd0e2a"
