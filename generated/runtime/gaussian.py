"""Constants of the averages over a standard normal g.

Written by hand, in codegen/runtime/gaussian.py.
Generated; do not edit. Signature cd75410ab1e1dc2d, runtime 4521029f13eca364.
Regenerate with: giantstep generate
"""

# fmt: off

EPS = 2.0**-52
NORM = 0.3989422804014327  # 1/sqrt(2 pi)
REACH = 12.0  # exp(-REACH**2/2) = 5e-32: squares of relative size 1e-18 keep 12 digits
FARTHEST = 38.0  # the Gaussian weight underflows beyond
TINY = 1e-300

SIGNATURE = "cd75410ab1e1dc2d3a8d665bf0de57970acc3b19d337f22263ddf75fea453aa1"
