"""Constants of the averages over a standard normal g.

Written by hand, in codegen/runtime/gaussian.py.
Generated; do not edit. Signature 85618806a4e50187, runtime c0ad3ad506e4c99a.
Regenerate with: giantstep generate
"""

# fmt: off

EPS = 2.0**-52
NORM = 0.3989422804014327  # 1/sqrt(2 pi)
REACH = 12.0  # exp(-REACH**2/2) = 5e-32: squares of relative size 1e-18 keep 12 digits
FARTHEST = 38.0  # the Gaussian weight underflows beyond
TINY = 1e-300

SIGNATURE = "85618806a4e50187f6f6918487023364633d4c785ca20f359ed939156018813c"
