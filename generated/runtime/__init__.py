"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature ebe08533aae6d918, runtime 9281859afe33bf30.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "ebe08533aae6d918eee1bab4d223aedc9e891df5d41f815df53efafc84240eb5"
