"""Equations of a given bulk, one block  [THEORY section 5].

Generated; do not edit. Signature 47148dea19cf8e17.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.tangents import TangentEquations, Text

SIGNATURE = "47148dea19cf8e17ad0e2a733c2f4260a25200125d11930cb4c499aa31fe40f9"


UNKNOWNS = ('adjoint', 'Q1', 'T', 'V1', 'psi', 'zeta')
INPUTS = ('Q1_hat', 'Q2_hat', 'V1_hat', 'V2_hat', 'average_zeta_hat', 'psi_hat')
GIVEN = ('spectrum', 'law_rows', 'law_vv', 'law_vo', 'law_oo')


def chain(s):
    """Everything that follows from unknowns and conjugates, stored beside them."""
    (V1_hat, V2_hat, average_zeta_hat, identity, ridge, spectrum,
        zeta) = (s[name] for name in ('V1_hat', 'V2_hat', 'average_zeta_hat', 'identity', 'ridge', 'spectrum', 'zeta'))
    x0 = np.einsum('a,ab->b', zeta, V1_hat)
    zeta_hat = np.real(x0 + average_zeta_hat)
    Px = np.moveaxis(np.linalg.inv(np.moveaxis(np.einsum('b,bc->bc', ridge + V2_hat, identity)[:, :, None]
        + np.einsum('x,bc->bcx', spectrum, V1_hat), -1, 0)), 0, -1)
    s.update(zeta_hat=zeta_hat, Px=Px)


def residual(s):
    """The residuals of the unknowns, stored beside them."""
    (Px, Q1, Q1_hat, Q2_hat, T, V1, adjoint, beta, inverse_dimension, law_oo, law_rows, law_vo, law_vv, m, psi,
        psi_hat, spectrum, zeta, zeta_hat) = (s[name] for name in ('Px', 'Q1', 'Q1_hat', 'Q2_hat', 'T', 'V1',
        'adjoint', 'beta', 'inverse_dimension', 'law_oo', 'law_rows', 'law_vo', 'law_vv', 'm', 'psi', 'psi_hat',
        'spectrum', 'zeta', 'zeta_hat'))
    x0 = np.einsum('c,bca->ab', psi_hat, Px)
    x1 = np.einsum('c,cba->ab', psi_hat, Px)
    x2 = np.einsum('ab,ab,a,a->b', x0, x1, law_oo, spectrum)
    x3 = np.einsum('c,cba->ab', zeta_hat, Px)
    x4 = np.einsum('ab,ab,a,a->b', x0, x3, law_vo, spectrum)
    x5 = np.einsum('c,bca->ab', zeta_hat, Px)
    x6 = np.einsum('ab,ab,a,a->b', x1, x5, law_vo, spectrum)
    x7 = np.einsum('ab,ab,a,a->b', x5, x3, law_vv, spectrum)
    x8 = np.einsum('c,abc,bac->ab', law_rows, Px, Px)
    x9 = np.einsum('a,a,ab->b', 1.0/T**2, m**2, x8)
    x10 = np.einsum('ab,a->b', x8, Q2_hat)
    x11 = np.einsum('cd,dba->abc', Q1_hat, Px)
    x12 = np.einsum('abc,bca->ab', x11, Px)
    x13 = np.einsum('ab,a,a->b', x12, law_rows, spectrum)
    residual_adjoint = np.real(adjoint - x2 - x4 - x6 - x7 - inverse_dimension*x9 - 1.0/beta*x10 - 1.0/beta*x13)
    x14 = np.einsum('d,cda->ac', psi_hat, Px)
    x15 = np.einsum('d,dba->ab', psi_hat, Px)
    x16 = np.einsum('a,ac,ab,a->bc', spectrum**2, x14, x15, law_oo)
    x17 = np.einsum('d,dba->ab', zeta_hat, Px)
    x18 = np.einsum('a,ac,ab,a->bc', spectrum**2, x14, x17, law_vo)
    x19 = np.einsum('d,cda->ac', zeta_hat, Px)
    x20 = np.einsum('a,ab,ac,a->bc', spectrum**2, x15, x19, law_vo)
    x21 = np.einsum('a,ac,ab,a->bc', spectrum**2, x19, x17, law_vv)
    x22 = np.einsum('d,d,abd,cad->abc', law_rows, spectrum, Px, Px)
    x23 = np.einsum('a,a,abc->bc', 1.0/T**2, m**2, x22)
    x24 = np.einsum('abc,a->bc', x22, Q2_hat)
    x25 = np.einsum('de,eba->abd', Q1_hat, Px)
    x26 = np.einsum('abd,cda->abc', x25, Px)
    x27 = np.einsum('a,abc,a->bc', spectrum**2, x26, law_rows)
    residual_Q1 = np.real(np.einsum('b,c->bc', zeta, zeta) + Q1 - x16 - x18 - x20 - x21 - inverse_dimension*x23
        - 1.0/beta*x24 - 1.0/beta*x27)
    x28 = np.einsum('a,bba->b', law_rows, Px)
    residual_T = np.real(T - x28)
    x29 = np.einsum('a,a,cba->bc', law_rows, spectrum, Px)
    residual_V1 = np.real(V1 - 1.0/beta*x29)
    x30 = np.einsum('ab,a,a->b', x0, law_oo, spectrum)
    x31 = np.einsum('ab,a,a->b', x1, law_oo, spectrum)
    x32 = np.einsum('ab,a,a->b', x5, law_vo, spectrum)
    x33 = np.einsum('ab,a,a->b', x3, law_vo, spectrum)
    residual_psi = np.real(psi - 0.5*x30 - 0.5*x31 - 0.5*x32 - 0.5*x33)
    x34 = np.einsum('ab,a,a->b', x0, law_vo, spectrum)
    x35 = np.einsum('ab,a,a->b', x1, law_vo, spectrum)
    x36 = np.einsum('ab,a,a->b', x5, law_vv, spectrum)
    x37 = np.einsum('ab,a,a->b', x3, law_vv, spectrum)
    residual_zeta = np.real(zeta - 0.5*x34 - 0.5*x35 - 0.5*x36 - 0.5*x37)
    s.update(residual_adjoint=residual_adjoint, residual_Q1=residual_Q1, residual_T=residual_T,
        residual_V1=residual_V1, residual_psi=residual_psi, residual_zeta=residual_zeta)


def free_energy(s):
    """The free energy, stored as such."""
    (Px, Q1, Q1_hat, Q2, Q2_hat, T, V1, V1_hat, V2, V2_hat, alpha, avg_M, beta, inverse_dimension, law_oo, law_rows,
        law_vo, law_vv, m, psi, psi_hat, spectrum, weight, zeta,
        zeta_hat) = (s[name] for name in ('Px', 'Q1', 'Q1_hat', 'Q2', 'Q2_hat', 'T', 'V1', 'V1_hat', 'V2', 'V2_hat',
        'alpha', 'avg_M', 'beta', 'inverse_dimension', 'law_oo', 'law_rows', 'law_vo', 'law_vv', 'm', 'psi', 'psi_hat',
        'spectrum', 'weight', 'zeta', 'zeta_hat'))
    x0 = np.dot(weight, avg_M)
    x1 = np.einsum('b->', Q2_hat*V2 - Q2*V2_hat)
    x2 = np.einsum('bc->c', Q1_hat*V1 - Q1*V1_hat)
    x3 = np.einsum('c->', x2)
    x4 = np.einsum('b->', psi*psi_hat + zeta*zeta_hat)
    x5 = np.einsum('c,cba->ab', psi_hat, Px)
    x6 = np.einsum('ab,b->a', x5, psi_hat)
    x7 = np.einsum('a,a,a->', x6, law_oo, spectrum)
    x8 = np.einsum('ab,b->a', x5, zeta_hat)
    x9 = np.einsum('a,a,a->', x8, law_vo, spectrum)
    x10 = np.einsum('c,cba->ab', zeta_hat, Px)
    x11 = np.einsum('ab,b->a', x10, psi_hat)
    x12 = np.einsum('a,a,a->', x11, law_vo, spectrum)
    x13 = np.einsum('ab,b->a', x10, zeta_hat)
    x14 = np.einsum('a,a,a->', x13, law_vv, spectrum)
    x15 = np.einsum('b,c,bc->c', zeta, zeta, V1_hat)
    x16 = np.einsum('c->', x15)
    x17 = np.einsum('a,a->', Q2_hat, T)
    x18 = np.einsum('bc,cba->ab', Q1_hat, Px)
    x19 = np.einsum('ab->a', x18)
    x20 = np.einsum('a,a,a->', x19, law_rows, spectrum)
    x21 = 0.5*np.einsum('b,b->', 1.0/T, m**2)
    free_energy = np.real(alpha*x0 + beta*(0.5*x1 + 0.5*x3 + x4 - 0.5*x7 - 0.5*x9 - 0.5*x12 - 0.5*x14 - 0.5*x16
        - 0.5*(x17 + x20)/beta) + inverse_dimension*beta*x21)
    s.update(free_energy=free_energy)


EQUATIONS = """
V := sum(mu2sq[b]*V2[b], b) + sum(sum(mu1[b]*mu1[c]*V1[b, c], b), c)
slope := sum(mu1[b]*psi[b], b)
mean := sum(kappa*mu1[b]*zeta[b] + mu0[b]*m[b], b)
Delta := -slope**2 + sum(mu2sq[b]*Q2[b], b) + sum(sum(mu1[b]*mu1[c]*Q1[b, c], b), c)
Q2[b] = adjoint[b]  # Q2
V2[b] = T[b]/beta  # d/dQ2_hat
Q1_hat[b, c] = alpha*E(avg_gg*mu1[b]*mu1[c])/beta  # d/dV1
Q2_hat[b] = alpha*E(avg_gg*mu2sq[b])/beta  # d/dV2
V1_hat[b, c] = alpha*E(avg_h*mu1[b]*mu1[c])/beta  # d/dQ1
V2_hat[b] = alpha*E(avg_h*mu2sq[b])/beta  # d/dQ2
psi_hat[b] = alpha*E((avg_h*slope + avg_tg)*mu1[b])/beta  # d/dpsi
zeta_hat[b] = alpha*E(kappa*avg_g*mu1[b])/beta + sum(V1_hat[a, b]*zeta[a], a)  # d/dzeta
matrix_Px[e, c, x] := (ridge + V2_hat[e])*delta[c, e] + V1_hat[e, c]*spectrum[x]
0 = -delta[b, c] + sum(Px[b, e, x]*matrix_Px[e, c, x], e)  # Px
# d/dV2_hat
adjoint[b] = (inverse_dimension*sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*m[a]**2/T[a]**2, a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a)
    + sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*Q2_hat[a], a)/beta
    + sum(sum(sum(Px[d, b, a]*Q1_hat[c, d], d)*Px[b, c, a], c)*law_rows[a]*spectrum[a], a)/beta)
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b]  # d/dm
# d/dV1_hat
Q1[b, c] = (inverse_dimension*sum(sum(Px[a, b, d]*Px[c, a, d]*law_rows[d]*spectrum[d], d)*m[a]**2/T[a]**2, a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*psi_hat[d], d)*law_oo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*psi_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d], d)*law_vv[a]*spectrum[a]**2, a)
    - zeta[b]*zeta[c] + sum(sum(Px[a, b, d]*Px[c, a, d]*law_rows[d]*spectrum[d], d)*Q2_hat[a], a)/beta
    + sum(sum(sum(Px[e, b, a]*Q1_hat[d, e], e)*Px[c, d, a], d)*law_rows[a]*spectrum[a]**2, a)/beta)
T[b] = sum(Px[b, b, a]*law_rows[a], a)  # T
V1[b, c] = sum(Px[c, b, a]*law_rows[a]*spectrum[a], a)/beta  # d/dQ1_hat
# d/dpsi_hat
psi[b] = (sum(sum(Px[b, c, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)/2
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    + sum(sum(Px[c, b, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)/2
    + sum(sum(Px[c, b, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)/2)
# d/dzeta_hat
zeta[b] = (sum(sum(Px[b, c, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a)/2
    + sum(sum(Px[c, b, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    + sum(sum(Px[c, b, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a)/2)
"""
COLUMNS = ('kappa', 'weight', 'nu0', 'nu1', 'nu2sq')
CERTIFICATE = Certificate(EQUATIONS, COLUMNS, odd=('avg_g', 'avg_tg'))
check = CERTIFICATE.check


RULES = """
d_avg_M := -avg_g*d_mean - avg_gg*d_V/2 + avg_h*d_Delta/2 - avg_tg*d_slope
d_avg_g := -avg_gh*d_V - avg_h*d_mean - avg_hx*d_Delta/2 - avg_th*d_slope
d_avg_gg := -2*avg_ggh*d_V - 2*avg_gh*d_mean - avg_ghx*d_Delta - 2*avg_tgh*d_slope
d_avg_h := avg_ghx*d_V + avg_hx*d_mean + avg_hxx*d_Delta/2 + avg_thx*d_slope
d_avg_l := ((V*avg_ggh - avg_gg)*d_V + (V*avg_gh - avg_g)*d_mean + (V*avg_ghx/2 + avg_h/2)*d_Delta
    + (V*avg_tgh - avg_tg)*d_slope)
d_avg_tg := -avg_tgh*d_V - avg_th*d_mean - avg_thx*d_Delta/2 - avg_tth*d_slope
d_Px[b, c, x] := (-d_ridge*sum(Px[a, c, x]*Px[b, a, x], a) - sum(sum(Px[b, d, x]*d_V1_hat[a, d], d)*Px[a, c, x],
    a)*spectrum[x] - sum(Px[a, c, x]*Px[b, a, x]*d_V2_hat[a], a))
"""
OBSERVABLES = """
test_error := E((-mean + nu0)**2 + (nu1 - slope)**2 + Delta + nu2sq)
train_error := E(avg_l)
free_energy := (alpha*E(avg_M) + beta*inverse_dimension*sum(m[b]**2/(2*T[b]), b)
    + beta*(-sum(sum(sum(Px[c, b, a]*psi_hat[c], c)*psi_hat[b], b)*law_oo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*psi_hat[c], c)*zeta_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*zeta_hat[c], c)*psi_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a]*spectrum[a], a)/2
    + sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2 + sum(psi[b]*psi_hat[b] + zeta[b]*zeta_hat[b], b)
    - sum(sum(V1_hat[b, c]*zeta[b]*zeta[c], b), c)/2 + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b), c)/2
    - (sum(Q2_hat[a]*T[a], a) + sum(sum(sum(Px[c, b, a]*Q1_hat[b, c], c), b)*law_rows[a]*spectrum[a], a))/(2*beta)))
"""
tangents = TangentEquations(Text(EQUATIONS, ('adjoint', 'm', 'Q1', 'T', 'V1', 'psi', 'zeta'), (), RULES, OBSERVABLES),
    COLUMNS)
