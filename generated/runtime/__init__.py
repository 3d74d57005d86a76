"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 5d45fee5d526bd6a, runtime 3bb8f33d893d68e0.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "5d45fee5d526bd6aaed8d160c71597e156d422d7e0f7555c675cec3b1733ce8f"
