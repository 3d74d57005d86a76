"""Averages over the outputs of two fits whose steps took batches of their own.

Given the indices z of the target, kappa_1 and kappa_2 are independent and of one law: nodes [Z] with weights law, and
of kappa [Z, k] with weights given [k] for each of them. The covariance of both outputs is

    Delta_12 = sum over b <= c of Q1_12[b, c] (mu1_b(1) mu1_c(2) + mu1_c(1) mu1_b(2) but for b = c)
             + sum over b of Q2_12[b] common_b(1, 2),

and P_a is what it moves by with an overlap a: first Q2_12[b], then Q1_12[b, c].

Written by hand, in codegen/runtime/two_batches.py.
Generated; do not edit. Signature fb1a8203bddcae77, runtime 72db279826dd7aa8.
Regenerate with: giantstep generate
"""

# fmt: off

import numpy as np

from generated.runtime.compiling import kept
from generated.runtime.contractions import ALONG, INNER, MAKING

OPEN = {**ALONG, **MAKING, "no_cpython_wrapper": False}


@kept(**ALONG)
def _times(matrix, vector, into):
    """A square matrix times a vector."""
    for k in range(vector.shape[0]):
        total = 0.0
        for i in range(vector.shape[0]):
            total += matrix[k, i] * vector[i]
        into[k] = total


@kept(**ALONG)
def _product(vector, other):
    total = 0.0
    for k in range(vector.shape[0]):
        total += vector[k] * other[k]
    return total


@kept(**{**INNER, **MAKING})
def _of_pairs(K):
    """(b, c) of the overlaps Q1_12 in order."""
    found = np.empty((K * (K + 1) // 2, 2), np.int64)
    place = 0
    for b in range(K):
        for c in range(b, K):
            found[place, 0], found[place, 1] = b, c
            place += 1
    return found


@kept(**OPEN)
def moments_of_products(law, given, mu1, common, gain, slope, noise, found):
    """Moments where E g_1 g_2 = g(1) g(2) + gain(1) gain(2) (noise + Delta_12), as for the square loss.

    gain, slope (g at the mean residual) [Z, k]; noise [2, Z], of two kinds. found: first[a] = E g g P_a, of both kinds
    of noise [a] = E gain gain noise P_a, second[a, b] = E gain gain P_a P_b.
    """
    first, apart, beside, second = found
    K, Z, N = mu1.shape
    pairs = _of_pairs(K)
    n = K + pairs.shape[0]
    first[:], apart[:], beside[:], second[:, :] = 0.0, 0.0, 0.0, 0.0
    u, h, y, of_g, of_h = np.empty(N), np.empty(N), np.empty(N), np.empty(K), np.empty(K)
    rows, both = np.empty((K, N)), np.empty((K, K))
    for i in range(Z):
        for k in range(N):
            u[k], h[k] = given[k] * slope[i, k], given[k] * gain[i, k]
        for b in range(K):
            for k in range(N):
                rows[b, k] = h[k] * mu1[b, i, k]
            of_g[b], of_h[b] = _product(u, mu1[b, i]), _product(h, mu1[b, i])
            for c in range(b + 1):
                both[b, c] = both[c, b] = _product(rows[b], mu1[c, i])
        for p in range(pairs.shape[0]):
            b, c = pairs[p, 0], pairs[p, 1]
            times = law[i] * (1.0 if b == c else 2.0)
            first[K + p] += times * of_g[b] * of_g[c]
            apart[K + p] += times * noise[0, i] * of_h[b] * of_h[c]
            beside[K + p] += times * noise[1, i] * of_h[b] * of_h[c]
            for q in range(p + 1):
                d, e = pairs[q, 0], pairs[q, 1]
                value = both[b, d] * both[c, e]
                if d != e:
                    value += both[b, e] * both[c, d]
                second[K + p, K + q] += times * value
        for b in range(common.shape[0]):
            _times(common[b, i], u, y)
            first[b] += law[i] * _product(u, y)
            _times(common[b, i], h, y)
            value = _product(h, y)
            apart[b] += law[i] * noise[0, i] * value
            beside[b] += law[i] * noise[1, i] * value
            for c in range(K):
                _times(common[b, i], rows[c], y)
                for p in range(pairs.shape[0]):
                    if pairs[p, 1] == c:
                        times = law[i] * (1.0 if pairs[p, 0] == c else 2.0)
                        second[K + p, b] += times * _product(rows[pairs[p, 0]], y)
            for c in range(b + 1):
                for k in range(N):
                    total = 0.0
                    for m in range(N):
                        total += common[b, i, k, m] * common[c, i, k, m] * h[m]
                    y[k] = total
                second[b, c] += law[i] * _product(h, y)
    for a in range(n):
        for b in range(a):
            second[b, a] = second[a, b]


@kept(**OPEN)
def moments_of_series(nodes, features, series, chance, spread, overlaps, noise, first, second):
    """Moments where E g_1 g_2 is a series in the covariance of the outputs, by sums over both kappa.

    nodes: law, given; features: mu1 [K, Z, k], common [K or 0, Z, k, k]; series [Y, orders, Z, k]: of every label,
    with its chance [Y, Z]; spread [Z, k]: of an output and the noise of its label; overlaps: Q2_12, then Q1_12 of
    pairs; noise: of the label that both have in common. first[a] = E g_1 g_2 P_a, second[a, b] = E g_1' g_2' P_a P_b.
    """
    (law, given), (mu1, common) = nodes, features
    K, Z, N = mu1.shape
    pairs, both = _of_pairs(K), _of_pairs(N)  # of both kappa one of each pair: both fits have one law
    n, orders, count = K + pairs.shape[0], series.shape[1], both.shape[0]
    products, own, scale = np.zeros((n, count)), np.empty(count), np.empty(count)
    x, value, move, term, moved = np.empty((5, count))
    first[:], second[:, :] = 0.0, 0.0
    for i in range(Z):
        for q in range(count):
            k, m = both[q, 0], both[q, 1]
            scale[q] = 1.0 / (spread[i, k] * spread[i, m])
            x[q] = noise
            for b in range(common.shape[0]):
                products[b, q] = common[b, i, k, m]
            for p in range(pairs.shape[0]):
                b, c = pairs[p, 0], pairs[p, 1]
                products[K + p, q] = mu1[b, i, k] * mu1[c, i, m]
                if b != c:
                    products[K + p, q] += mu1[c, i, k] * mu1[b, i, m]
        for a in range(n):
            for q in range(count):
                x[q] += overlaps[a] * products[a, q]
        for q in range(count):
            x[q] = min(1.0, max(-1.0, x[q] * scale[q]))
            value[q] = move[q] = 0.0
        for y in range(series.shape[0]):
            for q in range(count):
                own[q] = moved[q] = 0.0
            for order in range(orders - 1, -1, -1):  # Horner's rule
                for q in range(count):
                    term[q] = series[y, order, i, both[q, 0]] * series[y, order, i, both[q, 1]]
                for q in range(count):
                    moved[q] = moved[q] * x[q] + own[q]
                    own[q] = own[q] * x[q] + term[q]
            for q in range(count):
                value[q] += chance[y, i] * own[q]
                move[q] += chance[y, i] * moved[q]
        for q in range(count):
            k, m = both[q, 0], both[q, 1]
            weight = law[i] * given[k] * given[m] * (1.0 if m == k else 2.0)
            value[q] *= weight
            move[q] *= weight * scale[q]
        for a in range(n):
            first[a] += _product(value, products[a])
            for q in range(count):
                own[q] = move[q] * products[a, q]
            for b in range(a + 1):
                second[a, b] += _product(own, products[b])
    for a in range(n):
        for b in range(a):
            second[b, a] = second[a, b]


@kept(**OPEN)
def apart_of_outputs(law, given, output, variance):
    """(E (f_1 - f_2)^2/2 but for the covariance given z and both kappa, E f^2); mean and variance of outputs [Z, k]."""
    half, square = 0.0, 0.0
    for i in range(output.shape[0]):
        mean, own = 0.0, 0.0
        for k in range(output.shape[1]):
            mean += given[k] * output[i, k]
            own += given[k] * (output[i, k] * output[i, k] + variance[i, k])
        half += law[i] * (own - mean * mean)
        square += law[i] * own
    return half, square

SIGNATURE = "fb1a8203bddcae77af6e18d20ecee65002c847594552f641ed097098f4d81436"
