"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 077583db60bd7758, runtime 60ab684069df4472.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "077583db60bd77586626a090d025025d3de5afedea5e9a8241fadfa5427a2d86"
