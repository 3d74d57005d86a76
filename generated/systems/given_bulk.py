"""Equations of a given bulk, one block  [THEORY section 5].

Generated; do not edit. Signature 67a11706ff117e2c.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.tangents import Motion, Text

SIGNATURE = "67a11706ff117e2c0bdbc794e073e3fa20bc47a4064dfaf39e8d54fd35894d4b"


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
    x0 = np.einsum('bac->abc', Px)
    x1 = np.einsum('c,abc,abc->ab', law_rows, Px, x0)
    x2 = np.einsum('a,a,ab->b', 1.0/T**2, m**2, x1)
    x3 = np.einsum('bca->abc', Px)
    x4 = np.einsum('c,abc->ab', psi_hat, x3)
    x5 = np.einsum('cba->abc', Px)
    x6 = np.einsum('c,abc->ab', psi_hat, x5)
    x7 = np.einsum('ab,ab,a,a->b', x4, x6, law_oo, spectrum)
    x8 = np.einsum('c,abc->ab', zeta_hat, x5)
    x9 = np.einsum('ab,ab,a,a->b', x4, x8, law_vo, spectrum)
    x10 = np.einsum('c,abc->ab', zeta_hat, x3)
    x11 = np.einsum('ab,ab,a,a->b', x6, x10, law_vo, spectrum)
    x12 = np.einsum('ab,ab,a,a->b', x10, x8, law_vv, spectrum)
    x13 = np.einsum('ab,a->b', x1, Q2_hat)
    x14 = np.einsum('dba->abd', Px)
    x15 = np.einsum('cd,abd->abc', Q1_hat, x14)
    x16 = np.einsum('abc,abc->ab', x15, x3)
    x17 = np.einsum('ab,a,a->b', x16, law_rows, spectrum)
    residual_adjoint = np.real(adjoint - 1.0/beta*(beta*(inverse_dimension*x2 + x7 + x9 + x11 + x12) + x13 + x17))
    x18 = np.einsum('cad->acd', Px)
    x19 = np.einsum('d,d,abd,acd->abc', law_rows, spectrum, Px, x18)
    x20 = np.einsum('a,a,abc->bc', 1.0/T**2, m**2, x19)
    x21 = np.einsum('cda->acd', Px)
    x22 = np.einsum('d,acd->ac', psi_hat, x21)
    x23 = np.einsum('d,abd->ab', psi_hat, x14)
    x24 = np.einsum('a,ac,ab,a->bc', spectrum**2, x22, x23, law_oo)
    x25 = np.einsum('d,abd->ab', zeta_hat, x14)
    x26 = np.einsum('a,ac,ab,a->bc', spectrum**2, x22, x25, law_vo)
    x27 = np.einsum('d,acd->ac', zeta_hat, x21)
    x28 = np.einsum('a,ab,ac,a->bc', spectrum**2, x23, x27, law_vo)
    x29 = np.einsum('a,ac,ab,a->bc', spectrum**2, x27, x25, law_vv)
    x30 = np.einsum('abc,a->bc', x19, Q2_hat)
    x31 = np.einsum('eba->abe', Px)
    x32 = np.einsum('de,abe->abd', Q1_hat, x31)
    x33 = np.einsum('abd,acd->abc', x32, x21)
    x34 = np.einsum('a,abc,a->bc', spectrum**2, x33, law_rows)
    residual_Q1 = np.real(Q1 - 1.0/beta*(beta*(inverse_dimension*x20 + x24 + x26 + x28 + x29
        - np.einsum('b,c->bc', zeta, zeta)) + x30 + x34))
    x35 = np.einsum('bba->ab', Px)
    x36 = np.einsum('a,ab->b', law_rows, x35)
    residual_T = np.real(T - x36)
    x37 = np.einsum('a,a,abc->bc', law_rows, spectrum, x5)
    residual_V1 = np.real(V1 - 1.0/beta*x37)
    x38 = np.einsum('ab,a,a->b', x4, law_oo, spectrum)
    x39 = np.einsum('ab,a,a->b', x6, law_oo, spectrum)
    x40 = np.einsum('ab,a,a->b', x10, law_vo, spectrum)
    x41 = np.einsum('ab,a,a->b', x8, law_vo, spectrum)
    residual_psi = np.real(psi - 0.5*x38 - 0.5*x39 - 0.5*x40 - 0.5*x41)
    x42 = np.einsum('ab,a,a->b', x4, law_vo, spectrum)
    x43 = np.einsum('ab,a,a->b', x6, law_vo, spectrum)
    x44 = np.einsum('ab,a,a->b', x10, law_vv, spectrum)
    x45 = np.einsum('ab,a,a->b', x8, law_vv, spectrum)
    residual_zeta = np.real(zeta - 0.5*x42 - 0.5*x43 - 0.5*x44 - 0.5*x45)
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
    x5 = np.einsum('cba->abc', Px)
    x6 = np.einsum('c,abc->ab', psi_hat, x5)
    x7 = np.einsum('ab,b->a', x6, psi_hat)
    x8 = np.einsum('a,a,a->', x7, law_oo, spectrum)
    x9 = np.einsum('ab,b->a', x6, zeta_hat)
    x10 = np.einsum('a,a,a->', x9, law_vo, spectrum)
    x11 = np.einsum('c,abc->ab', zeta_hat, x5)
    x12 = np.einsum('ab,b->a', x11, psi_hat)
    x13 = np.einsum('a,a,a->', x12, law_vo, spectrum)
    x14 = np.einsum('ab,b->a', x11, zeta_hat)
    x15 = np.einsum('a,a,a->', x14, law_vv, spectrum)
    x16 = np.einsum('b,c,bc->c', zeta, zeta, V1_hat)
    x17 = np.einsum('c->', x16)
    x18 = np.einsum('a,a->', Q2_hat, T)
    x19 = np.einsum('bc,abc->ab', Q1_hat, x5)
    x20 = np.einsum('ab->a', x19)
    x21 = np.einsum('a,a,a->', x20, law_rows, spectrum)
    x22 = 0.5*np.einsum('b,b->', 1.0/T, m**2)
    free_energy = np.real(alpha*x0 + beta*(0.5*x1 + 0.5*x3 + x4 - 0.5*x8 - 0.5*x10 - 0.5*x13 - 0.5*x15 - 0.5*x17
        - 0.5*(x18 + x21)/beta) + inverse_dimension*beta*x22)
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
0 = -delta[b, c] + sum(((ridge + V2_hat[e])*delta[c, e] + V1_hat[e, c]*spectrum[x])*Px[b, e, x], e)  # Px
# d/dV2_hat
adjoint[b] = ((beta*(inverse_dimension*sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*m[a]**2/T[a]**2, a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a))
    + sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*Q2_hat[a], a)
    + sum(sum(sum(Px[d, b, a]*Q1_hat[c, d], d)*Px[b, c, a], c)*law_rows[a]*spectrum[a], a))/beta)
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b]  # d/dm
# d/dV1_hat
Q1[b, c] = ((beta*(inverse_dimension*sum(sum(Px[a, b, d]*Px[c, a, d]*law_rows[d]*spectrum[d], d)*m[a]**2/T[a]**2, a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*psi_hat[d], d)*law_oo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*psi_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d], d)*law_vv[a]*spectrum[a]**2, a)
    - zeta[b]*zeta[c]) + sum(sum(Px[a, b, d]*Px[c, a, d]*law_rows[d]*spectrum[d], d)*Q2_hat[a], a)
    + sum(sum(sum(Px[e, b, a]*Q1_hat[d, e], e)*Px[c, d, a], d)*law_rows[a]*spectrum[a]**2, a))/beta)
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
check = Certificate(EQUATIONS, COLUMNS, odd=('avg_g', 'avg_tg')).check


RULES = """
d_avg_M := -avg_g*d_mean - avg_gg*d_V/2 + avg_h*d_Delta/2 - avg_tg*d_slope
d_avg_g := -avg_gh*d_V - avg_h*d_mean - avg_hx*d_Delta/2 - avg_th*d_slope
d_avg_gg := -2*avg_ggh*d_V - 2*avg_gh*d_mean - avg_ghx*d_Delta - 2*avg_tgh*d_slope
d_avg_h := avg_ghx*d_V + avg_hx*d_mean + avg_hxx*d_Delta/2 + avg_thx*d_slope
d_avg_tg := -avg_tgh*d_V - avg_th*d_mean - avg_thx*d_Delta/2 - avg_tth*d_slope
d_Px[b, c, x] := (-d_ridge*sum(Px[a, c, x]*Px[b, a, x], a) - sum(sum(Px[b, d, x]*d_V1_hat[a, d], d)*Px[a, c, x],
    a)*spectrum[x] - sum(Px[a, c, x]*Px[b, a, x]*d_V2_hat[a], a))
"""
OBSERVABLES = """
test_error := E((-mean + nu0)**2 + (nu1 - slope)**2 + Delta + nu2sq)
train_error := E(-V*avg_gg/2 + avg_M)
free_energy := (alpha*E(avg_M) + beta*inverse_dimension*sum(m[b]**2/(2*T[b]), b)
    + beta*(-sum(sum(sum(Px[c, b, a]*psi_hat[c], c)*psi_hat[b], b)*law_oo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*psi_hat[c], c)*zeta_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*zeta_hat[c], c)*psi_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a]*spectrum[a], a)/2
    + sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2 + sum(psi[b]*psi_hat[b] + zeta[b]*zeta_hat[b], b)
    - sum(sum(V1_hat[b, c]*zeta[b]*zeta[c], b), c)/2 + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b), c)/2
    - (sum(Q2_hat[a]*T[a], a) + sum(sum(sum(Px[c, b, a]*Q1_hat[b, c], c), b)*law_rows[a]*spectrum[a], a))/(2*beta)))
"""
motion = Motion(Text(EQUATIONS, ('adjoint', 'm', 'Q1', 'T', 'V1', 'psi', 'zeta'), (), RULES, OBSERVABLES), COLUMNS)
