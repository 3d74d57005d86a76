"""Equations of structured inputs, any number of blocks  [THEORY section 5].

Generated; do not edit. Signature 0b1504825e3637de.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.tangents import TangentEquations, Text

SIGNATURE = "0b1504825e3637de9e374658fe426a492dfdf21553ead85aa33159a49ca1c334"


UNKNOWNS = ('adjoint', 'Q1', 'T', 'V1', 'psi', 'zeta')
INPUTS = ('Q1_hat', 'Q2_hat', 'V1_hat', 'V2_hat', 'average_zeta_hat', 'psi_hat')
GIVEN = ('Sigma', 'law_tr', 'law_vv', 'law_vo', 'law_oo')


def chain(s):
    """Everything that follows from unknowns and conjugates, stored beside them."""
    (Sigma, T, V1_hat, average_zeta_hat, identity, zeta) = (s[name] for name in ('Sigma', 'T', 'V1_hat',
        'average_zeta_hat', 'identity', 'zeta'))
    Px = np.moveaxis(np.linalg.inv(np.moveaxis(np.einsum('c,cx,bc->bcx', T, Sigma, V1_hat) + identity[:, :, None], -1,
        0)), 0, -1)
    x0 = np.einsum('a,ab->b', zeta, V1_hat)
    zeta_hat = np.real(x0 + average_zeta_hat)
    Mx = np.einsum('b,bx,bcx->bcx', T, Sigma, Px)
    x1 = np.einsum('ec,bex->bcx', V1_hat, Px)
    Sx = x1
    s.update(Px=Px, zeta_hat=zeta_hat, Mx=Mx, Sx=Sx)


def residual(s):
    """The residuals of the unknowns, stored beside them."""
    (Mx, Px, Q1, Q1_hat, Q2_hat, Sigma, Sx, T, V1, V2_hat, adjoint, beta, fraction, inverse_dimension, law_oo, law_tr,
        law_vo, law_vv, m, psi, psi_hat, ridge, zeta, zeta_hat) = (s[name] for name in ('Mx', 'Px', 'Q1', 'Q1_hat',
        'Q2_hat', 'Sigma', 'Sx', 'T', 'V1', 'V2_hat', 'adjoint', 'beta', 'fraction', 'inverse_dimension', 'law_oo',
        'law_tr', 'law_vo', 'law_vv', 'm', 'psi', 'psi_hat', 'ridge', 'zeta', 'zeta_hat'))
    x0 = np.einsum('abc,c,ac,bc->ab', Sx**2, law_tr, Sigma, Sigma)
    x1 = np.einsum('ab,a->b', x0, adjoint)
    x2 = np.einsum('c,bca->ab', psi_hat, Px)
    x3 = np.einsum('ab,a,ba->b', x2**2, law_oo, Sigma)
    x4 = np.einsum('c,bca->ab', zeta_hat, Px)
    x5 = np.einsum('ab,a,ba->b', x4**2, law_vv, Sigma)
    x6 = np.einsum('ab,ab,a,ba->b', x2, x4, law_vo, Sigma)
    x7 = np.einsum('cd,bda->abc', Q1_hat, Px)
    x8 = np.einsum('abc,bca->ab', x7, Px)
    x9 = np.einsum('ab,a,ba->b', x8, law_tr, Sigma)
    residual_adjoint = np.real(beta*adjoint*fraction/T**2 - x1 - x3 - x5 - 2.0*x6 - 1.0/beta*x9 - 1.0/beta*Q2_hat
        - inverse_dimension*(m**2)/T**2)
    x10 = np.einsum('d,ad,abd,acd->abc', law_tr, Sigma, Px, Px)
    x11 = np.einsum('abc,a->bc', x10, adjoint)
    x12 = np.einsum('d,bda->ab', psi_hat, Mx)
    x13 = np.einsum('d,cda->ac', psi_hat, Mx)
    x14 = np.einsum('ab,ac,a->bc', x12, x13, law_oo)
    x15 = np.einsum('d,cda->ac', zeta_hat, Mx)
    x16 = np.einsum('ab,ac,a->bc', x12, x15, law_vo)
    x17 = np.einsum('d,bda->ab', zeta_hat, Mx)
    x18 = np.einsum('ac,ab,a->bc', x13, x17, law_vo)
    x19 = np.einsum('ab,ac,a->bc', x17, x15, law_vv)
    x20 = np.einsum('de,cea->acd', Q1_hat, Mx)
    x21 = np.einsum('acd,bda->abc', x20, Mx)
    x22 = np.einsum('abc,a->bc', x21, law_tr)
    residual_Q1 = np.real(np.einsum('b,c->bc', zeta, zeta) + Q1 - x11 - x14 - x16 - x18 - x19 - 1.0/beta*x22)
    x23 = np.einsum('a,ba,bba->b', law_tr, Sigma, Sx)
    residual_T = np.real(T - beta*fraction/(ridge + x23 + V2_hat))
    x24 = np.einsum('a,bca->bc', law_tr, Mx)
    residual_V1 = np.real(V1 - 1.0/beta*x24)
    x25 = np.einsum('c,bca->ab', psi_hat, Mx)
    x26 = np.einsum('ab,a->b', x25, law_oo)
    x27 = np.einsum('c,bca->ab', zeta_hat, Mx)
    x28 = np.einsum('ab,a->b', x27, law_vo)
    residual_psi = np.real(psi - x26 - x28)
    x29 = np.einsum('ab,a->b', x25, law_vo)
    x30 = np.einsum('ab,a->b', x27, law_vv)
    residual_zeta = np.real(zeta - x29 - x30)
    s.update(residual_adjoint=residual_adjoint, residual_Q1=residual_Q1, residual_T=residual_T,
        residual_V1=residual_V1, residual_psi=residual_psi, residual_zeta=residual_zeta)


def free_energy(s):
    """The free energy, stored as such."""
    (Mx, Q1, Q1_hat, Q2, Q2_hat, T, V1, V1_hat, V2, V2_hat, alpha, avg_M, beta, inverse_dimension, law_oo, law_tr,
        law_vo, law_vv, m, psi, psi_hat, weight, zeta, zeta_hat) = (s[name] for name in ('Mx', 'Q1', 'Q1_hat', 'Q2',
        'Q2_hat', 'T', 'V1', 'V1_hat', 'V2', 'V2_hat', 'alpha', 'avg_M', 'beta', 'inverse_dimension', 'law_oo',
        'law_tr', 'law_vo', 'law_vv', 'm', 'psi', 'psi_hat', 'weight', 'zeta', 'zeta_hat'))
    x0 = np.dot(weight, avg_M)
    x1 = np.einsum('b->', Q2_hat*V2 - Q2*V2_hat)
    x2 = np.einsum('bc->c', Q1_hat*V1 - Q1*V1_hat)
    x3 = np.einsum('c->', x2)
    x4 = np.einsum('b->', psi*psi_hat + zeta*zeta_hat)
    x5 = np.einsum('c,bca->ab', psi_hat, Mx)
    x6 = np.einsum('ab,b->a', x5, psi_hat)
    x7 = np.einsum('a,a->', x6, law_oo)
    x8 = np.einsum('ab,b->a', x5, zeta_hat)
    x9 = np.einsum('a,a->', x8, law_vo)
    x10 = np.einsum('c,bca->ab', zeta_hat, Mx)
    x11 = np.einsum('ab,b->a', x10, psi_hat)
    x12 = np.einsum('a,a->', x11, law_vo)
    x13 = np.einsum('ab,b->a', x10, zeta_hat)
    x14 = np.einsum('a,a->', x13, law_vv)
    x15 = np.einsum('b,c,bc->c', zeta, zeta, V1_hat)
    x16 = np.einsum('c->', x15)
    x17 = np.einsum('bc,bca->ab', Q1_hat, Mx)
    x18 = np.einsum('ab->a', x17)
    x19 = np.einsum('a,a->', x18, law_tr)
    x20 = np.einsum('a,a->', Q2_hat, T)
    x21 = 0.5*np.einsum('b,b->', 1.0/T, m**2)
    free_energy = np.real(alpha*x0 + beta*(0.5*x1 + 0.5*x3 + x4 - 0.5*x7 - 0.5*x9 - 0.5*x12 - 0.5*x14 - 0.5*x16
        - 0.5*(x19 + x20)/beta) + inverse_dimension*beta*x21)
    s.update(free_energy=free_energy)


EQUATIONS = """
V := sum(mu2sq[b]*V2[b], b) + sum(sum(mu1[b]*mu1[c]*V1[b, c], b), c)
slope := sum(mu1[b]*psi[b], b)
mean := sum(kappa*mu1[b]*zeta[b] + mu0[b]*m[b], b)
Delta := -slope**2 + sum(mu2sq[b]*Q2[b], b) + sum(sum(mu1[b]*mu1[c]*Q1[b, c], b), c)
Q2[b] = adjoint[b]  # d/dV2_hat
V2[b] = T[b]/beta  # d/dQ2_hat
Q1_hat[b, c] = alpha*E(avg_gg*mu1[b]*mu1[c])/beta  # d/dV1
Q2_hat[b] = alpha*E(avg_gg*mu2sq[b])/beta  # d/dV2
V1_hat[b, c] = alpha*E(avg_h*mu1[b]*mu1[c])/beta  # d/dQ1
V2_hat[b] = alpha*E(avg_h*mu2sq[b])/beta  # d/dQ2
psi_hat[b] = alpha*E((avg_h*slope + avg_tg)*mu1[b])/beta  # d/dpsi
matrix_Px[e, c, x] := delta[c, e] + Sigma[c, x]*T[c]*V1_hat[e, c]
0 = -delta[b, c] + sum(Px[b, e, x]*matrix_Px[e, c, x], e)  # Px
zeta_hat[b] = alpha*E(kappa*avg_g*mu1[b])/beta + sum(V1_hat[a, b]*zeta[a], a)  # d/dzeta
Mx[b, c, x] = Px[b, c, x]*Sigma[b, x]*T[b]  # Mx
Sx[b, c, x] = sum(Px[b, e, x]*V1_hat[e, c], e)  # Sx
# adjoint
0 = (beta*adjoint[b]*fraction[b]/T[b]**2 - inverse_dimension*m[b]**2/T[b]**2
    - sum(sum(Sigma[a, c]*Sigma[b, c]*Sx[a, b, c]**2*law_tr[c], c)*adjoint[a], a)
    - sum(sum(Px[b, c, a]*psi_hat[c], c)**2*Sigma[b, a]*law_oo[a], a)
    - sum(sum(Px[b, c, a]*zeta_hat[c], c)**2*Sigma[b, a]*law_vv[a], a)
    - 2*sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[b, c, a]*zeta_hat[c], c)*Sigma[b, a]*law_vo[a], a)
    - sum(sum(sum(Px[b, d, a]*Q1_hat[c, d], d)*Px[b, c, a], c)*Sigma[b, a]*law_tr[a], a)/beta - Q2_hat[b]/beta)
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b]  # d/dm
# d/dV1_hat
Q1[b, c] = (sum(sum(Px[a, b, d]*Px[a, c, d]*Sigma[a, d]*law_tr[d], d)*adjoint[a], a)
    + sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_oo[a], a)
    + sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vo[a], a)
    + sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_vo[a], a)
    + sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vv[a], a) - zeta[b]*zeta[c]
    + sum(sum(sum(Mx[c, e, a]*Q1_hat[d, e], e)*Mx[b, d, a], d)*law_tr[a], a)/beta)
T[b] = beta*fraction[b]/(ridge + sum(Sigma[b, a]*Sx[b, b, a]*law_tr[a], a) + V2_hat[b])  # dL/dT
V1[b, c] = sum(Mx[b, c, a]*law_tr[a], a)/beta  # d/dQ1_hat
# d/dpsi_hat
psi[b] = sum(sum(Mx[b, c, a]*psi_hat[c], c)*law_oo[a], a) + sum(sum(Mx[b, c, a]*zeta_hat[c], c)*law_vo[a], a)
# d/dzeta_hat
zeta[b] = sum(sum(Mx[b, c, a]*psi_hat[c], c)*law_vo[a], a) + sum(sum(Mx[b, c, a]*zeta_hat[c], c)*law_vv[a], a)
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
d_Px[b, c, x] := (-sum(sum(Px[b, d, x]*V1_hat[a, d], d)*Px[a, c, x]*Sigma[a, x]*d_T[a], a)
    - sum(sum(Px[b, d, x]*V1_hat[a, d], d)*Px[a, c, x]*T[a]*d_Sigma[a, x], a)
    - sum(sum(Px[b, d, x]*d_V1_hat[a, d], d)*Px[a, c, x]*Sigma[a, x]*T[a], a))
d_Mx[b, c, x] := (-sum(sum(Mx[b, d, x]*d_V1_hat[a, d], d)*Mx[a, c, x], a)
    + sum(Px[a, b, x]*Px[a, c, x]*Sigma[a, x]*d_T[a], a) + sum(Px[a, b, x]*Px[a, c, x]*T[a]*d_Sigma[a, x], a))
d_Sx[b, c, x] := (sum(sum(Px[b, d, x]*d_V1_hat[a, d], d)*Px[c, a, x], a)
    - sum(Sigma[a, x]*Sx[a, b, x]*Sx[a, c, x]*d_T[a], a) - sum(Sx[a, b, x]*Sx[a, c, x]*T[a]*d_Sigma[a, x], a))
"""
OBSERVABLES = """
test_error := E((-mean + nu0)**2 + (nu1 - slope)**2 + Delta + nu2sq)
train_error := E(avg_l)
free_energy := (alpha*E(avg_M) + beta*inverse_dimension*sum(m[b]**2/(2*T[b]), b)
    + beta*(-sum(sum(sum(Mx[b, c, a]*psi_hat[c], c)*psi_hat[b], b)*law_oo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*psi_hat[c], c)*zeta_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*zeta_hat[c], c)*psi_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a], a)/2
    + sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2 + sum(psi[b]*psi_hat[b] + zeta[b]*zeta_hat[b], b)
    - sum(sum(V1_hat[b, c]*zeta[b]*zeta[c], b), c)/2 + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b), c)/2
    - (sum(sum(sum(Mx[b, c, a]*Q1_hat[b, c], c), b)*law_tr[a], a) + sum(Q2_hat[a]*T[a], a))/(2*beta)))
"""
tangents = TangentEquations(Text(EQUATIONS, ('adjoint', 'm', 'Q1', 'T', 'V1', 'psi', 'zeta'),
    ('Sigma', 'law_tr', 'law_vv', 'law_vo', 'law_oo'), RULES, OBSERVABLES), COLUMNS)
