"""Averages over the outputs of two fits whose steps took batches of their own.

Given the indices z of the target, kappa_1 and kappa_2 are independent and of one law: nodes [Z] with weights law, and
of kappa [Z, k] with weights given [k] for each of them. The covariance of both outputs is

    Delta_12 = sum over b <= c of Q1_12[b, c] (mu1_b(1) mu1_c(2) + mu1_c(1) mu1_b(2) but for b = c)
             + sum over b of Q2_12[b] common_b(1, 2),

and P_a is what it moves by with an overlap a: first Q2_12[b], then Q1_12[b, c].

Written by hand, in codegen/runtime/two_batches.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import kept
from generated.runtime.contractions import ALONG, INNER, MAKING

OPEN = {**ALONG, **MAKING, "no_cpython_wrapper": False}
LEAST, SMALLEST = 1e-290, 1e-300  # of a variance, of that of a mean of two


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
def moments_at(closed, kinds, x, scales, first, second):
    """The same of S pairs at overlaps x [S, n], T_12 and Q1_12: E g_1 g_2 P_a [S, n] and its slope [S, n, n].

    closed: see ``moments_of_products``; kinds: whether first layers begin with the same rows, and labels are the same
    ones, [S] each; scales: beta, the variance of the labels' noise.
    """
    mean, drawn, plain, slope = closed
    (layer, same), (beta, noise) = kinds, scales
    S, n = x.shape
    K = int(np.sqrt(2.0 * n + 2.25) - 1.0)  # n = K (K + 3)/2
    for s in range(S):
        for a in range(n):
            known = layer[s] if a < K else 1.0
            first[s, a] = known * (mean[a] + same[s] * (drawn[a] + noise * plain[a]))
            for b in range(n):
                second[s, a, b] = known * slope[a, b] * (layer[s] if b < K else 1.0)
                first[s, a] += second[s, a, b] * (x[s, b] / beta if b < K else x[s, b])


@kept(**ALONG)
def _fill_products(mu1, common, i, pairs, products):
    """What the covariance moves by with every overlap, products [n, N (N + 1)/2], of one each pair of both kappa."""
    K, N = mu1.shape[0], mu1.shape[2]
    for k in range(N):
        start = k * (k + 1) // 2
        for b in range(common.shape[0]):
            for m in range(k + 1):
                products[b, start + m] = common[b, i, k, m]
        for p in range(pairs.shape[0]):
            b, c = pairs[p, 0], pairs[p, 1]
            first, second = mu1[b, i, k], mu1[c, i, k] if b != c else 0.0
            for m in range(k + 1):
                products[K + p, start + m] = first * mu1[c, i, m] + second * mu1[b, i, m]


@kept(**OPEN)
def moments_of_series(nodes, features, outputs, overlaps, noise, found):
    """Moments where E g_1 g_2 is a series in the covariance of the outputs, by sums over both kappa.

    nodes: law, given; features: mu1 [K, Z, k], common [K or 0, Z, k, k]; outputs: series [Y, orders, Z, k] of every
    label, how many of its terms count, the chances [Y, Z] of labels, the spreads [Z, k] of an output with the noise of
    its label; overlaps: Q2_12, then Q1_12 of pairs; noise: of the label that both have in common. found: first[a] =
    E g_1 g_2 P_a, second[a, b] = E g_1' g_2' P_a P_b.
    """
    (law, given), (mu1, common), (series, orders, chance, spread) = nodes, features, outputs
    first, second = found
    K, Z, N = mu1.shape
    pairs = _of_pairs(K)
    n, count = K + pairs.shape[0], N * (N + 1) // 2  # of both kappa one of each pair: both fits have one law
    products, scale, own = np.zeros((n, count)), np.empty(count), np.empty(count)
    x, value, move, moved = np.empty((4, count))
    first[:], second[:, :] = 0.0, 0.0
    for i in range(Z):
        _fill_products(mu1, common, i, pairs, products)
        for q in range(count):
            x[q], value[q], move[q] = noise, 0.0, 0.0
        for a in range(n):
            for q in range(count):
                x[q] += overlaps[a] * products[a, q]
        for k in range(N):
            for m in range(k + 1):
                scale[k * (k + 1) // 2 + m] = 1.0 / (spread[i, k] * spread[i, m])
        for q in range(count):
            x[q] = min(1.0, max(-1.0, x[q] * scale[q]))
        for y in range(series.shape[0]):
            for q in range(count):
                own[q] = moved[q] = 0.0
            for order in range(orders - 1, -1, -1):  # Horner's rule
                for k in range(N):
                    start, term = k * (k + 1) // 2, series[y, order, i, k]
                    for m in range(k + 1):
                        q = start + m
                        moved[q] = moved[q] * x[q] + own[q]
                        own[q] = own[q] * x[q] + term * series[y, order, i, m]
            for q in range(count):
                value[q] += chance[y, i] * own[q]
                move[q] += chance[y, i] * moved[q]
        for k in range(N):
            for m in range(k + 1):
                q, weight = k * (k + 1) // 2 + m, law[i] * given[k] * given[m] * (1.0 if m == k else 2.0)
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
def wrong_signs(nodes, features, outputs, label, overlaps):
    """The probability that the mean of both outputs and the label [Z] differ in sign; outputs: their means and
    variances [Z, k]; of nodes, features and overlaps see ``moments_of_series``.
    """
    (law, given), (mu1, common), (mean, variance) = nodes, features, outputs
    K, Z, N = mu1.shape
    pairs = _of_pairs(K)
    products, total = np.zeros((K + pairs.shape[0], N * (N + 1) // 2)), 0.0
    for i in range(Z):
        _fill_products(mu1, common, i, pairs, products)
        sign = np.sign(label[i])
        for k in range(N):
            for m in range(k + 1):
                q, shared = k * (k + 1) // 2 + m, 0.0
                for a in range(overlaps.shape[0]):
                    shared += overlaps[a] * products[a, q]
                rest = max(0.5 * shared + 0.25 * (variance[i, k] + variance[i, m]), SMALLEST)
                away = sign * 0.5 * (mean[i, k] + mean[i, m]) / math.sqrt(2.0 * rest)
                weight = law[i] * given[k] * given[m] * (1.0 if m == k else 2.0)
                total += weight * 0.5 * math.erfc(away)
    return total


@kept(**OPEN)
def outputs_at(rows, t, law, given, output, variance):
    """Mean and variance [Z, k] of outputs, of their mean and their slopes at t = 0, and their variance beside: rows.
    Returns E (f_1 - f_2)^2/2 but for the covariance given z and both kappa, and E f^2.
    """
    mean, slopes, rest = rows
    half, square, count = 0.0, 0.0, output.shape[1]
    for i in range(output.shape[0]):
        middle, own = 0.0, 0.0
        for k in range(count):
            place = i * count + k
            value, spread = mean[place], max(rest[place], LEAST)
            for d in range(t.shape[0]):
                value += slopes[d, place] * t[d, i, k]
            output[i, k], variance[i, k] = value, spread
            middle += given[k] * value
            own += given[k] * (value * value + spread)
        half += law[i] * (own - middle * middle)
        square += law[i] * own
    return half, square

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
