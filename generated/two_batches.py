"""Two fits after steps on batches of their own  [THEORY section 14].

gamma [q, m]: overlaps of the directions of the spike with those of the target; L_rest [m, m] with
L L^T = 1 - gamma^T gamma; zeta_hat [K, q], psi_hat [K, m]. Nodes z [Z] of the indices with weights law_z, and for each
of them nodes of kappa [Z, k] with weights given [k]; there mu1 [K, Z, k], output and Delta [Z, k]: mean and variance of
the output of a single fit, and rest [X, K, Z, k]: E[sigma | x] beside mean and linear part, times the root of the
weight of x, what the rows of a neuron in the two layers have in common. common [K, Z, k, k]: the sums over x;
avg_gg_12 [Z, k, k]: E g_1 g_2.

Generated; do not edit. Signature 3b5aa71e726564a4, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.rows_of_pairs import RowsOfPairs

SIGNATURE = "3b5aa71e726564a47dc41052254fdd03c7667e75b4f5ba3f338161e7ec4c7761"


def directions(*, L_rest, gamma, **_):
    """Products v_1.v_2, v_1.o_2, o_1.o_2."""
    x0 = np.einsum('ha,ja->hj', gamma, gamma)
    vv = x0
    x1 = np.einsum('ar,ja->jr', L_rest, gamma)
    vo = x1
    x2 = np.einsum('ar,as->rs', L_rest, L_rest)
    oo = x2
    return vv, vo, oo


def covariance(*, Q1_12, Q2_12, common, mu1, **_):
    """Of the outputs, [Z, k, k]."""
    x0 = np.einsum('d,dikl->ikl', Q2_12, common)
    x1 = np.einsum('de,dik,eil->eikl', Q1_12, mu1, mu1)
    x2 = np.einsum('eikl->ikl', x1)
    Delta_12 = x0 + x2
    return Delta_12


def rest_in_common(*, rest, **_):
    """Of the features of a block, [K, Z, k, k]."""
    x0 = np.einsum('udik,udil->dikl', rest, rest)
    common = x0
    return common


def gain_of_square_loss(*, V, **_):
    """h of a sample [Z, k]."""
    gain = 1.0/(1.0 + V)
    return gain


def series_of_square_loss(*, gain, residual, **_):
    """E g and E g' of a sample [Z, k]."""
    g_0 = gain*residual
    g_1 = (-1.0)*gain
    return g_0, g_1


def half_mean_square(*, Delta, Delta_12, given, law_z, output, **_):
    """E (f_1 - f_2)^2/2."""
    x0 = np.einsum('abc,c->ab', (output[:, None, :] - output[:, :, None])**2, given)
    x1 = np.einsum('ab,b->a', x0, given)
    x2 = np.einsum('a,a->', x1, law_z)
    x3 = np.einsum('b,ab->a', given, Delta)
    x4 = np.einsum('a,a->', x3, law_z)
    x5 = np.einsum('a->', given)
    x6 = np.einsum('c,acb->ab', given, Delta_12)
    x7 = np.einsum('ab,b->a', x6, given)
    x8 = np.einsum('a,a->', x7, law_z)
    half = 0.5*x2 + x4*x5 - x8
    return half


def mean_of_both(*, Delta, Delta_12, output, **_):
    """Mean and variance of (f_1 + f_2)/2, [Z, k, k]."""
    mean = (0.5*output)[:, :, None] + (0.5*output)[:, None, :]
    variance = 0.5*Delta_12 + (0.25*Delta)[:, :, None] + (0.25*Delta)[:, None, :]
    return mean, variance


SAMPLES = """
Q1_hat_12[b, c] = (alpha*sum(sum(sum(avg_gg_12[a, e, d]*given[e]*mu1[b, a, e], e)*given[d]*mu1[c, a, d], d)*law_z[a],
    a)/beta)
Q2_hat_12[b] = alpha*sum(sum(sum(avg_gg_12[a, d, c]*common[b, a, d, c]*given[d], d)*given[c], c)*law_z[a], a)/beta
"""
PAIRS = """
missed_T_12[p, b] := (inverse_dimension*m[b]**2/T[b]**2 + (sum(sum(sum(P[b, a]*psi_hat[a, r],
    a)*sum(P[b, a]*psi_hat[a, s], a)*oo[r, s], r), s) + 2*sum(sum(sum(P[b, a]*psi_hat[a, r], a)*vo[j, r]*zeta_hat[b,
    j], j), r) + sum(sum(vv[j, h]*zeta_hat[b, h]*zeta_hat[b, j], j), h))*overlap[p, b] - T_12[p, b]*fraction[b]/T[b]**2
    + sum(sum(P[b, c]*Q1_hat_12[p, a, c], c)*P[b, a], a)*overlap[p, b]/beta
    + sum(S[a, b]**2*T_12[p, a]*overlap[p, a], a)*overlap[p, b]/beta + Q2_hat_12[p, b]/beta)
missed_Q1_12[p, b, c] := (Q1_12[p, b, c] - sum(sum(M[b, d]*Q1_hat_12[p, a, d], d)*M[a, c], a)/beta
    - sum(P[a, b]*P[a, c]*T_12[p, a]*overlap[p, a], a)/beta)
"""
ROWS = """
0 = (inverse_dimension*m[b]**2/T[b]**2 + (sum(sum(sum(P[b, a]*psi_hat[a, r], a)*sum(P[b, a]*psi_hat[a, s], a)*oo[r, s],
    r), s) + 2*sum(sum(sum(P[b, a]*psi_hat[a, r], a)*vo[j, r]*zeta_hat[b, j], j), r)
    + sum(sum(vv[j, h]*zeta_hat[b, h]*zeta_hat[b, j], j), h))*overlap[b] - T_12[b]*fraction[b]/T[b]**2
    + sum(sum(P[b, c]*Q1_hat_12[a, c], c)*P[b, a], a)*overlap[b]/beta
    + sum(S[a, b]**2*T_12[a]*overlap[a], a)*overlap[b]/beta + Q2_hat_12[b]/beta)
Q1_12[b, c] = sum(sum(M[b, d]*Q1_hat_12[a, d], d)*M[a, c], a)/beta + sum(P[a, b]*P[a, c]*T_12[a]*overlap[a], a)/beta
"""
rows = RowsOfPairs(PAIRS)
certificate = Certificate(ROWS, ("weight",), features=())
