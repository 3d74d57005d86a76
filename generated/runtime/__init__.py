"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 9e57acfd51197e10, runtime 18b3fb988a2a38e7.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "9e57acfd51197e108b7783e860bec16a11a45362ac0bad8e6731adb6f4b8c1c5"
