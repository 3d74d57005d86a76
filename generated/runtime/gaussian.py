"""Constants of the averages over a standard normal g.

Written by hand, in codegen/runtime/gaussian.py.
Generated; do not edit. Signature 9378c8310ee32688, runtime c3c89fd6f491a80d.
Regenerate with: giantstep generate
"""

# fmt: off

EPS = 2.0**-52
NORM = 0.3989422804014327  # 1/sqrt(2 pi)
REACH = 12.0  # exp(-REACH**2/2) = 5e-32: squares of relative size 1e-18 keep 12 digits
FARTHEST = 38.0  # the Gaussian weight underflows beyond
TINY = 1e-300

SIGNATURE = "9378c8310ee3268843410bad256f29b7df0fec22adde59cefbe4f21ca52bc167"
