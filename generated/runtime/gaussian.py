"""Constants of the averages over a standard normal g.

Written by hand, in codegen/runtime/gaussian.py.
Generated; do not edit. Signature 30ad9ca9ec0fde1e, runtime 9b8358ac8f6d6481.
Regenerate with: giantstep generate
"""

# fmt: off

EPS = 2.0**-52
NORM = 0.3989422804014327  # 1/sqrt(2 pi)
REACH = 12.0  # exp(-REACH**2/2) = 5e-32: squares of relative size 1e-18 keep 12 digits
FARTHEST = 38.0  # the Gaussian weight underflows beyond
TINY = 1e-300

SIGNATURE = "30ad9ca9ec0fde1e866bbeb8e914de06be0f9112cd5e3ca1e9589b5b9794a143"
