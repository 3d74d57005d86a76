"""Equations of a trained bulk, any number of blocks  [THEORY section 5].

Generated; do not edit. Signature 8e7cea2f211cd05e.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.tangents import TangentEquations, Text

SIGNATURE = "8e7cea2f211cd05e378fb858c8f71ab0644525694e4a6ca0e366c02052c500c5"


UNKNOWNS = ('adjoint', 'Q1', 'T', 'V1', 'norm', 'psi', 'zeta')
INPUTS = ('Q1_hat', 'Q2_hat', 'V1_hat', 'V2_hat', 'average_zeta_hat', 'norm_hat', 'psi_hat')
GIVEN = ('Sigma', 'law_tr', 'law_vv', 'law_vo', 'law_oo', 'chi', 'law_vn', 'law_on', 'law_nn')


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
    (Mx, Px, Q1, Q1_hat, Q2_hat, Sigma, Sx, T, V1, V2_hat, adjoint, beta, chi, fraction, inverse_dimension, law_nn,
        law_on, law_oo, law_tr, law_vn, law_vo, law_vv, m, norm, norm_hat, psi, psi_hat, ridge, zeta,
        zeta_hat) = (s[name] for name in ('Mx', 'Px', 'Q1', 'Q1_hat', 'Q2_hat', 'Sigma', 'Sx', 'T', 'V1', 'V2_hat',
        'adjoint', 'beta', 'chi', 'fraction', 'inverse_dimension', 'law_nn', 'law_on', 'law_oo', 'law_tr', 'law_vn',
        'law_vo', 'law_vv', 'm', 'norm', 'norm_hat', 'psi', 'psi_hat', 'ridge', 'zeta', 'zeta_hat'))
    x0 = np.einsum('c,c,ca,bca->ab', T, norm_hat, law_on, Sx)
    x1 = np.einsum('ab,ba->b', x0, Sigma)
    x2 = np.einsum('c,c,ca,bca->ab', T, norm_hat, law_vn, Sx)
    x3 = np.einsum('ab,ba->b', x2, Sigma)
    x4 = np.einsum('c,c,ca,bca->ab', T, psi_hat, Sigma, Sx)
    x5 = np.einsum('ab,ba->b', x4, law_on)
    x6 = np.einsum('c,c,ca,bca->ab', T, zeta_hat, Sigma, Sx)
    x7 = np.einsum('ab,ba->b', x6, law_vn)
    x8 = np.einsum('c,c,bca,bca->ab', T, norm_hat, Sx, law_nn)
    x9 = np.einsum('ab->b', x8)
    x10 = np.einsum('abc,c,ac,bc->ab', Sx**2, law_tr, Sigma, Sigma)
    x11 = np.einsum('ab,a->b', x10, adjoint)
    x12 = np.einsum('d,d,bda,cda->abc', T, norm_hat, Sx, law_nn)
    x13 = np.einsum('abc,c,c,bca->ab', x12, T, norm_hat, Sx)
    x14 = np.einsum('ab,ba->b', x13, Sigma)
    x15 = np.einsum('c,bca->ab', psi_hat, Px)
    x16 = np.einsum('ab,a,ba->b', x15**2, law_oo, Sigma)
    x17 = np.einsum('c,bca->ab', zeta_hat, Px)
    x18 = np.einsum('ab,a,ba->b', x17**2, law_vv, Sigma)
    x19 = np.einsum('ab,ab,ba->b', x0, x4, Sigma)
    x20 = np.einsum('ab,ab,ba->b', x2, x6, Sigma)
    x21 = np.einsum('ab,ab,a,ba->b', x15, x17, law_vo, Sigma)
    x22 = np.einsum('cd,bda->abc', Q1_hat, Px)
    x23 = np.einsum('abc,bca->ab', x22, Px)
    x24 = np.einsum('ab,a,ba->b', x23, law_tr, Sigma)
    x25 = np.einsum('ba->b', law_on)
    x26 = np.einsum('ba->b', law_vn)
    residual_adjoint = np.real(2.0*x1*psi_hat + 2.0*x3*zeta_hat + 2.0*x5*norm_hat + 2.0*x7*norm_hat + 2.0*x9*norm_hat
        + beta*adjoint*fraction/T**2 - x11 - x14 - x16 - x18 - 2.0*x19 - 2.0*x20 - 2.0*x21 - 1.0/beta*x24
        - 1.0/beta*Q2_hat - (norm_hat**2)*chi - inverse_dimension*(m**2)/T**2 - 2.0*x25*norm_hat*psi_hat
        - 2.0*x26*norm_hat*zeta_hat)
    x27 = np.einsum('d,d,da,dba->ab', T, norm_hat, law_on, Px)
    x28 = np.einsum('d,d,da,dca->ac', T, psi_hat, Sigma, Px)
    x29 = np.einsum('ab,ac->bc', x27, x28)
    x30 = np.einsum('d,d,da,dca->ac', T, norm_hat, law_on, Px)
    x31 = np.einsum('d,d,da,dba->ab', T, psi_hat, Sigma, Px)
    x32 = np.einsum('ac,ab->bc', x30, x31)
    x33 = np.einsum('d,d,da,dba->ab', T, norm_hat, law_vn, Px)
    x34 = np.einsum('d,d,da,dca->ac', T, zeta_hat, Sigma, Px)
    x35 = np.einsum('ab,ac->bc', x33, x34)
    x36 = np.einsum('d,d,da,dca->ac', T, norm_hat, law_vn, Px)
    x37 = np.einsum('d,d,da,dba->ab', T, zeta_hat, Sigma, Px)
    x38 = np.einsum('ac,ab->bc', x36, x37)
    x39 = np.einsum('d,ad,abd,acd->abc', law_tr, Sigma, Px, Px)
    x40 = np.einsum('abc,a->bc', x39, adjoint)
    x41 = np.einsum('d,bda->ab', psi_hat, Mx)
    x42 = np.einsum('d,cda->ac', psi_hat, Mx)
    x43 = np.einsum('ab,ac,a->bc', x41, x42, law_oo)
    x44 = np.einsum('d,cda->ac', zeta_hat, Mx)
    x45 = np.einsum('ab,ac,a->bc', x41, x44, law_vo)
    x46 = np.einsum('d,bda->ab', zeta_hat, Mx)
    x47 = np.einsum('ac,ab,a->bc', x42, x46, law_vo)
    x48 = np.einsum('ab,ac,a->bc', x46, x44, law_vv)
    x49 = np.einsum('e,e,eca,dea->acd', T, norm_hat, Px, law_nn)
    x50 = np.einsum('acd,d,d,dba->abc', x49, T, norm_hat, Px)
    x51 = np.einsum('abc->bc', x50)
    x52 = np.einsum('de,cea->acd', Q1_hat, Mx)
    x53 = np.einsum('acd,bda->abc', x52, Mx)
    x54 = np.einsum('abc,a->bc', x53, law_tr)
    residual_Q1 = np.real(np.einsum('b,c->bc', zeta, zeta) + Q1 - x29 - x32 - x35 - x38 - x40 - x43 - x45 - x47 - x48
        - x51 - 1.0/beta*x54)
    x55 = np.einsum('a,ba,bba->b', law_tr, Sigma, Sx)
    residual_T = np.real(T - beta*fraction/(ridge + x55 + V2_hat))
    x56 = np.einsum('a,bca->bc', law_tr, Mx)
    residual_V1 = np.real(V1 - 1.0/beta*x56)
    residual_norm = np.real(x5*T + x7*T + x9*T + norm - x25*T*psi_hat - x26*T*zeta_hat - T*chi*norm_hat)
    x57 = np.einsum('c,bca->ab', psi_hat, Mx)
    x58 = np.einsum('ab,a->b', x57, law_oo)
    x59 = np.einsum('c,bca->ab', zeta_hat, Mx)
    x60 = np.einsum('ab,a->b', x59, law_vo)
    residual_psi = np.real(x1*T + psi - x58 - x60 - x25*T*norm_hat)
    x61 = np.einsum('ab,a->b', x57, law_vo)
    x62 = np.einsum('ab,a->b', x59, law_vv)
    residual_zeta = np.real(x3*T + zeta - x61 - x62 - x26*T*norm_hat)
    s.update(residual_adjoint=residual_adjoint, residual_Q1=residual_Q1, residual_T=residual_T,
        residual_V1=residual_V1, residual_norm=residual_norm, residual_psi=residual_psi, residual_zeta=residual_zeta)


def free_energy(s):
    """The free energy, stored as such."""
    (Mx, Q1, Q1_hat, Q2, Q2_hat, Sigma, Sx, T, V1, V1_hat, V2, V2_hat, alpha, avg_M, beta, chi, inverse_dimension,
        law_nn, law_on, law_oo, law_tr, law_vn, law_vo, law_vv, m, norm, norm_hat, psi, psi_hat, weight, zeta,
        zeta_hat) = (s[name] for name in ('Mx', 'Q1', 'Q1_hat', 'Q2', 'Q2_hat', 'Sigma', 'Sx', 'T', 'V1', 'V1_hat',
        'V2', 'V2_hat', 'alpha', 'avg_M', 'beta', 'chi', 'inverse_dimension', 'law_nn', 'law_on', 'law_oo', 'law_tr',
        'law_vn', 'law_vo', 'law_vv', 'm', 'norm', 'norm_hat', 'psi', 'psi_hat', 'weight', 'zeta', 'zeta_hat'))
    x0 = np.dot(weight, avg_M)
    x1 = np.einsum('b->', Q2_hat*V2 - Q2*V2_hat)
    x2 = np.einsum('c,c,bca,bca->ab', T, norm_hat, Sx, law_nn)
    x3 = np.einsum('ab,b,b->a', x2, T, norm_hat)
    x4 = np.einsum('a->', x3)
    x5 = np.einsum('c,c,ca,bca->ab', T, norm_hat, law_on, Sx)
    x6 = np.einsum('ab,b,b,ba->a', x5, T, psi_hat, Sigma)
    x7 = np.einsum('a->', x6)
    x8 = np.einsum('c,c,ca,bca->ab', T, norm_hat, law_vn, Sx)
    x9 = np.einsum('ab,b,b,ba->a', x8, T, zeta_hat, Sigma)
    x10 = np.einsum('a->', x9)
    x11 = np.einsum('c,c,ca,bca->ab', T, psi_hat, Sigma, Sx)
    x12 = np.einsum('ab,b,b,ba->a', x11, T, norm_hat, law_on)
    x13 = np.einsum('a->', x12)
    x14 = np.einsum('c,c,ca,bca->ab', T, zeta_hat, Sigma, Sx)
    x15 = np.einsum('ab,b,b,ba->a', x14, T, norm_hat, law_vn)
    x16 = np.einsum('a->', x15)
    x17 = np.einsum('bc->c', Q1_hat*V1 - Q1*V1_hat)
    x18 = np.einsum('c->', x17)
    x19 = np.einsum('b->', norm*norm_hat + psi*psi_hat + zeta*zeta_hat)
    x20 = np.einsum('b,b,b,ba->a', T, norm_hat, psi_hat, law_on)
    x21 = np.einsum('a->', x20)
    x22 = np.einsum('b,b,b,ba->a', T, norm_hat, zeta_hat, law_vn)
    x23 = np.einsum('a->', x22)
    x24 = np.einsum('c,bca->ab', psi_hat, Mx)
    x25 = np.einsum('ab,b->a', x24, psi_hat)
    x26 = np.einsum('a,a->', x25, law_oo)
    x27 = np.einsum('ab,b->a', x24, zeta_hat)
    x28 = np.einsum('a,a->', x27, law_vo)
    x29 = np.einsum('c,bca->ab', zeta_hat, Mx)
    x30 = np.einsum('ab,b->a', x29, psi_hat)
    x31 = np.einsum('a,a->', x30, law_vo)
    x32 = np.einsum('ab,b->a', x29, zeta_hat)
    x33 = np.einsum('a,a->', x32, law_vv)
    x34 = np.einsum('a,a,a->', norm_hat**2, T, chi)
    x35 = np.einsum('b,c,bc->c', zeta, zeta, V1_hat)
    x36 = np.einsum('c->', x35)
    x37 = np.einsum('bc,bca->ab', Q1_hat, Mx)
    x38 = np.einsum('ab->a', x37)
    x39 = np.einsum('a,a->', x38, law_tr)
    x40 = np.einsum('a,a->', Q2_hat, T)
    x41 = 0.5*np.einsum('b,b->', 1.0/T, m**2)
    free_energy = np.real(alpha*x0 + beta*(0.5*x1 + 0.5*x4 + 0.5*x7 + 0.5*x10 + 0.5*x13 + 0.5*x16 + 0.5*x18 + x19 - x21
        - x23 - 0.5*x26 - 0.5*x28 - 0.5*x31 - 0.5*x33 - 0.5*x34 - 0.5*x36 - 0.5*(x39 + x40)/beta)
        + inverse_dimension*beta*x41)
    s.update(free_energy=free_energy)


EQUATIONS = """
V := sum(mu2sq[b]*V2[b], b) + sum(sum(mu1[b]*mu1[c]*V1[b, c], b), c)
slope := sum(mu1[b]*psi[b], b)
mean := sum(kappa*mu1[b]*zeta[b] + mu0[b]*m[b] + mu_c[b]*norm[b], b)
Delta := -slope**2 + sum(mu2sq[b]*Q2[b], b) + sum(sum(mu1[b]*mu1[c]*Q1[b, c], b), c)
Q2[b] = adjoint[b]  # d/dV2_hat
V2[b] = T[b]/beta  # d/dQ2_hat
norm_hat[b] = alpha*E(avg_g*mu_c[b])/beta  # d/dnorm
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
    - sum(sum(sum(Sx[b, d, a]*T[d]*law_nn[c, d, a]*norm_hat[d], d)*Sx[b, c, a]*T[c]*norm_hat[c], c)*Sigma[b, a], a)
    - sum(sum(Sigma[a, c]*Sigma[b, c]*Sx[a, b, c]**2*law_tr[c], c)*adjoint[a], a)
    + 2*sum(sum(Sigma[c, a]*Sx[b, c, a]*T[c]*psi_hat[c], c)*law_on[b, a], a)*norm_hat[b]
    + 2*sum(sum(Sigma[c, a]*Sx[b, c, a]*T[c]*zeta_hat[c], c)*law_vn[b, a], a)*norm_hat[b]
    + 2*sum(sum(Sx[b, c, a]*T[c]*law_on[c, a]*norm_hat[c], c)*Sigma[b, a], a)*psi_hat[b]
    + 2*sum(sum(Sx[b, c, a]*T[c]*law_vn[c, a]*norm_hat[c], c)*Sigma[b, a], a)*zeta_hat[b]
    - sum(sum(Px[b, c, a]*psi_hat[c], c)**2*Sigma[b, a]*law_oo[a], a)
    - sum(sum(Px[b, c, a]*zeta_hat[c], c)**2*Sigma[b, a]*law_vv[a], a)
    - 2*sum(sum(Sigma[c, a]*Sx[b, c, a]*T[c]*psi_hat[c], c)*sum(Sx[b, c, a]*T[c]*law_on[c, a]*norm_hat[c], c)*Sigma[b,
    a], a) - 2*sum(sum(Sigma[c, a]*Sx[b, c, a]*T[c]*zeta_hat[c], c)*sum(Sx[b, c, a]*T[c]*law_vn[c, a]*norm_hat[c],
    c)*Sigma[b, a], a) - 2*sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[b, c, a]*zeta_hat[c], c)*Sigma[b, a]*law_vo[a], a)
    + 2*sum(sum(Sx[b, c, a]*T[c]*law_nn[b, c, a]*norm_hat[c], c), a)*norm_hat[b]
    - 2*sum(law_on[b, a], a)*norm_hat[b]*psi_hat[b] - 2*sum(law_vn[b, a], a)*norm_hat[b]*zeta_hat[b]
    - chi[b]*norm_hat[b]**2 - sum(sum(sum(Px[b, d, a]*Q1_hat[c, d], d)*Px[b, c, a], c)*Sigma[b, a]*law_tr[a], a)/beta
    - Q2_hat[b]/beta)
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b]  # d/dm
# d/dV1_hat
Q1[b, c] = (sum(sum(Px[a, b, d]*Px[a, c, d]*Sigma[a, d]*law_tr[d], d)*adjoint[a], a)
    + sum(sum(Px[d, b, a]*Sigma[d, a]*T[d]*psi_hat[d], d)*sum(Px[d, c, a]*T[d]*law_on[d, a]*norm_hat[d], d), a)
    + sum(sum(Px[d, b, a]*Sigma[d, a]*T[d]*zeta_hat[d], d)*sum(Px[d, c, a]*T[d]*law_vn[d, a]*norm_hat[d], d), a)
    + sum(sum(Px[d, b, a]*T[d]*law_on[d, a]*norm_hat[d], d)*sum(Px[d, c, a]*Sigma[d, a]*T[d]*psi_hat[d], d), a)
    + sum(sum(Px[d, b, a]*T[d]*law_vn[d, a]*norm_hat[d], d)*sum(Px[d, c, a]*Sigma[d, a]*T[d]*zeta_hat[d], d), a)
    + sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_oo[a], a)
    + sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vo[a], a)
    + sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_vo[a], a)
    + sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vv[a], a)
    + sum(sum(sum(Px[e, c, a]*T[e]*law_nn[d, e, a]*norm_hat[e], e)*Px[d, b, a]*T[d]*norm_hat[d], d), a)
    - zeta[b]*zeta[c] + sum(sum(sum(Mx[c, e, a]*Q1_hat[d, e], e)*Mx[b, d, a], d)*law_tr[a], a)/beta)
T[b] = beta*fraction[b]/(ridge + sum(Sigma[b, a]*Sx[b, b, a]*law_tr[a], a) + V2_hat[b])  # dL/dT
V1[b, c] = sum(Mx[b, c, a]*law_tr[a], a)/beta  # d/dQ1_hat
# d/dnorm_hat
norm[b] = (-sum(sum(Sigma[c, a]*Sx[b, c, a]*T[c]*psi_hat[c], c)*law_on[b, a], a)*T[b]
    - sum(sum(Sigma[c, a]*Sx[b, c, a]*T[c]*zeta_hat[c], c)*law_vn[b, a], a)*T[b]
    - sum(sum(Sx[b, c, a]*T[c]*law_nn[b, c, a]*norm_hat[c], c), a)*T[b] + sum(law_on[b, a], a)*T[b]*psi_hat[b]
    + sum(law_vn[b, a], a)*T[b]*zeta_hat[b] + T[b]*chi[b]*norm_hat[b])
# d/dpsi_hat
psi[b] = (sum(sum(Mx[b, c, a]*psi_hat[c], c)*law_oo[a], a) + sum(sum(Mx[b, c, a]*zeta_hat[c], c)*law_vo[a], a)
    - sum(sum(Sx[b, c, a]*T[c]*law_on[c, a]*norm_hat[c], c)*Sigma[b, a], a)*T[b]
    + sum(law_on[b, a], a)*T[b]*norm_hat[b])
# d/dzeta_hat
zeta[b] = (sum(sum(Mx[b, c, a]*psi_hat[c], c)*law_vo[a], a) + sum(sum(Mx[b, c, a]*zeta_hat[c], c)*law_vv[a], a)
    - sum(sum(Sx[b, c, a]*T[c]*law_vn[c, a]*norm_hat[c], c)*Sigma[b, a], a)*T[b]
    + sum(law_vn[b, a], a)*T[b]*norm_hat[b])
"""
COLUMNS = ('kappa', 'weight', 'nu0', 'nu1', 'nu2sq')
CERTIFICATE = Certificate(EQUATIONS, COLUMNS, odd=('avg_g', 'avg_tg'), features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
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
    - sum(sum(sum(Mx[b, c, a]*zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a], a)/2 - sum(T[a]*chi[a]*norm_hat[a]**2, a)/2
    + sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2 + sum(norm[b]*norm_hat[b] + psi[b]*psi_hat[b] + zeta[b]*zeta_hat[b],
    b) + sum(sum(sum(Sx[b, c, a]*T[c]*law_nn[b, c, a]*norm_hat[c], c)*T[b]*norm_hat[b], b), a)/2
    - sum(sum(V1_hat[b, c]*zeta[b]*zeta[c], b), c)/2 + sum(sum(sum(Sigma[c, a]*Sx[b, c, a]*T[c]*psi_hat[c],
    c)*T[b]*law_on[b, a]*norm_hat[b], b), a)/2 + sum(sum(sum(Sigma[c, a]*Sx[b, c, a]*T[c]*zeta_hat[c],
    c)*T[b]*law_vn[b, a]*norm_hat[b], b), a)/2 + sum(sum(sum(Sx[b, c, a]*T[c]*law_on[c, a]*norm_hat[c], c)*Sigma[b,
    a]*T[b]*psi_hat[b], b), a)/2 + sum(sum(sum(Sx[b, c, a]*T[c]*law_vn[c, a]*norm_hat[c], c)*Sigma[b,
    a]*T[b]*zeta_hat[b], b), a)/2 - sum(sum(T[b]*law_on[b, a]*norm_hat[b]*psi_hat[b], b), a)
    - sum(sum(T[b]*law_vn[b, a]*norm_hat[b]*zeta_hat[b], b), a)
    + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b), c)/2
    - (sum(sum(sum(Mx[b, c, a]*Q1_hat[b, c], c), b)*law_tr[a], a) + sum(Q2_hat[a]*T[a], a))/(2*beta)))
"""
tangents = TangentEquations(Text(EQUATIONS, ('adjoint', 'm', 'Q1', 'T', 'V1', 'norm', 'psi', 'zeta'),
    ('Sigma', 'law_tr', 'law_vv', 'law_vo', 'law_oo', 'chi', 'law_vn', 'law_on', 'law_nn'), RULES, OBSERVABLES),
    COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
