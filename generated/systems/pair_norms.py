"""Two fits that have something in common, rows of unequal norms  [THEORY section 14].

N nodes of kappa, K blocks. T_12, Q2_12 [K], Q1_12 [K, K]: between the two readouts; overlap [K]: of the rows of a block
in the two first layers, of unit norm; mu2sq_12 [K, N]: what the rest of the features has in common there; apart [N]:
variance of the labels' noise that is not shared; all other names are those of a single fit at its solution.

Generated; do not edit. Signature 41a4a758e3a5245b, runtime 0f0c242adbbfbf5b.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.array_certificate import ArrayCertificate

SIGNATURE = "41a4a758e3a5245b00a0057d1ea4247a95c58e482af86b15ace7bc34720dd572"


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


def conjugates(*, alpha, avg_gg_12, beta, mu1, mu2sq_12, weight, **_):
    """Q1_hat_12 [K, K] and Q2_hat_12 [K]."""
    x0 = np.einsum('n,n,bn,cn->bc', weight, avg_gg_12, mu1, mu1)
    Q1_hat_12 = alpha/beta*x0
    x1 = np.einsum('n,n,bn->b', weight, avg_gg_12, mu2sq_12)
    Q2_hat_12 = alpha/beta*x1
    return Q1_hat_12, Q2_hat_12


def overlaps(*, M, P, Q1_hat_12, Q2_hat_12, S, T, T_12, beta, chi, fraction, inverse_dimension, m, norm_hat,
    overlap, psi_hat, zeta_hat, **_):
    """What vanishes for T_12 [K]; Q1_12 [K, K] and Q2_12 [K]."""
    x0 = np.einsum('a,ba->b', psi_hat, P)
    x1 = np.einsum('bc,ac->ab', P, Q1_hat_12)
    x2 = np.einsum('ab,ba->b', x1, P)
    x3 = np.einsum('ab,a,a->b', S**2, T_12, overlap)
    fixes_T_12 = (
        1.0/beta*Q2_hat_12 + (x0**2)*overlap + (zeta_hat**2)*overlap + inverse_dimension*(m**2)/T**2 +
        1.0/beta*x2*overlap + 1.0/beta*x3*overlap + (norm_hat**2)*chi*overlap - T_12*fraction/T**2
    )
    x4 = np.einsum('bd,ad->ab', M, Q1_hat_12)
    x5 = np.einsum('ab,ac->bc', x4, M)
    x6 = np.einsum('a,a,ab,ac->bc', T_12, overlap, P, P)
    x7 = np.einsum('a,ab->b', psi_hat, M)
    x8 = np.einsum('a,ac->c', psi_hat, M)
    Q1_12 = 1.0/beta*x5 + 1.0/beta*x6 + np.einsum('b,c->bc', x7, x8)
    Q2_12 = 1.0/beta*T_12
    return fixes_T_12, Q1_12, Q2_12


def half_mean_square(*, Delta, Delta_12, weight, **_):
    """E (f_1 - f_2)^2/2."""
    x0 = np.dot(weight, (Delta - Delta_12))
    half = x0
    return half


EQUATIONS = """
Delta_12 = -slope**2 + sum(mu2sq_12[b]*Q2_12[b], b) + sum(sum(mu1[b]*mu1[c]*Q1_12[b, c], b), c)  # Delta_12
Q1_hat_12[b, c] = alpha*E(avg_gg_12*mu1[b]*mu1[c])/beta  # d/dQ1_12
Q2_hat_12[b] = alpha*E(avg_gg_12*mu2sq_12[b])/beta  # d/dQ2_12
# d/dT_12
0 = (inverse_dimension*m[b]**2/T[b]**2 + sum(P[b, a]*psi_hat[a], a)**2*overlap[b] + chi[b]*norm_hat[b]**2*overlap[b]
    + overlap[b]*zeta_hat[b]**2 - T_12[b]*fraction[b]/T[b]**2
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
COLUMNS = ('kappa', 'weight', 'nu0', 'nu1', 'nu2sq')
check = ArrayCertificate(EQUATIONS, COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu2sq_12')).check
check_square = ArrayCertificate(SQUARE + EQUATIONS, COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu2sq_12')).check
