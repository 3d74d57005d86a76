"""The probability that a label at nodes and the output differ in sign.

Written by hand, in codegen/runtime/signs.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from generated.runtime.compiling import entry
from generated.runtime.vector import tail


@entry
def wrong_signs(labels, mean, slope, spread, room, out):
    """out[n] = P(y f < 0) at nodes of kappa, of labels (weight [N, J], label [N, J], t [N, J, D]).

    Given t the output is N(mean[n] + slope[:, n] t, spread[n]^2); a half where the label is zero, and no number where
    the output is none. room [J].
    """
    weight, label, t = labels
    for n in range(mean.shape[0]):
        count, inverse, total = weight.shape[1], 1.0 / spread[n], 0.0
        for j in range(count):
            room[j] = mean[n]
        for d in range(t.shape[2]):
            along = slope[d, n]
            for j in range(count):
                room[j] += along * t[n, j, d]
        for j in range(count):
            x = label[n, j] * room[j] * inverse
            beyond, _ = tail(abs(x))
            room[j] = (x if x != x else beyond if x > 0.0 else 1.0 - beyond) * weight[n, j]
        for j in range(count):
            total += room[j]
        out[n] = total

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
