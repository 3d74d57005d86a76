"""Two fits that have something in common  [THEORY section 14].

N nodes of kappa, K blocks. T_12, Q2_12 [K], Q1_12 [K, K]: between the two readouts; overlap [K]: of the rows of a block
in the two first layers, of unit norm; mu2sq_12 [K, N]: what the rest of the features has in common there; apart [N]:
variance of the labels' noise that is not shared; all other names are those of a single fit at its solution.

Generated; do not edit. Signature 1515dfb8c132f7c8, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.rows_of_pairs import RowsOfPairs

SIGNATURE = "1515dfb8c132f7c893d633eef044a771bcc9ba2ffc4e256fea9f01a83896fd9c"


def covariance(*, Q1_12, Q2_12, mu1, mu2sq_12, slope, **_):
    """Delta_12 [N] of the outputs, by the overlaps."""
    x0 = np.einsum('b,bn->n', Q2_12, mu2sq_12)
    x1 = np.einsum('bc,bn,cn->cn', Q1_12, mu1, mu1)
    x2 = np.einsum('cn->n', x1)
    Delta_12 = x0 + x2 - slope**2
    return Delta_12


def of_square_loss(*, Delta, Delta_12, apart, avg_h, risk, **_):
    """E[g_1 g_2 | kappa] [N] of the square loss."""
    avg_gg_12 = (avg_h**2)*(Delta_12 + risk - Delta - apart)
    return avg_gg_12


def half_mean_square(*, Delta, Delta_12, weight, **_):
    """E (f_1 - f_2)^2/2."""
    x0 = np.dot(weight, (Delta - Delta_12))
    half = x0
    return half


PAIRS = """
missed_T_12[p, b] := (inverse_dimension*m[b]**2/T[b]**2 + sum(P[b, a]*psi_hat[a], a)**2*overlap[p, b]
    + overlap[p, b]*zeta_hat_1[b]**2 + overlap[p, b]*zeta_hat_2[b]**2 - T_12[p, b]*fraction[b]/T[b]**2
    + sum(sum(P[b, c]*Q1_hat_12[p, a, c], c)*P[b, a], a)*overlap[p, b]/beta
    + sum(S[a, b]**2*T_12[p, a]*overlap[p, a], a)*overlap[p, b]/beta + Q2_hat_12[p, b]/beta)
missed_Q1_12[p, b, c] := (-sum(M[a, b]*psi_hat[a], a)*sum(M[a, c]*psi_hat[a], a) + Q1_12[p, b, c]
    - sum(sum(M[b, d]*Q1_hat_12[p, a, d], d)*M[a, c], a)/beta - sum(P[a, b]*P[a, c]*T_12[p, a]*overlap[p, a], a)/beta)
"""
rows = RowsOfPairs(PAIRS)
EQUATIONS = """
Delta_12 = -slope**2 + sum(mu2sq_12[b]*Q2_12[b], b) + sum(sum(mu1[b]*mu1[c]*Q1_12[b, c], b), c)  # Delta_12
Q1_hat_12[b, c] = alpha*E(avg_gg_12*mu1[b]*mu1[c])/beta  # d/dQ1_12
Q2_hat_12[b] = alpha*E(avg_gg_12*mu2sq_12[b])/beta  # d/dQ2_12
# d/dT_12
0 = (inverse_dimension*m[b]**2/T[b]**2 + sum(P[b, a]*psi_hat[a], a)**2*overlap[b] + overlap[b]*zeta_hat_1[b]**2
    + overlap[b]*zeta_hat_2[b]**2 - T_12[b]*fraction[b]/T[b]**2
    + sum(sum(P[b, c]*Q1_hat_12[a, c], c)*P[b, a], a)*overlap[b]/beta
    + sum(S[a, b]**2*T_12[a]*overlap[a], a)*overlap[b]/beta + Q2_hat_12[b]/beta)
# d/dQ1_hat_12
Q1_12[b, c] = (sum(M[a, b]*psi_hat[a], a)*sum(M[a, c]*psi_hat[a], a)
    + sum(sum(M[b, d]*Q1_hat_12[a, d], d)*M[a, c], a)/beta + sum(P[a, b]*P[a, c]*T_12[a]*overlap[a], a)/beta)
Q2_12[b] = T_12[b]/beta  # d/dQ2_hat_12
"""
SQUARE = """
avg_gg_12 = (-Delta + Delta_12 - apart + risk)*avg_h**2  # avg_gg_12
"""
COLUMNS = ('kappa_1', 'weight', 'nu0', 'nu1', 'nu2sq', 'kappa_2')
certificate = Certificate(EQUATIONS, COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu2sq_12'))
certificate_of_square = Certificate(SQUARE + EQUATIONS, COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu2sq_12'))
