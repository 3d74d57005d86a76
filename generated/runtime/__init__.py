"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 596631d5f0481ef9, runtime 4cd7f89b53adbfd1.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "596631d5f0481ef9dac911a572362cf84dc262533cf9dd0cf867b7663e33b25a"
