"""Two fits that have something in common, structured inputs  [THEORY section 14].

N nodes of kappa, K blocks. T_12, Q2_12 [K], Q1_12 [K, K]: between the two readouts; overlap [K]: of the rows of a block
in the two first layers, of unit norm; mu2sq_12 [K, N]: what the rest of the features has in common there; apart [N]:
variance of the labels' noise that is not shared; all other names are those of a single fit at its solution.

Generated; do not edit. Signature ec8c77e484171b26, runtime 0f0c242adbbfbf5b.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.array_certificate import ArrayCertificate

SIGNATURE = "ec8c77e484171b26e6d4858e44f47d0e27abb7aa0340591f0f536b4cd5b160a6"


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


def overlaps(*, Mx, Px, Q1_hat_12, Q2_hat_12, Sigma, Sx, T, T_12, V1_hat, beta, chi, fraction,
    inverse_dimension, law_oo, law_tr, law_vo, law_vv, m, norm_hat, overlap, psi_hat, zeta,
    zeta_hat, **_):
    """What vanishes for T_12 [K]; Q1_12 [K, K] and Q2_12 [K]."""
    x0 = np.einsum('c,bca->ab', psi_hat, Px)
    x1 = np.einsum('ab,a,ba->b', x0**2, law_oo, Sigma)
    x2 = np.einsum('c,bca->ab', zeta_hat, Px)
    x3 = np.einsum('ab,a,ba->b', x2**2, law_vv, Sigma)
    x4 = np.einsum('abc,c,ac,bc->ab', Sx**2, law_tr, Sigma, Sigma)
    x5 = np.einsum('ab,a,a->b', x4, T_12, overlap)
    x6 = np.einsum('abc,c,c,ca->ab', np.einsum('bca->abc', Sx)**2, T_12, overlap, Sigma)
    x7 = np.einsum('ab,a,ba->b', x6, law_tr, Sigma)
    x8 = np.einsum('ab,ab,a,ba->b', x0, x2, law_vo, Sigma)
    x9 = np.einsum('c,bc,bac->ab', law_tr, Sigma, Px)
    x10 = np.einsum('ab,ab->b', x9, Q1_hat_12)
    x11 = np.einsum('cd,bda->abc', Q1_hat_12, Px)
    x12 = np.einsum('abc,bca->ab', x11, Px)
    x13 = np.einsum('ab,a,ba->b', x12, law_tr, Sigma)
    x14 = np.einsum('be,aed->abd', V1_hat, Px)
    x15 = np.einsum('abd,d,ad,bd,bcd->abc', x14, law_tr, Sigma, Sigma, Px)
    x16 = np.einsum('abc,ac->ab', x15, Q1_hat_12)
    x17 = np.einsum('ab,a->b', x16, T)
    fixes_T_12 = (
        1.0/beta*Q2_hat_12 + x1*overlap + x3*overlap + 0.5/beta*(x5*overlap + x7*overlap) + 2.0*x8*overlap +
        inverse_dimension*(m**2)/T**2 + (norm_hat**2)*chi*overlap + 0.5/beta*x10*overlap + 0.5/beta*x13*overlap -
        T_12*fraction/T**2 - 0.5/beta*x17*overlap
    )
    x18 = np.einsum('d,ad,abd,acd->abc', law_tr, Sigma, Px, Px)
    x19 = np.einsum('abc,a,a->bc', x18, T_12, overlap)
    x20 = np.einsum('e,ae,be,ace,bde->abcd', law_tr, Sigma, Sigma, Px, Px)
    x21 = np.einsum('abcd,ad->abc', x20, Q1_hat_12)
    x22 = np.einsum('abc,a->bc', x21, T)
    x23 = np.einsum('de,bea->abd', Q1_hat_12, Px)
    x24 = np.einsum('abd,d,da,dca->abc', x23, T, Sigma, Px)
    x25 = np.einsum('abc,a,ba->bc', x24, law_tr, Sigma)
    x26 = np.einsum('a,ba,bca->bc', law_tr, Sigma, Px)
    x27 = np.einsum('d,bda->ab', psi_hat, Mx)
    x28 = np.einsum('d,cda->ac', psi_hat, Mx)
    x29 = np.einsum('ab,ac,a->bc', x27, x28, law_oo)
    x30 = np.einsum('d,cda->ac', zeta_hat, Mx)
    x31 = np.einsum('ab,ac,a->bc', x27, x30, law_vo)
    x32 = np.einsum('d,bda->ab', zeta_hat, Mx)
    x33 = np.einsum('ac,ab,a->bc', x28, x32, law_vo)
    x34 = np.einsum('ab,ac,a->bc', x32, x30, law_vv)
    x35 = np.einsum('de,bea->abd', V1_hat, Px)
    x36 = np.einsum('abd,d,d,da,dca->abc', x35, T_12, overlap, Sigma, Px)
    x37 = np.einsum('abc,a,ba->bc', x36, law_tr, Sigma)
    Q1_12 = (
        0.5/beta*x19 + 0.5/beta*np.einsum('bc,b->bc', x22, T) + 0.5/beta*np.einsum('bc,b->bc', x25, T) +
        0.5/beta*np.einsum('bc,b,b->bc', x26, T_12, overlap) + x29 + x31 + x33 + x34 - np.einsum('b,c->bc', zeta, zeta)
        - 0.5/beta*np.einsum('bc,b->bc', x37, T)
    )
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
check = ArrayCertificate(EQUATIONS, COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu2sq_12')).check
check_square = ArrayCertificate(SQUARE + EQUATIONS, COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu2sq_12')).check
