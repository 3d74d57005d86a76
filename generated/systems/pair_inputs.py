"""Two fits that have something in common, structured inputs  [THEORY section 14].

N nodes of kappa, K blocks. T_12, Q2_12 [K], Q1_12 [K, K]: between the two readouts; overlap [K]: of the rows of a block
in the two first layers, of unit norm; mu2sq_12 [K, N]: what the rest of the features has in common there; apart [N]:
variance of the labels' noise that is not shared; all other names are those of a single fit at its solution.

Generated; do not edit. Signature ac54f955dfa1b43d, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.array_certificate import ArrayCertificate
from generated.runtime.rows_of_pairs import RowsOfPairs

SIGNATURE = "ac54f955dfa1b43d2375d4c79c3365ebd6d76f240e4ee8f195a009cdebae35f0"


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
missed_T_12[p, b] := (inverse_dimension*m[b]**2/T[b]**2 + sum(sum(Px[b, c, a]*psi_hat[c], c)**2*Sigma[b, a]*law_oo[a],
    a)*overlap[p, b] + sum(sum(Px[b, c, a]*zeta_hat[c], c)**2*Sigma[b, a]*law_vv[a], a)*overlap[p, b]
    + 2*sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[b, c, a]*zeta_hat[c], c)*Sigma[b, a]*law_vo[a], a)*overlap[p, b]
    + chi[b]*norm_hat[b]**2*overlap[p, b] - T_12[p, b]*fraction[b]/T[b]**2
    + (sum(sum(Sigma[a, c]*Sigma[b, c]*Sx[a, b, c]**2*law_tr[c], c)*T_12[p, a]*overlap[p, a], a)*overlap[p, b]
    + sum(sum(Sigma[c, a]*Sx[b, c, a]**2*T_12[p, c]*overlap[p, c], c)*Sigma[b, a]*law_tr[a], a)*overlap[p, b])/(2*beta)
    - sum(sum(sum(sum(Px[a, e, d]*V1_hat[b, e], e)*Px[b, c, d]*Sigma[a, d]*Sigma[b, d]*law_tr[d], d)*Q1_hat_12[p, a,
    c], c)*T[a], a)*overlap[p, b]/(2*beta) + sum(sum(Px[b, a, c]*Sigma[b, c]*law_tr[c], c)*Q1_hat_12[p, a, b],
    a)*overlap[p, b]/(2*beta) + sum(sum(sum(Px[b, d, a]*Q1_hat_12[p, c, d], d)*Px[b, c, a], c)*Sigma[b, a]*law_tr[a],
    a)*overlap[p, b]/(2*beta) + Q2_hat_12[p, b]/beta)
missed_Q1_12[p, b, c] := (-sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_oo[a], a)
    - sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vo[a], a)
    - sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_vo[a], a)
    - sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vv[a], a) + Q1_12[p, b, c]
    + zeta[b]*zeta[c] - sum(sum(sum(Px[a, c, e]*Px[b, d, e]*Sigma[a, e]*Sigma[b, e]*law_tr[e], e)*Q1_hat_12[p, a, d],
    d)*T[a], a)*T[b]/(2*beta) - sum(sum(sum(Px[b, e, a]*Q1_hat_12[p, d, e], e)*Px[d, c, a]*Sigma[d, a]*T[d],
    d)*Sigma[b, a]*law_tr[a], a)*T[b]/(2*beta) - sum(sum(Px[a, b, d]*Px[a, c, d]*Sigma[a, d]*law_tr[d], d)*T_12[p,
    a]*overlap[p, a], a)/(2*beta) + sum(sum(sum(Px[b, e, a]*V1_hat[d, e], e)*Px[d, c, a]*Sigma[d, a]*T_12[p,
    d]*overlap[p, d], d)*Sigma[b, a]*law_tr[a], a)*T[b]/(2*beta)
    - sum(Px[b, c, a]*Sigma[b, a]*law_tr[a], a)*T_12[p, b]*overlap[p, b]/(2*beta))
"""
rows = RowsOfPairs(PAIRS)
EQUATIONS = """
Delta_12 = -slope**2 + sum(mu2sq_12[b]*Q2_12[b], b) + sum(sum(mu1[b]*mu1[c]*Q1_12[b, c], b), c)  # Delta_12
Q1_hat_12[b, c] = alpha*E(avg_gg_12*mu1[b]*mu1[c])/beta  # d/dQ1_12
Q2_hat_12[b] = alpha*E(avg_gg_12*mu2sq_12[b])/beta  # d/dQ2_12
# d/dT_12
0 = (inverse_dimension*m[b]**2/T[b]**2 + sum(sum(Px[b, c, a]*psi_hat[c], c)**2*Sigma[b, a]*law_oo[a], a)*overlap[b]
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)**2*Sigma[b, a]*law_vv[a], a)*overlap[b]
    + 2*sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[b, c, a]*zeta_hat[c], c)*Sigma[b, a]*law_vo[a], a)*overlap[b]
    + chi[b]*norm_hat[b]**2*overlap[b] - T_12[b]*fraction[b]/T[b]**2
    + (sum(sum(Sigma[a, c]*Sigma[b, c]*Sx[a, b, c]**2*law_tr[c], c)*T_12[a]*overlap[a], a)*overlap[b]
    + sum(sum(Sigma[c, a]*Sx[b, c, a]**2*T_12[c]*overlap[c], c)*Sigma[b, a]*law_tr[a], a)*overlap[b])/(2*beta)
    - sum(sum(sum(sum(Px[a, e, d]*V1_hat[b, e], e)*Px[b, c, d]*Sigma[a, d]*Sigma[b, d]*law_tr[d], d)*Q1_hat_12[a, c],
    c)*T[a], a)*overlap[b]/(2*beta) + sum(sum(Px[b, a, c]*Sigma[b, c]*law_tr[c], c)*Q1_hat_12[a, b],
    a)*overlap[b]/(2*beta) + sum(sum(sum(Px[b, d, a]*Q1_hat_12[c, d], d)*Px[b, c, a], c)*Sigma[b, a]*law_tr[a],
    a)*overlap[b]/(2*beta) + Q2_hat_12[b]/beta)
# d/dQ1_hat_12
Q1_12[b, c] = (sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_oo[a], a)
    + sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vo[a], a)
    + sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_vo[a], a)
    + sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vv[a], a) - zeta[b]*zeta[c]
    + sum(sum(sum(Px[a, c, e]*Px[b, d, e]*Sigma[a, e]*Sigma[b, e]*law_tr[e], e)*Q1_hat_12[a, d], d)*T[a],
    a)*T[b]/(2*beta) + sum(sum(sum(Px[b, e, a]*Q1_hat_12[d, e], e)*Px[d, c, a]*Sigma[d, a]*T[d], d)*Sigma[b,
    a]*law_tr[a], a)*T[b]/(2*beta) + sum(sum(Px[a, b, d]*Px[a, c, d]*Sigma[a, d]*law_tr[d], d)*T_12[a]*overlap[a],
    a)/(2*beta) - sum(sum(sum(Px[b, e, a]*V1_hat[d, e], e)*Px[d, c, a]*Sigma[d, a]*T_12[d]*overlap[d], d)*Sigma[b,
    a]*law_tr[a], a)*T[b]/(2*beta) + sum(Px[b, c, a]*Sigma[b, a]*law_tr[a], a)*T_12[b]*overlap[b]/(2*beta))
Q2_12[b] = T_12[b]/beta  # d/dQ2_hat_12
"""
SQUARE = """
avg_gg_12 = (-Delta + Delta_12 - apart + risk)*avg_h**2  # avg_gg_12
"""
COLUMNS = ('kappa', 'weight', 'nu0', 'nu1', 'nu2sq')
certificate = ArrayCertificate(EQUATIONS, COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu2sq_12'))
certificate_of_square = ArrayCertificate(SQUARE + EQUATIONS, COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu2sq_12'))
