"""Constants of the averages over a standard normal g.

Written by hand, in codegen/runtime/gaussian.py.
Generated; do not edit. Signature 45d63db53d5c2cd0, runtime cf0259ee717db900.
Regenerate with: giantstep generate
"""

# fmt: off

EPS = 2.0**-52
NORM = 0.3989422804014327  # 1/sqrt(2 pi)
REACH = 12.0  # exp(-REACH**2/2) = 5e-32: squares of relative size 1e-18 keep 12 digits
FARTHEST = 38.0  # the Gaussian weight underflows beyond
TINY = 1e-300

SIGNATURE = "45d63db53d5c2cd0b9511a9cf97f66703c805aa55142794d668a04fc1c447b5b"
