"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 58ec61163967ed73, runtime 8bec164cb9dda3dd.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "58ec61163967ed7304587b29432a52b887e149bb091835ad0a004bdbb6a4d40e"
