"""Equations of a given bulk, one block  [THEORY section 5].

Generated; do not edit. Signature 9ff90142ea97449f.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate, Definitions

SIGNATURE = "9ff90142ea97449f1561175255e27bfe3438f7590b9b2e2001725ffb52ff3f40"


UNKNOWNS = ('adjoint', 'Q1', 'T', 'V1', 'psi', 'zeta')
INPUTS = ('Q1_hat', 'Q2_hat', 'V1_hat', 'V2_hat', 'average_zeta_hat', 'psi_hat')
GIVEN = ('spectrum', 'law_rows', 'law_vv', 'law_vo', 'law_oo')


def chain(s):
    """Everything that follows from unknowns and conjugates, stored beside them."""
    V1_hat = s["V1_hat"]
    V2_hat = s["V2_hat"]
    average_zeta_hat = s["average_zeta_hat"]
    identity = s["identity"]
    ridge = s["ridge"]
    spectrum = s["spectrum"]
    zeta = s["zeta"]
    x0 = np.einsum('a,ab->b', zeta, V1_hat)
    zeta_hat = np.real(x0 + average_zeta_hat)
    s["zeta_hat"] = zeta_hat
    Px = np.moveaxis(np.linalg.inv(np.moveaxis(np.einsum('b,bc->bc', ridge + V2_hat, identity)[:, :, None]
        + np.einsum('x,bc->bcx', spectrum, V1_hat), -1, 0)), 0, -1)
    s["Px"] = Px


def residual(s):
    """The residuals of the unknowns, stored beside them."""
    Px = s["Px"]
    Q1 = s["Q1"]
    Q1_hat = s["Q1_hat"]
    Q2_hat = s["Q2_hat"]
    T = s["T"]
    V1 = s["V1"]
    adjoint = s["adjoint"]
    beta = s["beta"]
    inverse_dimension = s["inverse_dimension"]
    law_oo = s["law_oo"]
    law_rows = s["law_rows"]
    law_vo = s["law_vo"]
    law_vv = s["law_vv"]
    m = s["m"]
    psi = s["psi"]
    psi_hat = s["psi_hat"]
    spectrum = s["spectrum"]
    zeta = s["zeta"]
    zeta_hat = s["zeta_hat"]
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
    s["residual_adjoint"] = residual_adjoint
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
    s["residual_Q1"] = residual_Q1
    x35 = np.einsum('bba->ab', Px)
    x36 = np.einsum('a,ab->b', law_rows, x35)
    residual_T = np.real(T - x36)
    s["residual_T"] = residual_T
    x37 = np.einsum('a,a,abc->bc', law_rows, spectrum, x5)
    residual_V1 = np.real(V1 - 1.0/beta*x37)
    s["residual_V1"] = residual_V1
    x38 = np.einsum('ab,a,a->b', x4, law_oo, spectrum)
    x39 = np.einsum('ab,a,a->b', x6, law_oo, spectrum)
    x40 = np.einsum('ab,a,a->b', x10, law_vo, spectrum)
    x41 = np.einsum('ab,a,a->b', x8, law_vo, spectrum)
    residual_psi = np.real(psi - 0.5*x38 - 0.5*x39 - 0.5*x40 - 0.5*x41)
    s["residual_psi"] = residual_psi
    x42 = np.einsum('ab,a,a->b', x4, law_vo, spectrum)
    x43 = np.einsum('ab,a,a->b', x6, law_vo, spectrum)
    x44 = np.einsum('ab,a,a->b', x10, law_vv, spectrum)
    x45 = np.einsum('ab,a,a->b', x8, law_vv, spectrum)
    residual_zeta = np.real(zeta - 0.5*x42 - 0.5*x43 - 0.5*x44 - 0.5*x45)
    s["residual_zeta"] = residual_zeta


def tangent(s):
    """Tangents of chain and residuals along those of unknowns and conjugates."""
    Px = s["Px"]
    Q1_hat = s["Q1_hat"]
    Q2_hat = s["Q2_hat"]
    T = s["T"]
    V1_hat = s["V1_hat"]
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
    inverse_dimension = s["inverse_dimension"]
    law_oo = s["law_oo"]
    law_rows = s["law_rows"]
    law_vo = s["law_vo"]
    law_vv = s["law_vv"]
    m = s["m"]
    psi_hat = s["psi_hat"]
    spectrum = s["spectrum"]
    zeta = s["zeta"]
    zeta_hat = s["zeta_hat"]
    x0 = np.einsum('a,ab->b', d_zeta, V1_hat)
    x1 = np.einsum('a,ab->b', zeta, d_V1_hat)
    d_zeta_hat = np.real(x0 + x1 + d_average_zeta_hat)
    s["d_zeta_hat"] = d_zeta_hat
    x2 = np.einsum('bax->abx', Px)
    x3 = np.einsum('a,acx,abx->bcx', d_V2_hat, Px, x2)
    x4 = np.einsum('ad,bdx->abx', d_V1_hat, Px)
    x5 = np.einsum('abx,acx->bcx', x4, Px)
    d_Px = -x3 - np.einsum('bcx,x->bcx', x5, spectrum)
    s["d_Px"] = d_Px
    x6 = np.einsum('bac->abc', Px)
    x7 = np.einsum('c,abc,abc->ab', law_rows, Px, x6)
    x8 = np.einsum('a,ab,a,a->b', 1.0/T**2, x7, d_m, m)
    x9 = np.einsum('bac->abc', d_Px)
    x10 = np.einsum('c,abc,abc->ab', law_rows, Px, x9)
    x11 = np.einsum('a,a,ab->b', 1.0/T**2, m**2, x10)
    x12 = np.einsum('c,abc,abc->ab', law_rows, x6, d_Px)
    x13 = np.einsum('a,a,ab->b', 1.0/T**2, m**2, x12)
    x14 = np.einsum('a,a,ab,a->b', 1.0/T**3, m**2, x7, d_T)
    x15 = np.einsum('bca->abc', Px)
    x16 = np.einsum('c,abc->ab', d_psi_hat, x15)
    x17 = np.einsum('cba->abc', Px)
    x18 = np.einsum('c,abc->ab', psi_hat, x17)
    x19 = np.einsum('ab,ab,a,a->b', x16, x18, law_oo, spectrum)
    x20 = np.einsum('c,abc->ab', zeta_hat, x17)
    x21 = np.einsum('ab,ab,a,a->b', x16, x20, law_vo, spectrum)
    x22 = np.einsum('c,abc->ab', d_psi_hat, x17)
    x23 = np.einsum('c,abc->ab', psi_hat, x15)
    x24 = np.einsum('ab,ab,a,a->b', x22, x23, law_oo, spectrum)
    x25 = np.einsum('c,abc->ab', zeta_hat, x15)
    x26 = np.einsum('ab,ab,a,a->b', x22, x25, law_vo, spectrum)
    x27 = np.einsum('c,abc->ab', d_zeta_hat, x15)
    x28 = np.einsum('ab,ab,a,a->b', x27, x18, law_vo, spectrum)
    x29 = np.einsum('ab,ab,a,a->b', x27, x20, law_vv, spectrum)
    x30 = np.einsum('c,abc->ab', d_zeta_hat, x17)
    x31 = np.einsum('ab,ab,a,a->b', x30, x23, law_vo, spectrum)
    x32 = np.einsum('ab,ab,a,a->b', x30, x25, law_vv, spectrum)
    x33 = np.einsum('cba->abc', d_Px)
    x34 = np.einsum('c,abc->ab', psi_hat, x33)
    x35 = np.einsum('ab,ab,a,a->b', x23, x34, law_oo, spectrum)
    x36 = np.einsum('c,abc->ab', zeta_hat, x33)
    x37 = np.einsum('ab,ab,a,a->b', x23, x36, law_vo, spectrum)
    x38 = np.einsum('bca->abc', d_Px)
    x39 = np.einsum('c,abc->ab', psi_hat, x38)
    x40 = np.einsum('ab,ab,a,a->b', x18, x39, law_oo, spectrum)
    x41 = np.einsum('c,abc->ab', zeta_hat, x38)
    x42 = np.einsum('ab,ab,a,a->b', x18, x41, law_vo, spectrum)
    x43 = np.einsum('ab,ab,a,a->b', x39, x20, law_vo, spectrum)
    x44 = np.einsum('ab,ab,a,a->b', x34, x25, law_vo, spectrum)
    x45 = np.einsum('ab,ab,a,a->b', x25, x36, law_vv, spectrum)
    x46 = np.einsum('ab,ab,a,a->b', x20, x41, law_vv, spectrum)
    x47 = np.einsum('ab,a->b', x7, d_Q2_hat)
    x48 = np.einsum('ab,a->b', x10, Q2_hat)
    x49 = np.einsum('ab,a->b', x12, Q2_hat)
    x50 = np.einsum('dba->abd', Px)
    x51 = np.einsum('cd,abd->abc', Q1_hat, x50)
    x52 = np.einsum('abc,abc->ab', x51, x38)
    x53 = np.einsum('ab,a,a->b', x52, law_rows, spectrum)
    x54 = np.einsum('dba->abd', d_Px)
    x55 = np.einsum('cd,abd->abc', Q1_hat, x54)
    x56 = np.einsum('abc,abc->ab', x55, x15)
    x57 = np.einsum('ab,a,a->b', x56, law_rows, spectrum)
    x58 = np.einsum('cd,abd->abc', d_Q1_hat, x50)
    x59 = np.einsum('abc,abc->ab', x58, x15)
    x60 = np.einsum('ab,a,a->b', x59, law_rows, spectrum)
    d_residual_adjoint = np.real(d_adjoint - 1.0/beta*(beta*(inverse_dimension*(2.0*x8 + x11 + x13 - 2.0*x14) + x19
        + x21 + x24 + x26 + x28 + x29 + x31 + x32 + x35 + x37 + x40 + x42 + x43 + x44 + x45 + x46) + x47 + x48 + x49
        + x53 + x57 + x60))
    s["d_residual_adjoint"] = d_residual_adjoint
    x61 = np.einsum('cad->acd', Px)
    x62 = np.einsum('d,d,abd,acd->abc', law_rows, spectrum, Px, x61)
    x63 = np.einsum('a,abc,a,a->bc', 1.0/T**2, x62, d_m, m)
    x64 = np.einsum('cad->acd', d_Px)
    x65 = np.einsum('d,d,abd,acd->abc', law_rows, spectrum, Px, x64)
    x66 = np.einsum('a,a,abc->bc', 1.0/T**2, m**2, x65)
    x67 = np.einsum('d,d,acd,abd->abc', law_rows, spectrum, x61, d_Px)
    x68 = np.einsum('a,a,abc->bc', 1.0/T**2, m**2, x67)
    x69 = np.einsum('a,a,abc,a->bc', 1.0/T**3, m**2, x62, d_T)
    x70 = np.einsum('cda->acd', Px)
    x71 = np.einsum('d,acd->ac', d_psi_hat, x70)
    x72 = np.einsum('d,abd->ab', psi_hat, x50)
    x73 = np.einsum('a,ac,ab,a->bc', spectrum**2, x71, x72, law_oo)
    x74 = np.einsum('d,abd->ab', zeta_hat, x50)
    x75 = np.einsum('a,ac,ab,a->bc', spectrum**2, x71, x74, law_vo)
    x76 = np.einsum('d,abd->ab', d_psi_hat, x50)
    x77 = np.einsum('d,acd->ac', psi_hat, x70)
    x78 = np.einsum('a,ab,ac,a->bc', spectrum**2, x76, x77, law_oo)
    x79 = np.einsum('d,acd->ac', zeta_hat, x70)
    x80 = np.einsum('a,ab,ac,a->bc', spectrum**2, x76, x79, law_vo)
    x81 = np.einsum('d,acd->ac', d_zeta_hat, x70)
    x82 = np.einsum('a,ac,ab,a->bc', spectrum**2, x81, x72, law_vo)
    x83 = np.einsum('a,ac,ab,a->bc', spectrum**2, x81, x74, law_vv)
    x84 = np.einsum('d,abd->ab', d_zeta_hat, x50)
    x85 = np.einsum('a,ab,ac,a->bc', spectrum**2, x84, x77, law_vo)
    x86 = np.einsum('a,ab,ac,a->bc', spectrum**2, x84, x79, law_vv)
    x87 = np.einsum('d,abd->ab', psi_hat, x54)
    x88 = np.einsum('a,ac,ab,a->bc', spectrum**2, x77, x87, law_oo)
    x89 = np.einsum('d,abd->ab', zeta_hat, x54)
    x90 = np.einsum('a,ac,ab,a->bc', spectrum**2, x77, x89, law_vo)
    x91 = np.einsum('cda->acd', d_Px)
    x92 = np.einsum('d,acd->ac', psi_hat, x91)
    x93 = np.einsum('a,ab,ac,a->bc', spectrum**2, x72, x92, law_oo)
    x94 = np.einsum('d,acd->ac', zeta_hat, x91)
    x95 = np.einsum('a,ab,ac,a->bc', spectrum**2, x72, x94, law_vo)
    x96 = np.einsum('a,ac,ab,a->bc', spectrum**2, x92, x74, law_vo)
    x97 = np.einsum('a,ab,ac,a->bc', spectrum**2, x87, x79, law_vo)
    x98 = np.einsum('a,ac,ab,a->bc', spectrum**2, x79, x89, law_vv)
    x99 = np.einsum('a,ab,ac,a->bc', spectrum**2, x74, x94, law_vv)
    x100 = np.einsum('abc,a->bc', x62, d_Q2_hat)
    x101 = np.einsum('abc,a->bc', x65, Q2_hat)
    x102 = np.einsum('abc,a->bc', x67, Q2_hat)
    x103 = np.einsum('eba->abe', Px)
    x104 = np.einsum('de,abe->abd', Q1_hat, x103)
    x105 = np.einsum('abd,acd->abc', x104, x91)
    x106 = np.einsum('a,abc,a->bc', spectrum**2, x105, law_rows)
    x107 = np.einsum('eba->abe', d_Px)
    x108 = np.einsum('de,abe->abd', Q1_hat, x107)
    x109 = np.einsum('abd,acd->abc', x108, x70)
    x110 = np.einsum('a,abc,a->bc', spectrum**2, x109, law_rows)
    x111 = np.einsum('de,abe->abd', d_Q1_hat, x103)
    x112 = np.einsum('abd,acd->abc', x111, x70)
    x113 = np.einsum('a,abc,a->bc', spectrum**2, x112, law_rows)
    d_residual_Q1 = np.real(d_Q1 - 1.0/beta*(beta*(inverse_dimension*(2.0*x63 + x66 + x68 - 2.0*x69) + x73 + x75 + x78
        + x80 + x82 + x83 + x85 + x86 + x88 + x90 + x93 + x95 + x96 + x97 + x98 + x99
        - np.einsum('b,c->bc', d_zeta, zeta) - np.einsum('c,b->bc', d_zeta, zeta)) + x100 + x101 + x102 + x106 + x110
        + x113))
    s["d_residual_Q1"] = d_residual_Q1
    x114 = np.einsum('bba->ab', d_Px)
    x115 = np.einsum('a,ab->b', law_rows, x114)
    d_residual_T = np.real(d_T - x115)
    s["d_residual_T"] = d_residual_T
    x116 = np.einsum('a,a,abc->bc', law_rows, spectrum, x33)
    d_residual_V1 = np.real(d_V1 - 1.0/beta*x116)
    s["d_residual_V1"] = d_residual_V1
    x117 = np.einsum('ab,a,a->b', x16, law_oo, spectrum)
    x118 = np.einsum('ab,a,a->b', x22, law_oo, spectrum)
    x119 = np.einsum('ab,a,a->b', x27, law_vo, spectrum)
    x120 = np.einsum('ab,a,a->b', x30, law_vo, spectrum)
    x121 = np.einsum('ab,a,a->b', x39, law_oo, spectrum)
    x122 = np.einsum('ab,a,a->b', x34, law_oo, spectrum)
    x123 = np.einsum('ab,a,a->b', x41, law_vo, spectrum)
    x124 = np.einsum('ab,a,a->b', x36, law_vo, spectrum)
    d_residual_psi = np.real(d_psi - 0.5*x117 - 0.5*x118 - 0.5*x119 - 0.5*x120 - 0.5*x121 - 0.5*x122 - 0.5*x123
        - 0.5*x124)
    s["d_residual_psi"] = d_residual_psi
    x125 = np.einsum('ab,a,a->b', x16, law_vo, spectrum)
    x126 = np.einsum('ab,a,a->b', x22, law_vo, spectrum)
    x127 = np.einsum('ab,a,a->b', x27, law_vv, spectrum)
    x128 = np.einsum('ab,a,a->b', x30, law_vv, spectrum)
    x129 = np.einsum('ab,a,a->b', x39, law_vo, spectrum)
    x130 = np.einsum('ab,a,a->b', x34, law_vo, spectrum)
    x131 = np.einsum('ab,a,a->b', x41, law_vv, spectrum)
    x132 = np.einsum('ab,a,a->b', x36, law_vv, spectrum)
    d_residual_zeta = np.real(d_zeta - 0.5*x125 - 0.5*x126 - 0.5*x127 - 0.5*x128 - 0.5*x129 - 0.5*x130 - 0.5*x131
        - 0.5*x132)
    s["d_residual_zeta"] = d_residual_zeta


def free_energy(s):
    """The free energy, stored as such."""
    Px = s["Px"]
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
    law_rows = s["law_rows"]
    law_vo = s["law_vo"]
    law_vv = s["law_vv"]
    m = s["m"]
    psi = s["psi"]
    psi_hat = s["psi_hat"]
    spectrum = s["spectrum"]
    weight = s["weight"]
    zeta = s["zeta"]
    zeta_hat = s["zeta_hat"]
    x0 = np.einsum('b->', Q2_hat*V2 - Q2*V2_hat)
    x1 = np.einsum('bc->c', Q1_hat*V1 - Q1*V1_hat)
    x2 = np.einsum('c->', x1)
    x3 = np.einsum('b->', psi*psi_hat + zeta*zeta_hat)
    x4 = np.einsum('cba->abc', Px)
    x5 = np.einsum('c,abc->ab', psi_hat, x4)
    x6 = np.einsum('ab,b->a', x5, psi_hat)
    x7 = np.einsum('a,a,a->', x6, law_oo, spectrum)
    x8 = np.einsum('ab,b->a', x5, zeta_hat)
    x9 = np.einsum('a,a,a->', x8, law_vo, spectrum)
    x10 = np.einsum('c,abc->ab', zeta_hat, x4)
    x11 = np.einsum('ab,b->a', x10, psi_hat)
    x12 = np.einsum('a,a,a->', x11, law_vo, spectrum)
    x13 = np.einsum('ab,b->a', x10, zeta_hat)
    x14 = np.einsum('a,a,a->', x13, law_vv, spectrum)
    x15 = np.einsum('b,c,bc->c', zeta, zeta, V1_hat)
    x16 = np.einsum('c->', x15)
    x17 = np.einsum('a,a->', Q2_hat, T)
    x18 = np.einsum('bc,abc->ab', Q1_hat, x4)
    x19 = np.einsum('ab->a', x18)
    x20 = np.einsum('a,a,a->', x19, law_rows, spectrum)
    x21 = 0.5*np.einsum('b,b->', 1.0/T, m**2)
    free_energy = np.real(alpha*np.dot(weight, avg_M) + beta*(0.5*x0 + 0.5*x2 + x3 - 0.5*x7 - 0.5*x9 - 0.5*x12
        - 0.5*x14 - 0.5*x16 - 0.5*(x17 + x20)/beta) + inverse_dimension*beta*x21)
    s["free_energy"] = free_energy


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
d_zeta_hat[b] := (alpha*E(kappa*(avg_g*d_mu1[b] + d_avg_g*mu1[b]))/beta - alpha*d_beta*E(kappa*avg_g*mu1[b])/beta**2
    + sum(V1_hat[a, b]*d_zeta[a], a) + sum(d_V1_hat[a, b]*zeta[a], a) + d_alpha*E(kappa*avg_g*mu1[b])/beta)
d_Px[b, c, x] := (-d_ridge*sum(Px[a, c, x]*Px[b, a, x], a) - sum(sum(Px[b, d, x]*d_V1_hat[a, d], d)*Px[a, c, x],
    a)*spectrum[x] - sum(Px[a, c, x]*Px[b, a, x]*d_V2_hat[a], a))
d_residual_adjoint[b] := (d_adjoint[b] - (beta*(inverse_dimension*(sum(sum(Px[a, b, c]*d_Px[b, a, c]*law_rows[c],
    c)*m[a]**2/T[a]**2, a) + sum(sum(Px[b, a, c]*d_Px[a, b, c]*law_rows[c], c)*m[a]**2/T[a]**2, a)
    - 2*sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*d_T[a]*m[a]**2/T[a]**3, a)
    + 2*sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*d_m[a]*m[a]/T[a]**2, a))
    + sum(sum(Px[b, c, a]*d_psi_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*d_psi_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*d_zeta_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*d_zeta_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*d_psi_hat[c], c)*law_oo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*d_zeta_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(d_Px[c, b, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(d_Px[c, b, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*d_psi_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*d_zeta_hat[c], c)*law_vv[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(d_Px[c, b, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(d_Px[c, b, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a)
    + sum(sum(Px[c, b, a]*psi_hat[c], c)*sum(d_Px[b, c, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)
    + sum(sum(Px[c, b, a]*psi_hat[c], c)*sum(d_Px[b, c, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[c, b, a]*zeta_hat[c], c)*sum(d_Px[b, c, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[c, b, a]*zeta_hat[c], c)*sum(d_Px[b, c, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a))
    + d_beta*(inverse_dimension*sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*m[a]**2/T[a]**2, a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a))
    + sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*d_Q2_hat[a], a)
    + sum(sum(Px[a, b, c]*d_Px[b, a, c]*law_rows[c], c)*Q2_hat[a], a)
    + sum(sum(Px[b, a, c]*d_Px[a, b, c]*law_rows[c], c)*Q2_hat[a], a)
    + sum(sum(sum(Px[d, b, a]*Q1_hat[c, d], d)*d_Px[b, c, a], c)*law_rows[a]*spectrum[a], a)
    + sum(sum(sum(Px[d, b, a]*d_Q1_hat[c, d], d)*Px[b, c, a], c)*law_rows[a]*spectrum[a], a)
    + sum(sum(sum(Q1_hat[c, d]*d_Px[d, b, a], d)*Px[b, c, a], c)*law_rows[a]*spectrum[a], a))/beta
    + d_beta*(beta*(inverse_dimension*sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*m[a]**2/T[a]**2, a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a))
    + sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*Q2_hat[a], a)
    + sum(sum(sum(Px[d, b, a]*Q1_hat[c, d], d)*Px[b, c, a], c)*law_rows[a]*spectrum[a], a))/beta**2)
d_residual_m[b] := (-alpha*E(avg_g*d_mu0[b] + d_avg_g*mu0[b]) + beta*inverse_dimension*d_m[b]/T[b]
    - beta*inverse_dimension*d_T[b]*m[b]/T[b]**2 - d_alpha*E(avg_g*mu0[b]) + d_beta*inverse_dimension*m[b]/T[b])
d_residual_Q1[b, c] := (d_Q1[b, c] - (beta*(inverse_dimension*(sum(sum(Px[a, b, d]*d_Px[c, a,
    d]*law_rows[d]*spectrum[d], d)*m[a]**2/T[a]**2, a) + sum(sum(Px[c, a, d]*d_Px[a, b, d]*law_rows[d]*spectrum[d],
    d)*m[a]**2/T[a]**2, a) - 2*sum(sum(Px[a, b, d]*Px[c, a, d]*law_rows[d]*spectrum[d], d)*d_T[a]*m[a]**2/T[a]**3, a)
    + 2*sum(sum(Px[a, b, d]*Px[c, a, d]*law_rows[d]*spectrum[d], d)*d_m[a]*m[a]/T[a]**2, a))
    + sum(sum(Px[c, d, a]*d_psi_hat[d], d)*sum(Px[d, b, a]*psi_hat[d], d)*law_oo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*d_psi_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*d_zeta_hat[d], d)*sum(Px[d, b, a]*psi_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*d_zeta_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d], d)*law_vv[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*d_psi_hat[d], d)*law_oo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*d_zeta_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(d_Px[d, b, a]*psi_hat[d], d)*law_oo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(d_Px[d, b, a]*zeta_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*d_psi_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*d_zeta_hat[d], d)*law_vv[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(d_Px[d, b, a]*psi_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(d_Px[d, b, a]*zeta_hat[d], d)*law_vv[a]*spectrum[a]**2, a)
    + sum(sum(Px[d, b, a]*psi_hat[d], d)*sum(d_Px[c, d, a]*psi_hat[d], d)*law_oo[a]*spectrum[a]**2, a)
    + sum(sum(Px[d, b, a]*psi_hat[d], d)*sum(d_Px[c, d, a]*zeta_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[d, b, a]*zeta_hat[d], d)*sum(d_Px[c, d, a]*psi_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[d, b, a]*zeta_hat[d], d)*sum(d_Px[c, d, a]*zeta_hat[d], d)*law_vv[a]*spectrum[a]**2, a)
    - d_zeta[b]*zeta[c] - d_zeta[c]*zeta[b]) + d_beta*(inverse_dimension*sum(sum(Px[a, b, d]*Px[c, a,
    d]*law_rows[d]*spectrum[d], d)*m[a]**2/T[a]**2, a) + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*psi_hat[d],
    d)*law_oo[a]*spectrum[a]**2, a) + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d],
    d)*law_vo[a]*spectrum[a]**2, a) + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*psi_hat[d],
    d)*law_vo[a]*spectrum[a]**2, a) + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d],
    d)*law_vv[a]*spectrum[a]**2, a) - zeta[b]*zeta[c]) + sum(sum(Px[a, b, d]*Px[c, a, d]*law_rows[d]*spectrum[d],
    d)*d_Q2_hat[a], a) + sum(sum(Px[a, b, d]*d_Px[c, a, d]*law_rows[d]*spectrum[d], d)*Q2_hat[a], a)
    + sum(sum(Px[c, a, d]*d_Px[a, b, d]*law_rows[d]*spectrum[d], d)*Q2_hat[a], a)
    + sum(sum(sum(Px[e, b, a]*Q1_hat[d, e], e)*d_Px[c, d, a], d)*law_rows[a]*spectrum[a]**2, a)
    + sum(sum(sum(Px[e, b, a]*d_Q1_hat[d, e], e)*Px[c, d, a], d)*law_rows[a]*spectrum[a]**2, a)
    + sum(sum(sum(Q1_hat[d, e]*d_Px[e, b, a], e)*Px[c, d, a], d)*law_rows[a]*spectrum[a]**2, a))/beta
    + d_beta*(beta*(inverse_dimension*sum(sum(Px[a, b, d]*Px[c, a, d]*law_rows[d]*spectrum[d], d)*m[a]**2/T[a]**2, a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*psi_hat[d], d)*law_oo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*psi_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d], d)*law_vv[a]*spectrum[a]**2, a)
    - zeta[b]*zeta[c]) + sum(sum(Px[a, b, d]*Px[c, a, d]*law_rows[d]*spectrum[d], d)*Q2_hat[a], a)
    + sum(sum(sum(Px[e, b, a]*Q1_hat[d, e], e)*Px[c, d, a], d)*law_rows[a]*spectrum[a]**2, a))/beta**2)
d_residual_T[b] := -sum(d_Px[b, b, a]*law_rows[a], a) + d_T[b]
d_residual_V1[b, c] := (d_V1[b, c] - sum(d_Px[c, b, a]*law_rows[a]*spectrum[a], a)/beta
    + d_beta*sum(Px[c, b, a]*law_rows[a]*spectrum[a], a)/beta**2)
d_residual_psi[b] := (-sum(sum(Px[b, c, a]*d_psi_hat[c], c)*law_oo[a]*spectrum[a], a)/2
    - sum(sum(Px[b, c, a]*d_zeta_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(Px[c, b, a]*d_psi_hat[c], c)*law_oo[a]*spectrum[a], a)/2
    - sum(sum(Px[c, b, a]*d_zeta_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(d_Px[b, c, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)/2
    - sum(sum(d_Px[b, c, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(d_Px[c, b, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)/2
    - sum(sum(d_Px[c, b, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)/2 + d_psi[b])
d_residual_zeta[b] := (-sum(sum(Px[b, c, a]*d_psi_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(Px[b, c, a]*d_zeta_hat[c], c)*law_vv[a]*spectrum[a], a)/2
    - sum(sum(Px[c, b, a]*d_psi_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(Px[c, b, a]*d_zeta_hat[c], c)*law_vv[a]*spectrum[a], a)/2
    - sum(sum(d_Px[b, c, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(d_Px[b, c, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a)/2
    - sum(sum(d_Px[c, b, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(d_Px[c, b, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a)/2 + d_zeta[b])
d_test_error := E(-2*(-mean + nu0)*d_mean - 2*(nu1 - slope)*d_slope + d_Delta)
d_train_error := E(-V*d_avg_gg/2 - avg_gg*d_V/2 + d_avg_M)
d_free_energy := (alpha*E(d_avg_M) + beta*inverse_dimension*(-sum(d_T[a]*m[a]**2/T[a]**2, a)/2
    + sum(d_m[a]*m[a]/T[a], a)) + beta*(-sum(sum(V1_hat[a, b]*d_zeta[b], b)*zeta[a], a)/2
    - sum(sum(V1_hat[a, b]*zeta[b], b)*d_zeta[a], a)/2 - sum(sum(d_V1_hat[a, b]*zeta[b], b)*zeta[a], a)/2
    - sum(Q2[a]*d_V2_hat[a], a)/2 + sum(Q2_hat[a]*d_V2[a], a)/2 + sum(V2[a]*d_Q2_hat[a], a)/2
    - sum(V2_hat[a]*d_Q2[a], a)/2 + sum(d_psi[a]*psi_hat[a], a) + sum(d_psi_hat[a]*psi[a], a)
    + sum(d_zeta[a]*zeta_hat[a], a) + sum(d_zeta_hat[a]*zeta[a], a)
    - sum(sum(sum(Px[c, b, a]*d_psi_hat[c], c)*psi_hat[b], b)*law_oo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*d_psi_hat[c], c)*zeta_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*d_zeta_hat[c], c)*psi_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*d_zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*psi_hat[c], c)*d_psi_hat[b], b)*law_oo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*psi_hat[c], c)*d_zeta_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*zeta_hat[c], c)*d_psi_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*zeta_hat[c], c)*d_zeta_hat[b], b)*law_vv[a]*spectrum[a], a)/2
    - sum(sum(sum(d_Px[c, b, a]*psi_hat[c], c)*psi_hat[b], b)*law_oo[a]*spectrum[a], a)/2
    - sum(sum(sum(d_Px[c, b, a]*psi_hat[c], c)*zeta_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(d_Px[c, b, a]*zeta_hat[c], c)*psi_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(d_Px[c, b, a]*zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a]*spectrum[a], a)/2
    - sum(sum(Q1[a, b]*d_V1_hat[a, b], b), a)/2 + sum(sum(Q1_hat[a, b]*d_V1[a, b], b), a)/2
    + sum(sum(V1[a, b]*d_Q1_hat[a, b], b), a)/2 - sum(sum(V1_hat[a, b]*d_Q1[a, b], b), a)/2
    - (sum(Q2_hat[a]*d_T[a], a) + sum(T[a]*d_Q2_hat[a], a) + sum(sum(sum(Px[c, b, a]*d_Q1_hat[b, c], c),
    b)*law_rows[a]*spectrum[a], a) + sum(sum(sum(Q1_hat[b, c]*d_Px[c, b, a], c), b)*law_rows[a]*spectrum[a],
    a))/(2*beta) + d_beta*(sum(Q2_hat[a]*T[a], a) + sum(sum(sum(Px[c, b, a]*Q1_hat[b, c], c),
    b)*law_rows[a]*spectrum[a], a))/(2*beta**2)) + d_alpha*E(avg_M) + d_beta*inverse_dimension*sum(m[a]**2/T[a], a)/2
    + d_beta*(-sum(sum(V1_hat[a, b]*zeta[b], b)*zeta[a], a)/2 - sum(Q2[a]*V2_hat[a], a)/2 + sum(Q2_hat[a]*V2[a], a)/2
    + sum(psi[a]*psi_hat[a], a) + sum(zeta[a]*zeta_hat[a], a)
    - sum(sum(sum(Px[c, b, a]*psi_hat[c], c)*psi_hat[b], b)*law_oo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*psi_hat[c], c)*zeta_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*zeta_hat[c], c)*psi_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a]*spectrum[a], a)/2
    - sum(sum(Q1[a, b]*V1_hat[a, b], b), a)/2 + sum(sum(Q1_hat[a, b]*V1[a, b], b), a)/2
    - (sum(Q2_hat[a]*T[a], a) + sum(sum(sum(Px[c, b, a]*Q1_hat[b, c], c), b)*law_rows[a]*spectrum[a], a))/(2*beta)))
"""
motion = Definitions(TANGENTS, ('kappa', 'weight', 'nu0', 'nu1', 'nu2sq'))
