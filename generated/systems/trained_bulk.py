"""Equations of a trained bulk, any number of blocks  [THEORY section 5].

Generated; do not edit. Signature 41c83d3f932d6385.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate, Definitions

SIGNATURE = "41c83d3f932d63850ffc8bbcc10dfa505123dd9f2fab7bd5afcefdcf5eda1143"


UNKNOWNS = ('adjoint', 'Q1', 'T', 'V1', 'psi', 'zeta')
INPUTS = ('Q1_hat', 'Q2_hat', 'V1_hat', 'V2_hat', 'average_zeta_hat', 'psi_hat')
GIVEN = ('Sigma', 'law_tr', 'law_vv', 'law_vo', 'law_oo')


def chain(s):
    """Everything that follows from unknowns and conjugates, stored beside them."""
    Sigma = s["Sigma"]
    T = s["T"]
    V1_hat = s["V1_hat"]
    average_zeta_hat = s["average_zeta_hat"]
    identity = s["identity"]
    zeta = s["zeta"]
    Px = np.moveaxis(np.linalg.inv(np.moveaxis(np.einsum('c,cx,bc->bcx', T, Sigma, V1_hat) + identity[:, :, None], -1,
        0)), 0, -1)
    s["Px"] = Px
    x0 = np.einsum('a,ab->b', zeta, V1_hat)
    zeta_hat = np.real(x0 + average_zeta_hat)
    s["zeta_hat"] = zeta_hat
    Mx = np.einsum('b,bx,bcx->bcx', T, Sigma, Px)
    s["Mx"] = Mx
    x1 = np.einsum('ec->ce', V1_hat)
    x2 = np.einsum('ce,bex->bcx', x1, Px)
    Sx = x2
    s["Sx"] = Sx


def residual(s):
    """The residuals of the unknowns, stored beside them."""
    Mx = s["Mx"]
    Px = s["Px"]
    Q1 = s["Q1"]
    Q1_hat = s["Q1_hat"]
    Q2_hat = s["Q2_hat"]
    Sigma = s["Sigma"]
    Sx = s["Sx"]
    T = s["T"]
    V1 = s["V1"]
    V2_hat = s["V2_hat"]
    adjoint = s["adjoint"]
    beta = s["beta"]
    fraction = s["fraction"]
    inverse_dimension = s["inverse_dimension"]
    law_oo = s["law_oo"]
    law_tr = s["law_tr"]
    law_vo = s["law_vo"]
    law_vv = s["law_vv"]
    m = s["m"]
    psi = s["psi"]
    psi_hat = s["psi_hat"]
    ridge = s["ridge"]
    zeta = s["zeta"]
    zeta_hat = s["zeta_hat"]
    x0 = np.einsum('abc,c,ac,bc->ab', Sx**2, law_tr, Sigma, Sigma)
    x1 = np.einsum('ab,a->b', x0, adjoint)
    x2 = np.einsum('bca->abc', Px)
    x3 = np.einsum('c,abc->ab', psi_hat, x2)
    x4 = np.einsum('ba->ab', Sigma)
    x5 = np.einsum('ab,a,ab->b', x3**2, law_oo, x4)
    x6 = np.einsum('c,abc->ab', zeta_hat, x2)
    x7 = np.einsum('ab,a,ab->b', x6**2, law_vv, x4)
    x8 = np.einsum('ab,ab,a,ab->b', x3, x6, law_vo, x4)
    x9 = np.einsum('bda->abd', Px)
    x10 = np.einsum('cd,abd->abc', Q1_hat, x9)
    x11 = np.einsum('abc,abc->ab', x10, x2)
    x12 = np.einsum('ab,a,ab->b', x11, law_tr, x4)
    residual_adjoint = np.real(beta*adjoint*fraction/T**2 - x1 - x5 - x7 - 2.0*x8 - 1.0/beta*x12 - 1.0/beta*Q2_hat
        - inverse_dimension*(m**2)/T**2)
    s["residual_adjoint"] = residual_adjoint
    x13 = np.einsum('d,ad,abd,acd->abc', law_tr, Sigma, Px, Px)
    x14 = np.einsum('abc,a->bc', x13, adjoint)
    x15 = np.einsum('bda->abd', Mx)
    x16 = np.einsum('d,abd->ab', psi_hat, x15)
    x17 = np.einsum('cda->acd', Mx)
    x18 = np.einsum('d,acd->ac', psi_hat, x17)
    x19 = np.einsum('ab,ac,a->bc', x16, x18, law_oo)
    x20 = np.einsum('d,acd->ac', zeta_hat, x17)
    x21 = np.einsum('ab,ac,a->bc', x16, x20, law_vo)
    x22 = np.einsum('d,abd->ab', zeta_hat, x15)
    x23 = np.einsum('ac,ab,a->bc', x18, x22, law_vo)
    x24 = np.einsum('ab,ac,a->bc', x22, x20, law_vv)
    x25 = np.einsum('cea->ace', Mx)
    x26 = np.einsum('de,ace->acd', Q1_hat, x25)
    x27 = np.einsum('acd,abd->abc', x26, x15)
    x28 = np.einsum('abc,a->bc', x27, law_tr)
    residual_Q1 = np.real(np.einsum('b,c->bc', zeta, zeta) + Q1 - x14 - x19 - x21 - x23 - x24 - 1.0/beta*x28)
    s["residual_Q1"] = residual_Q1
    x29 = np.einsum('bba->ab', Sx)
    x30 = np.einsum('a,ab,ab->b', law_tr, x4, x29)
    residual_T = np.real(T - beta*fraction/(ridge + x30 + V2_hat))
    s["residual_T"] = residual_T
    x31 = np.einsum('bca->abc', Mx)
    x32 = np.einsum('a,abc->bc', law_tr, x31)
    residual_V1 = np.real(V1 - 1.0/beta*x32)
    s["residual_V1"] = residual_V1
    x33 = np.einsum('c,abc->ab', psi_hat, x31)
    x34 = np.einsum('ab,a->b', x33, law_oo)
    x35 = np.einsum('c,abc->ab', zeta_hat, x31)
    x36 = np.einsum('ab,a->b', x35, law_vo)
    residual_psi = np.real(psi - x34 - x36)
    s["residual_psi"] = residual_psi
    x37 = np.einsum('ab,a->b', x33, law_vo)
    x38 = np.einsum('ab,a->b', x35, law_vv)
    residual_zeta = np.real(zeta - x37 - x38)
    s["residual_zeta"] = residual_zeta


def tangent(s):
    """Tangents of chain and residuals along those of unknowns and conjugates."""
    Mx = s["Mx"]
    Px = s["Px"]
    Q1_hat = s["Q1_hat"]
    Sigma = s["Sigma"]
    Sx = s["Sx"]
    T = s["T"]
    V1_hat = s["V1_hat"]
    V2_hat = s["V2_hat"]
    adjoint = s["adjoint"]
    beta = s["beta"]
    d_Q1 = s["d_Q1"]
    d_Q1_hat = s["d_Q1_hat"]
    d_Q2_hat = s["d_Q2_hat"]
    d_T = s["d_T"]
    d_V1 = s["d_V1"]
    d_V1_hat = s["d_V1_hat"]
    d_V2_hat = s["d_V2_hat"]
    d_adjoint = s["d_adjoint"]
    d_average_zeta_hat = s["d_average_zeta_hat"]
    d_m = s["d_m"]
    d_psi = s["d_psi"]
    d_psi_hat = s["d_psi_hat"]
    d_zeta = s["d_zeta"]
    fraction = s["fraction"]
    inverse_dimension = s["inverse_dimension"]
    law_oo = s["law_oo"]
    law_tr = s["law_tr"]
    law_vo = s["law_vo"]
    law_vv = s["law_vv"]
    m = s["m"]
    psi_hat = s["psi_hat"]
    ridge = s["ridge"]
    zeta = s["zeta"]
    zeta_hat = s["zeta_hat"]
    x0 = np.einsum('ad,bdx->abx', V1_hat, Px)
    x1 = np.einsum('abx,a,ax,acx->bcx', x0, d_T, Sigma, Px)
    x2 = np.einsum('ad,bdx->abx', d_V1_hat, Px)
    x3 = np.einsum('abx,a,ax,acx->bcx', x2, T, Sigma, Px)
    d_Px = -x1 - x3
    s["d_Px"] = d_Px
    x4 = np.einsum('a,ab->b', d_zeta, V1_hat)
    x5 = np.einsum('a,ab->b', zeta, d_V1_hat)
    d_zeta_hat = np.real(x4 + x5 + d_average_zeta_hat)
    s["d_zeta_hat"] = d_zeta_hat
    x6 = np.einsum('a,ax,abx,acx->bcx', d_T, Sigma, Px, Px)
    x7 = np.einsum('ad,bdx->abx', d_V1_hat, Mx)
    x8 = np.einsum('abx,acx->bcx', x7, Mx)
    d_Mx = x6 - x8
    s["d_Mx"] = d_Mx
    x9 = np.einsum('cax->acx', Px)
    x10 = np.einsum('abx,acx->bcx', x2, x9)
    x11 = np.einsum('a,ax,abx,acx->bcx', d_T, Sigma, Sx, Sx)
    d_Sx = x10 - x11
    s["d_Sx"] = d_Sx
    x12 = np.einsum('abc,c,ac,bc->ab', Sx**2, law_tr, Sigma, Sigma)
    x13 = np.einsum('ab,a->b', x12, d_adjoint)
    x14 = np.einsum('c,ac,bc,abc,abc->ab', law_tr, Sigma, Sigma, Sx, d_Sx)
    x15 = np.einsum('ab,a->b', x14, adjoint)
    x16 = np.einsum('bca->abc', Px)
    x17 = np.einsum('c,abc->ab', d_psi_hat, x16)
    x18 = np.einsum('c,abc->ab', psi_hat, x16)
    x19 = np.einsum('ba->ab', Sigma)
    x20 = np.einsum('ab,ab,a,ab->b', x17, x18, law_oo, x19)
    x21 = np.einsum('c,abc->ab', zeta_hat, x16)
    x22 = np.einsum('ab,ab,a,ab->b', x17, x21, law_vo, x19)
    x23 = np.einsum('c,abc->ab', d_zeta_hat, x16)
    x24 = np.einsum('ab,ab,a,ab->b', x23, x18, law_vo, x19)
    x25 = np.einsum('ab,ab,a,ab->b', x23, x21, law_vv, x19)
    x26 = np.einsum('bca->abc', d_Px)
    x27 = np.einsum('c,abc->ab', psi_hat, x26)
    x28 = np.einsum('ab,ab,a,ab->b', x18, x27, law_oo, x19)
    x29 = np.einsum('c,abc->ab', zeta_hat, x26)
    x30 = np.einsum('ab,ab,a,ab->b', x18, x29, law_vo, x19)
    x31 = np.einsum('ab,ab,a,ab->b', x27, x21, law_vo, x19)
    x32 = np.einsum('ab,ab,a,ab->b', x21, x29, law_vv, x19)
    x33 = np.einsum('bda->abd', Px)
    x34 = np.einsum('cd,abd->abc', Q1_hat, x33)
    x35 = np.einsum('abc,abc->ab', x34, x26)
    x36 = np.einsum('ab,a,ab->b', x35, law_tr, x19)
    x37 = np.einsum('bda->abd', d_Px)
    x38 = np.einsum('cd,abd->abc', Q1_hat, x37)
    x39 = np.einsum('abc,abc->ab', x38, x16)
    x40 = np.einsum('ab,a,ab->b', x39, law_tr, x19)
    x41 = np.einsum('cd,abd->abc', d_Q1_hat, x33)
    x42 = np.einsum('abc,abc->ab', x41, x16)
    x43 = np.einsum('ab,a,ab->b', x42, law_tr, x19)
    d_residual_adjoint = np.real(beta*d_adjoint*fraction/T**2 + 2.0*inverse_dimension*(m**2)*d_T/T**3 - x13 - 2.0*x15
        - 2.0*x20 - 2.0*x22 - 2.0*x24 - 2.0*x25 - 2.0*x28 - 2.0*x30 - 2.0*x31 - 2.0*x32 - 1.0/beta*(x36 + x40 + x43)
        - 1.0/beta*d_Q2_hat - 2.0*inverse_dimension*d_m*m/T**2 - 2.0*beta*adjoint*d_T*fraction/T**3)
    s["d_residual_adjoint"] = d_residual_adjoint
    x44 = np.einsum('d,ad,abd,acd->abc', law_tr, Sigma, Px, Px)
    x45 = np.einsum('abc,a->bc', x44, d_adjoint)
    x46 = np.einsum('d,ad,abd,acd->abc', law_tr, Sigma, Px, d_Px)
    x47 = np.einsum('abc,a->bc', x46, adjoint)
    x48 = np.einsum('d,ad,acd,abd->abc', law_tr, Sigma, Px, d_Px)
    x49 = np.einsum('abc,a->bc', x48, adjoint)
    x50 = np.einsum('bda->abd', Mx)
    x51 = np.einsum('d,abd->ab', d_psi_hat, x50)
    x52 = np.einsum('cda->acd', Mx)
    x53 = np.einsum('d,acd->ac', psi_hat, x52)
    x54 = np.einsum('ab,ac,a->bc', x51, x53, law_oo)
    x55 = np.einsum('d,acd->ac', zeta_hat, x52)
    x56 = np.einsum('ab,ac,a->bc', x51, x55, law_vo)
    x57 = np.einsum('d,acd->ac', d_psi_hat, x52)
    x58 = np.einsum('d,abd->ab', psi_hat, x50)
    x59 = np.einsum('ac,ab,a->bc', x57, x58, law_oo)
    x60 = np.einsum('d,abd->ab', zeta_hat, x50)
    x61 = np.einsum('ac,ab,a->bc', x57, x60, law_vo)
    x62 = np.einsum('d,abd->ab', d_zeta_hat, x50)
    x63 = np.einsum('ab,ac,a->bc', x62, x53, law_vo)
    x64 = np.einsum('ab,ac,a->bc', x62, x55, law_vv)
    x65 = np.einsum('d,acd->ac', d_zeta_hat, x52)
    x66 = np.einsum('ac,ab,a->bc', x65, x58, law_vo)
    x67 = np.einsum('ac,ab,a->bc', x65, x60, law_vv)
    x68 = np.einsum('cda->acd', d_Mx)
    x69 = np.einsum('d,acd->ac', psi_hat, x68)
    x70 = np.einsum('ab,ac,a->bc', x58, x69, law_oo)
    x71 = np.einsum('d,acd->ac', zeta_hat, x68)
    x72 = np.einsum('ab,ac,a->bc', x58, x71, law_vo)
    x73 = np.einsum('bda->abd', d_Mx)
    x74 = np.einsum('d,abd->ab', psi_hat, x73)
    x75 = np.einsum('ac,ab,a->bc', x53, x74, law_oo)
    x76 = np.einsum('d,abd->ab', zeta_hat, x73)
    x77 = np.einsum('ac,ab,a->bc', x53, x76, law_vo)
    x78 = np.einsum('ab,ac,a->bc', x74, x55, law_vo)
    x79 = np.einsum('ac,ab,a->bc', x69, x60, law_vo)
    x80 = np.einsum('ab,ac,a->bc', x60, x71, law_vv)
    x81 = np.einsum('ac,ab,a->bc', x55, x76, law_vv)
    x82 = np.einsum('cea->ace', Mx)
    x83 = np.einsum('de,ace->acd', Q1_hat, x82)
    x84 = np.einsum('acd,abd->abc', x83, x73)
    x85 = np.einsum('abc,a->bc', x84, law_tr)
    x86 = np.einsum('cea->ace', d_Mx)
    x87 = np.einsum('de,ace->acd', Q1_hat, x86)
    x88 = np.einsum('acd,abd->abc', x87, x50)
    x89 = np.einsum('abc,a->bc', x88, law_tr)
    x90 = np.einsum('de,ace->acd', d_Q1_hat, x82)
    x91 = np.einsum('acd,abd->abc', x90, x50)
    x92 = np.einsum('abc,a->bc', x91, law_tr)
    d_residual_Q1 = np.real(np.einsum('b,c->bc', d_zeta, zeta) + np.einsum('c,b->bc', d_zeta, zeta) + d_Q1 - x45 - x47
        - x49 - x54 - x56 - x59 - x61 - x63 - x64 - x66 - x67 - x70 - x72 - x75 - x77 - x78 - x79 - x80 - x81
        - 1.0/beta*(x85 + x89 + x92))
    s["d_residual_Q1"] = d_residual_Q1
    x93 = np.einsum('bba->ab', Sx)
    x94 = np.einsum('a,ab,ab->b', law_tr, x19, x93)
    x95 = np.einsum('bba->ab', d_Sx)
    x96 = np.einsum('a,ab,ab->b', law_tr, x19, x95)
    d_residual_T = np.real(beta*(x96 + d_V2_hat)*fraction/(ridge + x94 + V2_hat)**2 + d_T)
    s["d_residual_T"] = d_residual_T
    x97 = np.einsum('bca->abc', d_Mx)
    x98 = np.einsum('a,abc->bc', law_tr, x97)
    d_residual_V1 = np.real(d_V1 - 1.0/beta*x98)
    s["d_residual_V1"] = d_residual_V1
    x99 = np.einsum('bca->abc', Mx)
    x100 = np.einsum('c,abc->ab', d_psi_hat, x99)
    x101 = np.einsum('ab,a->b', x100, law_oo)
    x102 = np.einsum('c,abc->ab', d_zeta_hat, x99)
    x103 = np.einsum('ab,a->b', x102, law_vo)
    x104 = np.einsum('c,abc->ab', psi_hat, x97)
    x105 = np.einsum('ab,a->b', x104, law_oo)
    x106 = np.einsum('c,abc->ab', zeta_hat, x97)
    x107 = np.einsum('ab,a->b', x106, law_vo)
    d_residual_psi = np.real(d_psi - x101 - x103 - x105 - x107)
    s["d_residual_psi"] = d_residual_psi
    x108 = np.einsum('ab,a->b', x100, law_vo)
    x109 = np.einsum('ab,a->b', x102, law_vv)
    x110 = np.einsum('ab,a->b', x104, law_vo)
    x111 = np.einsum('ab,a->b', x106, law_vv)
    d_residual_zeta = np.real(d_zeta - x108 - x109 - x110 - x111)
    s["d_residual_zeta"] = d_residual_zeta


def free_energy(s):
    """The free energy, stored as such."""
    Mx = s["Mx"]
    Q1 = s["Q1"]
    Q1_hat = s["Q1_hat"]
    Q2 = s["Q2"]
    Q2_hat = s["Q2_hat"]
    T = s["T"]
    V1 = s["V1"]
    V1_hat = s["V1_hat"]
    V2 = s["V2"]
    V2_hat = s["V2_hat"]
    alpha = s["alpha"]
    avg_M = s["avg_M"]
    beta = s["beta"]
    inverse_dimension = s["inverse_dimension"]
    law_oo = s["law_oo"]
    law_tr = s["law_tr"]
    law_vo = s["law_vo"]
    law_vv = s["law_vv"]
    m = s["m"]
    psi = s["psi"]
    psi_hat = s["psi_hat"]
    weight = s["weight"]
    zeta = s["zeta"]
    zeta_hat = s["zeta_hat"]
    x0 = np.einsum('b->', Q2_hat*V2 - Q2*V2_hat)
    x1 = np.einsum('bc->c', Q1_hat*V1 - Q1*V1_hat)
    x2 = np.einsum('c->', x1)
    x3 = np.einsum('b->', psi*psi_hat + zeta*zeta_hat)
    x4 = np.einsum('bca->abc', Mx)
    x5 = np.einsum('c,abc->ab', psi_hat, x4)
    x6 = np.einsum('ab,b->a', x5, psi_hat)
    x7 = np.einsum('a,a->', x6, law_oo)
    x8 = np.einsum('ab,b->a', x5, zeta_hat)
    x9 = np.einsum('a,a->', x8, law_vo)
    x10 = np.einsum('c,abc->ab', zeta_hat, x4)
    x11 = np.einsum('ab,b->a', x10, psi_hat)
    x12 = np.einsum('a,a->', x11, law_vo)
    x13 = np.einsum('ab,b->a', x10, zeta_hat)
    x14 = np.einsum('a,a->', x13, law_vv)
    x15 = np.einsum('b,c,bc->c', zeta, zeta, V1_hat)
    x16 = np.einsum('c->', x15)
    x17 = np.einsum('bc,abc->ab', Q1_hat, x4)
    x18 = np.einsum('ab->a', x17)
    x19 = np.einsum('a,a->', x18, law_tr)
    x20 = np.einsum('a,a->', Q2_hat, T)
    x21 = 0.5*np.einsum('b,b->', 1.0/T, m**2)
    free_energy = np.real(alpha*np.dot(weight, avg_M) + beta*(0.5*x0 + 0.5*x2 + x3 - 0.5*x7 - 0.5*x9 - 0.5*x12
        - 0.5*x14 - 0.5*x16 - 0.5*(x19 + x20)/beta) + inverse_dimension*beta*x21)
    s["free_energy"] = free_energy


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
0 = -delta[b, c] + sum((delta[c, e] + Sigma[c, x]*T[c]*V1_hat[e, c])*Px[b, e, x], e)  # Px
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
check = Certificate(EQUATIONS, ('kappa', 'weight', 'nu0', 'nu1', 'nu2sq'), odd=('avg_g', 'avg_tg')).check


TANGENTS = """
d_Q2[b] := d_adjoint[b]
d_slope := sum(d_mu1[a]*psi[a], a) + sum(mu1[a]*d_psi[a], a)
d_V2[b] := d_T[b]/beta - d_beta*T[b]/beta**2
d_mean := (kappa*sum(d_mu1[a]*zeta[a], a) + kappa*sum(mu1[a]*d_zeta[a], a) + sum(d_mu0[a]*m[a], a)
    + sum(mu0[a]*d_m[a], a))
d_Delta := (-2*d_slope*slope + sum(d_mu1[a]*sum(mu1[b]*Q1[a, b], b), a) + sum(d_mu2sq[a]*Q2[a], a)
    + sum(mu1[a]*sum(d_mu1[b]*Q1[a, b], b), a) + sum(mu1[a]*sum(mu1[b]*d_Q1[a, b], b), a) + sum(mu2sq[a]*d_Q2[a], a))
d_V := (sum(d_mu1[a]*sum(mu1[b]*V1[a, b], b), a) + sum(d_mu2sq[a]*V2[a], a) + sum(mu1[a]*sum(d_mu1[b]*V1[a, b], b), a)
    + sum(mu1[a]*sum(mu1[b]*d_V1[a, b], b), a) + sum(mu2sq[a]*d_V2[a], a))
d_avg_M := -avg_g*d_mean - avg_gg*d_V/2 + avg_h*d_Delta/2 - avg_tg*d_slope
d_avg_g := -avg_gh*d_V - avg_h*d_mean - avg_hx*d_Delta/2 - avg_th*d_slope
d_avg_gg := -2*avg_ggh*d_V - 2*avg_gh*d_mean - avg_ghx*d_Delta - 2*avg_tgh*d_slope
d_avg_h := avg_ghx*d_V + avg_hx*d_mean + avg_hxx*d_Delta/2 + avg_thx*d_slope
d_avg_tg := -avg_tgh*d_V - avg_th*d_mean - avg_thx*d_Delta/2 - avg_tth*d_slope
d_Q1_hat[b, c] := (alpha*E(avg_gg*d_mu1[b]*mu1[c] + avg_gg*d_mu1[c]*mu1[b] + d_avg_gg*mu1[b]*mu1[c])/beta
    - alpha*d_beta*E(avg_gg*mu1[b]*mu1[c])/beta**2 + d_alpha*E(avg_gg*mu1[b]*mu1[c])/beta)
d_Q2_hat[b] := (alpha*E(avg_gg*d_mu2sq[b] + d_avg_gg*mu2sq[b])/beta - alpha*d_beta*E(avg_gg*mu2sq[b])/beta**2
    + d_alpha*E(avg_gg*mu2sq[b])/beta)
d_V1_hat[b, c] := (alpha*E(avg_h*d_mu1[b]*mu1[c] + avg_h*d_mu1[c]*mu1[b] + d_avg_h*mu1[b]*mu1[c])/beta
    - alpha*d_beta*E(avg_h*mu1[b]*mu1[c])/beta**2 + d_alpha*E(avg_h*mu1[b]*mu1[c])/beta)
d_V2_hat[b] := (alpha*E(avg_h*d_mu2sq[b] + d_avg_h*mu2sq[b])/beta - alpha*d_beta*E(avg_h*mu2sq[b])/beta**2
    + d_alpha*E(avg_h*mu2sq[b])/beta)
d_psi_hat[b] := (alpha*E((avg_h*slope + avg_tg)*d_mu1[b] + (avg_h*d_slope + d_avg_h*slope + d_avg_tg)*mu1[b])/beta
    - alpha*d_beta*E((avg_h*slope + avg_tg)*mu1[b])/beta**2 + d_alpha*E((avg_h*slope + avg_tg)*mu1[b])/beta)
d_Px[b, c, x] := (-sum(sum(Px[b, d, x]*V1_hat[a, d], d)*Px[a, c, x]*Sigma[a, x]*d_T[a], a)
    - sum(sum(Px[b, d, x]*V1_hat[a, d], d)*Px[a, c, x]*T[a]*d_Sigma[a, x], a)
    - sum(sum(Px[b, d, x]*d_V1_hat[a, d], d)*Px[a, c, x]*Sigma[a, x]*T[a], a))
d_zeta_hat[b] := (alpha*E(kappa*(avg_g*d_mu1[b] + d_avg_g*mu1[b]))/beta - alpha*d_beta*E(kappa*avg_g*mu1[b])/beta**2
    + sum(V1_hat[a, b]*d_zeta[a], a) + sum(d_V1_hat[a, b]*zeta[a], a) + d_alpha*E(kappa*avg_g*mu1[b])/beta)
d_Mx[b, c, x] := (-sum(sum(Mx[b, d, x]*d_V1_hat[a, d], d)*Mx[a, c, x], a)
    + sum(Px[a, b, x]*Px[a, c, x]*Sigma[a, x]*d_T[a], a) + sum(Px[a, b, x]*Px[a, c, x]*T[a]*d_Sigma[a, x], a))
d_Sx[b, c, x] := (sum(sum(Px[b, d, x]*d_V1_hat[a, d], d)*Px[c, a, x], a)
    - sum(Sigma[a, x]*Sx[a, b, x]*Sx[a, c, x]*d_T[a], a) - sum(Sx[a, b, x]*Sx[a, c, x]*T[a]*d_Sigma[a, x], a))
d_residual_adjoint[b] := (beta*d_adjoint[b]*fraction[b]/T[b]**2 - 2*beta*adjoint[b]*d_T[b]*fraction[b]/T[b]**3
    + d_beta*adjoint[b]*fraction[b]/T[b]**2 - 2*inverse_dimension*d_m[b]*m[b]/T[b]**2
    + 2*inverse_dimension*d_T[b]*m[b]**2/T[b]**3 - sum(sum(Sigma[a, c]*Sigma[b, c]*Sx[a, b, c]**2*law_tr[c],
    c)*d_adjoint[a], a) - sum(sum(Sigma[a, c]*Sx[a, b, c]**2*d_Sigma[b, c]*law_tr[c], c)*adjoint[a], a)
    - sum(sum(Sigma[b, c]*Sx[a, b, c]**2*d_Sigma[a, c]*law_tr[c], c)*adjoint[a], a)
    - 2*sum(sum(Sigma[a, c]*Sigma[b, c]*Sx[a, b, c]*d_Sx[a, b, c]*law_tr[c], c)*adjoint[a], a)
    - sum(sum(Px[b, c, a]*psi_hat[c], c)**2*d_Sigma[b, a]*law_oo[a], a)
    - sum(sum(Px[b, c, a]*zeta_hat[c], c)**2*d_Sigma[b, a]*law_vv[a], a)
    - 2*sum(sum(Px[b, c, a]*d_psi_hat[c], c)*sum(Px[b, c, a]*psi_hat[c], c)*Sigma[b, a]*law_oo[a], a)
    - 2*sum(sum(Px[b, c, a]*d_psi_hat[c], c)*sum(Px[b, c, a]*zeta_hat[c], c)*Sigma[b, a]*law_vo[a], a)
    - 2*sum(sum(Px[b, c, a]*d_zeta_hat[c], c)*sum(Px[b, c, a]*psi_hat[c], c)*Sigma[b, a]*law_vo[a], a)
    - 2*sum(sum(Px[b, c, a]*d_zeta_hat[c], c)*sum(Px[b, c, a]*zeta_hat[c], c)*Sigma[b, a]*law_vv[a], a)
    - 2*sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[b, c, a]*zeta_hat[c], c)*d_Sigma[b, a]*law_vo[a], a)
    - 2*sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(d_Px[b, c, a]*psi_hat[c], c)*Sigma[b, a]*law_oo[a], a)
    - 2*sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(d_Px[b, c, a]*zeta_hat[c], c)*Sigma[b, a]*law_vo[a], a)
    - 2*sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(d_Px[b, c, a]*psi_hat[c], c)*Sigma[b, a]*law_vo[a], a)
    - 2*sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(d_Px[b, c, a]*zeta_hat[c], c)*Sigma[b, a]*law_vv[a], a)
    - (sum(sum(sum(Px[b, d, a]*Q1_hat[c, d], d)*Px[b, c, a], c)*d_Sigma[b, a]*law_tr[a], a)
    + sum(sum(sum(Px[b, d, a]*Q1_hat[c, d], d)*d_Px[b, c, a], c)*Sigma[b, a]*law_tr[a], a)
    + sum(sum(sum(Px[b, d, a]*d_Q1_hat[c, d], d)*Px[b, c, a], c)*Sigma[b, a]*law_tr[a], a)
    + sum(sum(sum(Q1_hat[c, d]*d_Px[b, d, a], d)*Px[b, c, a], c)*Sigma[b, a]*law_tr[a], a))/beta - d_Q2_hat[b]/beta
    + d_beta*sum(sum(sum(Px[b, d, a]*Q1_hat[c, d], d)*Px[b, c, a], c)*Sigma[b, a]*law_tr[a], a)/beta**2
    + d_beta*Q2_hat[b]/beta**2)
d_residual_m[b] := (-alpha*E(avg_g*d_mu0[b] + d_avg_g*mu0[b]) + beta*inverse_dimension*d_m[b]/T[b]
    - beta*inverse_dimension*d_T[b]*m[b]/T[b]**2 - d_alpha*E(avg_g*mu0[b]) + d_beta*inverse_dimension*m[b]/T[b])
d_residual_Q1[b, c] := (-sum(sum(Px[a, b, d]*Px[a, c, d]*Sigma[a, d]*law_tr[d], d)*d_adjoint[a], a)
    - sum(sum(Px[a, b, d]*Px[a, c, d]*d_Sigma[a, d]*law_tr[d], d)*adjoint[a], a)
    - sum(sum(Px[a, b, d]*Sigma[a, d]*d_Px[a, c, d]*law_tr[d], d)*adjoint[a], a)
    - sum(sum(Px[a, c, d]*Sigma[a, d]*d_Px[a, b, d]*law_tr[d], d)*adjoint[a], a)
    - sum(sum(Mx[b, d, a]*d_psi_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_oo[a], a)
    - sum(sum(Mx[b, d, a]*d_psi_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vo[a], a)
    - sum(sum(Mx[b, d, a]*d_zeta_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_vo[a], a)
    - sum(sum(Mx[b, d, a]*d_zeta_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vv[a], a)
    - sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*d_psi_hat[d], d)*law_oo[a], a)
    - sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*d_zeta_hat[d], d)*law_vo[a], a)
    - sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(d_Mx[c, d, a]*psi_hat[d], d)*law_oo[a], a)
    - sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(d_Mx[c, d, a]*zeta_hat[d], d)*law_vo[a], a)
    - sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*d_psi_hat[d], d)*law_vo[a], a)
    - sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*d_zeta_hat[d], d)*law_vv[a], a)
    - sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(d_Mx[c, d, a]*psi_hat[d], d)*law_vo[a], a)
    - sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(d_Mx[c, d, a]*zeta_hat[d], d)*law_vv[a], a)
    - sum(sum(Mx[c, d, a]*psi_hat[d], d)*sum(d_Mx[b, d, a]*psi_hat[d], d)*law_oo[a], a)
    - sum(sum(Mx[c, d, a]*psi_hat[d], d)*sum(d_Mx[b, d, a]*zeta_hat[d], d)*law_vo[a], a)
    - sum(sum(Mx[c, d, a]*zeta_hat[d], d)*sum(d_Mx[b, d, a]*psi_hat[d], d)*law_vo[a], a)
    - sum(sum(Mx[c, d, a]*zeta_hat[d], d)*sum(d_Mx[b, d, a]*zeta_hat[d], d)*law_vv[a], a) + d_Q1[b, c]
    + d_zeta[b]*zeta[c] + d_zeta[c]*zeta[b] - (sum(sum(sum(Mx[c, e, a]*Q1_hat[d, e], e)*d_Mx[b, d, a], d)*law_tr[a], a)
    + sum(sum(sum(Mx[c, e, a]*d_Q1_hat[d, e], e)*Mx[b, d, a], d)*law_tr[a], a)
    + sum(sum(sum(Q1_hat[d, e]*d_Mx[c, e, a], e)*Mx[b, d, a], d)*law_tr[a], a))/beta
    + d_beta*sum(sum(sum(Mx[c, e, a]*Q1_hat[d, e], e)*Mx[b, d, a], d)*law_tr[a], a)/beta**2)
d_residual_T[b] := (beta*(d_ridge + sum(Sigma[b, a]*d_Sx[b, b, a]*law_tr[a], a)
    + sum(Sx[b, b, a]*d_Sigma[b, a]*law_tr[a], a) + d_V2_hat[b])*fraction[b]/(ridge
    + sum(Sigma[b, a]*Sx[b, b, a]*law_tr[a], a) + V2_hat[b])**2
    - d_beta*fraction[b]/(ridge + sum(Sigma[b, a]*Sx[b, b, a]*law_tr[a], a) + V2_hat[b]) + d_T[b])
d_residual_V1[b, c] := d_V1[b, c] - sum(d_Mx[b, c, a]*law_tr[a], a)/beta + d_beta*sum(Mx[b, c, a]*law_tr[a], a)/beta**2
d_residual_psi[b] := (-sum(sum(Mx[b, c, a]*d_psi_hat[c], c)*law_oo[a], a)
    - sum(sum(Mx[b, c, a]*d_zeta_hat[c], c)*law_vo[a], a) - sum(sum(d_Mx[b, c, a]*psi_hat[c], c)*law_oo[a], a)
    - sum(sum(d_Mx[b, c, a]*zeta_hat[c], c)*law_vo[a], a) + d_psi[b])
d_residual_zeta[b] := (-sum(sum(Mx[b, c, a]*d_psi_hat[c], c)*law_vo[a], a)
    - sum(sum(Mx[b, c, a]*d_zeta_hat[c], c)*law_vv[a], a) - sum(sum(d_Mx[b, c, a]*psi_hat[c], c)*law_vo[a], a)
    - sum(sum(d_Mx[b, c, a]*zeta_hat[c], c)*law_vv[a], a) + d_zeta[b])
d_test_error := E(-2*(-mean + nu0)*d_mean - 2*(nu1 - slope)*d_slope + d_Delta)
d_train_error := E(-V*d_avg_gg/2 - avg_gg*d_V/2 + d_avg_M)
d_free_energy := (alpha*E(d_avg_M) + beta*inverse_dimension*(-sum(d_T[a]*m[a]**2/T[a]**2, a)/2
    + sum(d_m[a]*m[a]/T[a], a)) + beta*(-sum(sum(sum(Mx[b, c, a]*d_psi_hat[c], c)*psi_hat[b], b)*law_oo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*d_psi_hat[c], c)*zeta_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*d_zeta_hat[c], c)*psi_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*d_zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*psi_hat[c], c)*d_psi_hat[b], b)*law_oo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*psi_hat[c], c)*d_zeta_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*zeta_hat[c], c)*d_psi_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*zeta_hat[c], c)*d_zeta_hat[b], b)*law_vv[a], a)/2
    - sum(sum(sum(d_Mx[b, c, a]*psi_hat[c], c)*psi_hat[b], b)*law_oo[a], a)/2
    - sum(sum(sum(d_Mx[b, c, a]*psi_hat[c], c)*zeta_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(d_Mx[b, c, a]*zeta_hat[c], c)*psi_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(d_Mx[b, c, a]*zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a], a)/2
    - sum(sum(V1_hat[a, b]*d_zeta[b], b)*zeta[a], a)/2 - sum(sum(V1_hat[a, b]*zeta[b], b)*d_zeta[a], a)/2
    - sum(sum(d_V1_hat[a, b]*zeta[b], b)*zeta[a], a)/2 - sum(Q2[a]*d_V2_hat[a], a)/2 + sum(Q2_hat[a]*d_V2[a], a)/2
    + sum(V2[a]*d_Q2_hat[a], a)/2 - sum(V2_hat[a]*d_Q2[a], a)/2 + sum(d_psi[a]*psi_hat[a], a)
    + sum(d_psi_hat[a]*psi[a], a) + sum(d_zeta[a]*zeta_hat[a], a) + sum(d_zeta_hat[a]*zeta[a], a)
    - sum(sum(Q1[a, b]*d_V1_hat[a, b], b), a)/2 + sum(sum(Q1_hat[a, b]*d_V1[a, b], b), a)/2
    + sum(sum(V1[a, b]*d_Q1_hat[a, b], b), a)/2 - sum(sum(V1_hat[a, b]*d_Q1[a, b], b), a)/2
    - (sum(sum(sum(Mx[b, c, a]*d_Q1_hat[b, c], c), b)*law_tr[a], a)
    + sum(sum(sum(Q1_hat[b, c]*d_Mx[b, c, a], c), b)*law_tr[a], a) + sum(Q2_hat[a]*d_T[a], a)
    + sum(T[a]*d_Q2_hat[a], a))/(2*beta) + d_beta*(sum(sum(sum(Mx[b, c, a]*Q1_hat[b, c], c), b)*law_tr[a], a)
    + sum(Q2_hat[a]*T[a], a))/(2*beta**2)) + d_alpha*E(avg_M) + d_beta*inverse_dimension*sum(m[a]**2/T[a], a)/2
    + d_beta*(-sum(sum(sum(Mx[b, c, a]*psi_hat[c], c)*psi_hat[b], b)*law_oo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*psi_hat[c], c)*zeta_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*zeta_hat[c], c)*psi_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a], a)/2
    - sum(sum(V1_hat[a, b]*zeta[b], b)*zeta[a], a)/2 - sum(Q2[a]*V2_hat[a], a)/2 + sum(Q2_hat[a]*V2[a], a)/2
    + sum(psi[a]*psi_hat[a], a) + sum(zeta[a]*zeta_hat[a], a) - sum(sum(Q1[a, b]*V1_hat[a, b], b), a)/2
    + sum(sum(Q1_hat[a, b]*V1[a, b], b), a)/2 - (sum(sum(sum(Mx[b, c, a]*Q1_hat[b, c], c), b)*law_tr[a], a)
    + sum(Q2_hat[a]*T[a], a))/(2*beta)))
"""
motion = Definitions(TANGENTS, ('kappa', 'weight', 'nu0', 'nu1', 'nu2sq'))
