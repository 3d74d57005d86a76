"""Equations of a stretched bulk, any number of blocks  [THEORY section 5].

Generated; do not edit. Signature 17de10e4337ad383.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.tangents import Motion, Text

SIGNATURE = "17de10e4337ad383be1062bc06eb4fe7f3f2a48fc4d6cf88613664ca93f883bb"


UNKNOWNS = ('adjoint', 'Q1', 'T', 'V1', 'norm', 'psi', 'zeta')
INNER = ('X', 'adjoint_X')
INPUTS = ('Q1_hat', 'Q2_hat', 'V1_hat', 'V2_hat', 'average_zeta_hat', 'norm_hat', 'psi_hat')
GIVEN = ('upper', 'lower', 'first', 'inside', 'last', 'fixed', 'unit_G', 'unit_D', 'gamma', 'rho', 'sample', 'base',
    'law_tr', 'law_tt', 'law_te', 'law_ee', 'chi')


def resolvent(s):
    """What the equation of X is made of, and its residual."""
    (T, V1_hat, X, base, first, fixed, inside, last, law_tr, lower, sample, unit_D,
        upper) = (s[name] for name in ('T', 'V1_hat', 'X', 'base', 'first', 'fixed', 'inside', 'last', 'law_tr',
        'lower', 'sample', 'unit_D', 'upper'))
    x0 = np.einsum('b,bi,bp->ip', T, last, upper)
    out = np.real(lower - x0)
    x1 = np.einsum('bc,bj->cj', V1_hat, last)
    x2 = np.einsum('cj,ci->ij', x1, first)
    x3 = np.einsum('bc,cj->bj', V1_hat, last)
    x4 = np.einsum('bj,bi->ij', x3, first)
    x5 = np.einsum('qj->jq', inside)
    x6 = np.einsum('pq,jq->jp', X, x5)
    x7 = np.einsum('jp,ip->ij', x6, out)
    G = np.linalg.inv(0.5*x2 + 0.5*x4 + x7 + fixed)
    x8 = np.einsum('ab,bq->aq', G, out)
    x9 = np.einsum('pa->ap', inside)
    x10 = np.einsum('aq,ap->pq', x8, x9)
    Res = np.real(x10)
    x11 = np.einsum('rqx->qrx', sample)
    x12 = np.einsum('pr,qrx->pqx', Res, x11)
    D = np.moveaxis(np.linalg.inv(np.moveaxis(x12 + unit_D[:, :, None], -1, 0)), 0, -1)
    x13 = np.einsum('rqx->qrx', D)
    x14 = np.einsum('qrx,prx->pqx', x13, sample)
    F = x14
    x15 = np.einsum('pqa->apq', F)
    x16 = np.einsum('a,apq->pq', law_tr, x15)
    residual_X = np.real(X - x16 - base)
    s.update(out=out, G=G, Res=Res, D=D, F=F, residual_X=residual_X)


def slope(s):
    """The derivative of what X equals in X, [p, q, y, z]."""
    (D, G, inside, law_tr, out, sample) = (s[name] for name in ('D', 'G', 'inside', 'law_tr', 'out', 'sample'))
    x0 = np.einsum('de,ey->dy', G, out)
    x1 = np.einsum('dy,cd->cy', x0, inside)
    x2 = np.einsum('bca->abc', D)
    x3 = np.einsum('cy,abc->aby', x1, x2)
    x4 = np.einsum('pba->abp', sample)
    x5 = np.einsum('aby,abp->apy', x3, x4)
    x6 = np.einsum('ed->de', G)
    x7 = np.einsum('ze->ez', inside)
    x8 = np.einsum('de,ez->dz', x6, x7)
    x9 = np.einsum('dc->cd', out)
    x10 = np.einsum('dz,cd->cz', x8, x9)
    x11 = np.einsum('cba->abc', sample)
    x12 = np.einsum('cz,abc->abz', x10, x11)
    x13 = np.einsum('bqa->abq', D)
    x14 = np.einsum('abz,abq->aqz', x12, x13)
    x15 = np.einsum('apy,aqz,a->pqyz', x5, x14, law_tr)
    slope_X = np.real(x15)
    s.update(slope_X=slope_X)


def chain(s):
    """Everything else that follows from unknowns and conjugates, and the residual of adjoint_X."""
    (F, G, Q1_hat, V1_hat, X, adjoint, adjoint_X, average_zeta_hat, base, beta, first, fixed, gamma, inside, last,
        law_ee, law_te, law_tr, law_tt, out, psi_hat, rho, upper,
        zeta) = (s[name] for name in ('F', 'G', 'Q1_hat', 'V1_hat', 'X', 'adjoint', 'adjoint_X', 'average_zeta_hat',
        'base', 'beta', 'first', 'fixed', 'gamma', 'inside', 'last', 'law_ee', 'law_te', 'law_tr', 'law_tt', 'out',
        'psi_hat', 'rho', 'upper', 'zeta'))
    x0 = np.einsum('a,ab->b', zeta, V1_hat)
    zeta_hat = np.real(x0 + average_zeta_hat)
    x1 = np.einsum('ij,cj->ci', G, first)
    x2 = np.einsum('pi->ip', inside)
    x3 = np.einsum('ci,ip->cp', x1, x2)
    H = np.real(x3)
    x4 = np.einsum('ij,jp->ip', G, out)
    x5 = np.einsum('ip,bi->bp', x4, last)
    H_left = np.real((-1.0)*x5)
    x6 = np.einsum('ad,bd->ab', G, first)
    x7 = np.einsum('ca->ac', last)
    x8 = np.einsum('ab,ac->bc', x6, x7)
    x9 = np.einsum('ad,cd->ac', G, first)
    x10 = np.einsum('ba->ab', last)
    x11 = np.einsum('ac,ab->bc', x9, x10)
    M = np.real(0.5*x8 + 0.5*x11)
    j_noise = np.real(rho*zeta_hat - gamma*psi_hat)
    j_theta = np.real(gamma*zeta_hat + psi_hat*rho)
    x12 = np.einsum('a,aq->q', j_noise, H)
    x13 = np.einsum('a,ap->p', j_noise, H_left)
    adjoint_X_own = np.real(np.einsum('q,p->pq', x12, x13))
    x14 = np.einsum('pqa->apq', F)
    x15 = np.einsum('a,apq->pq', law_te, x14)
    X_cross = np.real(x15)
    x16 = np.einsum('a,apq->pq', law_ee, x14)
    X_own = np.real(x16)
    x17 = np.einsum('a,apq->pq', law_tt, x14)
    X_theta = np.real(x17 + base)
    x18 = np.einsum('bc,bj->cj', V1_hat, last)
    x19 = np.einsum('cj,ci->ij', x18, first)
    x20 = np.einsum('bc,cj->bj', V1_hat, last)
    x21 = np.einsum('bj,bi->ij', x20, first)
    x22 = np.einsum('qj->jq', inside)
    x23 = np.einsum('pq,jq->jp', X_theta, x22)
    x24 = np.einsum('jp,ip->ij', x23, out)
    G_theta = np.linalg.inv(0.5*x19 + 0.5*x21 + x24 + fixed)
    x25 = np.einsum('ij,cj->ci', G_theta, first)
    x26 = np.einsum('ci,ip->cp', x25, x2)
    H_theta = np.real(x26)
    x27 = np.einsum('ad,bd->ab', G_theta, first)
    x28 = np.einsum('ab,ac->bc', x27, x7)
    x29 = np.einsum('ad,cd->ac', G_theta, first)
    x30 = np.einsum('ac,ab->bc', x29, x10)
    M_theta = np.real(0.5*x28 + 0.5*x30)
    x31 = np.einsum('ij,jq->iq', G_theta, out)
    x32 = np.einsum('iq,ip->pq', x31, x2)
    Res_theta = np.real(x32)
    x33 = np.einsum('de,ep->dp', G_theta, out)
    x34 = np.einsum('dp,cd->cp', x33, inside)
    x35 = np.einsum('cp,bc->bp', x34, X_cross)
    x36 = np.einsum('bp,ab->ap', x35, H_left)
    x37 = np.einsum('ap,a->p', x36, j_noise)
    x38 = np.einsum('dc->cd', G_theta)
    x39 = np.einsum('qd->dq', inside)
    x40 = np.einsum('cd,dq->cq', x38, x39)
    x41 = np.einsum('cb->bc', out)
    x42 = np.einsum('cq,bc->bq', x40, x41)
    x43 = np.einsum('ac,bc->ab', H, X_cross)
    x44 = np.einsum('bq,ab->aq', x42, x43)
    x45 = np.einsum('aq,a->q', x44, j_noise)
    x46 = np.einsum('bc,cp->bp', G_theta, out)
    x47 = np.einsum('bp,ab->ap', x46, last)
    x48 = np.einsum('ap,a->p', x47, j_theta)
    x49 = np.einsum('cb->bc', G_theta)
    x50 = np.einsum('qc->cq', inside)
    x51 = np.einsum('bc,cq->bq', x49, x50)
    x52 = np.einsum('bq,ab->aq', x51, first)
    x53 = np.einsum('aq,a->q', x52, j_theta)
    adjoint_X_theta = np.real(np.einsum('p,q->pq', x37, x45) - np.einsum('p,q->pq', x48, x53)
        - 2.0*np.einsum('p,q->pq', x37, x53))
    x54 = np.einsum('cq,pq->cp', H_theta, X_cross)
    x55 = np.einsum('cp,bp->bc', x54, H_left)
    M_cross = np.real(x55)
    x56 = np.einsum('cq,pq->cp', H, X_own)
    x57 = np.einsum('cp,bp->bc', x56, H_left)
    x58 = np.einsum('ri->ir', X_cross)
    x59 = np.einsum('ci,ir->cr', H, x58)
    x60 = np.einsum('cr,qr->cq', x59, Res_theta)
    x61 = np.einsum('cq,pq->cp', x60, X_cross)
    x62 = np.einsum('cp,bp->bc', x61, H_left)
    M_noise = np.real(x57 + M - x62)
    x63 = np.einsum('a,aq->q', j_theta, H_theta)
    x64 = np.einsum('qb->bq', Res_theta)
    x65 = np.einsum('ab,bq->aq', x43, x64)
    x66 = np.einsum('aq,a->q', x65, j_noise)
    x67 = np.einsum('cp,bc->bp', Res_theta, X_cross)
    x68 = np.einsum('bp,ab->ap', x67, H_left)
    x69 = np.einsum('ap,a->p', x68, j_noise)
    adjoint_X_cross = np.real(2.0*np.einsum('p,q->pq', x13, x63) - np.einsum('q,p->pq', x66, x13)
        - np.einsum('p,q->pq', x69, x12))
    x70 = np.einsum('cb->bc', adjoint_X)
    x71 = np.einsum('cpa->acp', F)
    x72 = np.einsum('bc,acp->abp', x70, x71)
    x73 = np.einsum('qba->abq', F)
    x74 = np.einsum('abp,abq->apq', x72, x73)
    x75 = np.einsum('apq,a->pq', x74, law_tr)
    x76 = np.einsum('cb->bc', adjoint_X_cross)
    x77 = np.einsum('bc,acp->abp', x76, x71)
    x78 = np.einsum('abp,abq->apq', x77, x73)
    x79 = np.einsum('apq,a->pq', x78, law_te)
    x80 = np.einsum('cb->bc', adjoint_X_own)
    x81 = np.einsum('bc,acp->abp', x80, x71)
    x82 = np.einsum('abp,abq->apq', x81, x73)
    x83 = np.einsum('apq,a->pq', x82, law_ee)
    x84 = np.einsum('cb->bc', adjoint_X_theta)
    x85 = np.einsum('bc,acp->abp', x84, x71)
    x86 = np.einsum('abp,abq->apq', x85, x73)
    x87 = np.einsum('apq,a->pq', x86, law_tt)
    adjoint_Res = np.real(-x75 - x79 - x83 - x87)
    x88 = np.einsum('de,ep->dp', G, out)
    x89 = np.einsum('dp,cd->cp', x88, inside)
    x90 = np.einsum('cp,bc->bp', x89, X_own)
    x91 = np.einsum('bp,ab->ap', x90, H_left)
    x92 = np.einsum('ap,a->p', x91, j_noise)
    x93 = np.einsum('cb->bc', G)
    x94 = np.einsum('bc,cq->bq', x93, x50)
    x95 = np.einsum('bq,ab->aq', x94, first)
    x96 = np.einsum('aq,a->q', x95, j_noise)
    x97 = np.einsum('ae,de->ad', H, X_cross)
    x98 = np.einsum('ad,cd->ac', x97, Res_theta)
    x99 = np.einsum('ac,bc->ab', x98, X_cross)
    x100 = np.einsum('dc->cd', G)
    x101 = np.einsum('cd,dq->cq', x100, x39)
    x102 = np.einsum('cq,bc->bq', x101, x41)
    x103 = np.einsum('ab,bq->aq', x99, x102)
    x104 = np.einsum('aq,a->q', x103, j_noise)
    x105 = np.einsum('bc,cp->bp', G, out)
    x106 = np.einsum('bp,ab->ap', x105, last)
    x107 = np.einsum('ap,a->p', x106, j_noise)
    x108 = np.einsum('cd,dp->cp', G, out)
    x109 = np.einsum('cp,bc->bp', x108, last)
    x110 = np.einsum('bp,ab->ap', x109, Q1_hat)
    x111 = np.einsum('ap,aq->pq', x110, x95)
    x112 = np.einsum('cq,bc->bq', x101, first)
    x113 = np.einsum('bq,ab->aq', x112, Q1_hat)
    x114 = np.einsum('aq,ap->pq', x113, x106)
    x115 = np.einsum('cp,bc->bp', x108, inside)
    x116 = np.einsum('ba->ab', adjoint_Res)
    x117 = np.einsum('bp,ab->ap', x115, x116)
    x118 = np.einsum('ba->ab', out)
    x119 = np.einsum('bq,ab->aq', x94, x118)
    x120 = np.einsum('ap,aq->pq', x117, x119)
    x121 = np.einsum('db->bd', inside)
    x122 = np.einsum('cd,bd->bc', X, x121)
    x123 = np.einsum('bc,ac->ab', x122, upper)
    x124 = np.einsum('ab,bp->ap', x123, x105)
    x125 = np.einsum('bq,ab->aq', x94, last)
    x126 = np.einsum('ap,aq,a->pq', x124, x125, adjoint)
    x127 = np.einsum('bc,ac->ab', G, last)
    x128 = np.einsum('qb->bq', inside)
    x129 = np.einsum('ab,bq->aq', x127, x128)
    x130 = np.einsum('aq,a,ap->pq', x129, adjoint, upper)
    x131 = np.einsum('fg,gp->fp', G, out)
    x132 = np.einsum('fp,ef->ep', x131, inside)
    x133 = np.einsum('ep,de->dp', x132, X_cross)
    x134 = np.einsum('dp,cd->cp', x133, Res_theta)
    x135 = np.einsum('cp,bc->bp', x134, X_cross)
    x136 = np.einsum('bp,ab->ap', x135, H_left)
    x137 = np.einsum('ap,a->p', x136, j_noise)
    x138 = np.einsum('ac,bc->ab', H, X_own)
    x139 = np.einsum('bq,ab->aq', x102, x138)
    x140 = np.einsum('aq,a->q', x139, j_noise)
    x141 = np.einsum('ac,bc->ab', H_theta, X_cross)
    x142 = np.einsum('bq,ab->aq', x102, x141)
    x143 = np.einsum('aq,a->q', x142, j_theta)
    residual_adjoint_X = np.real(np.einsum('p,q->pq', x92, x96) + np.einsum('q,p->pq', x104, x107)
        + np.einsum('p,q->pq', x107, x96) + 0.5/beta*x111 + 0.5/beta*x114 + x120 + x126 + adjoint_X - x130
        - np.einsum('p,q->pq', x137, x96) - np.einsum('q,p->pq', x140, x107) - 2.0*np.einsum('q,p->pq', x143, x107))
    s.update(zeta_hat=zeta_hat, H=H, H_left=H_left, M=M, j_noise=j_noise, j_theta=j_theta, adjoint_X_own=adjoint_X_own,
        X_cross=X_cross, X_own=X_own, X_theta=X_theta, G_theta=G_theta, H_theta=H_theta, M_theta=M_theta,
        Res_theta=Res_theta, adjoint_X_theta=adjoint_X_theta, M_cross=M_cross, M_noise=M_noise,
        adjoint_X_cross=adjoint_X_cross, adjoint_Res=adjoint_Res, residual_adjoint_X=residual_adjoint_X)


def residual(s):
    """The residuals of the unknowns, stored beside them."""
    (G, G_theta, H, H_left, H_theta, M, M_cross, M_noise, M_theta, Q1, Q1_hat, Q2_hat, Res_theta, T, V1, V2_hat, X,
        X_cross, X_own, X_theta, adjoint, adjoint_Res, beta, chi, first, fraction, gamma, inside, inverse_dimension,
        j_noise, j_theta, last, m, norm, norm_hat, out, psi, rho, ridge, upper,
        zeta) = (s[name] for name in ('G', 'G_theta', 'H', 'H_left', 'H_theta', 'M', 'M_cross', 'M_noise', 'M_theta',
        'Q1', 'Q1_hat', 'Q2_hat', 'Res_theta', 'T', 'V1', 'V2_hat', 'X', 'X_cross', 'X_own', 'X_theta', 'adjoint',
        'adjoint_Res', 'beta', 'chi', 'first', 'fraction', 'gamma', 'inside', 'inverse_dimension', 'j_noise',
        'j_theta', 'last', 'm', 'norm', 'norm_hat', 'out', 'psi', 'rho', 'ridge', 'upper', 'zeta'))
    x0 = np.einsum('gh,bh->bg', G, last)
    x1 = np.einsum('bg,fg->bf', x0, inside)
    x2 = np.einsum('bf,ef->be', x1, X_cross)
    x3 = np.einsum('be,de->bd', x2, Res_theta)
    x4 = np.einsum('bd,cd->bc', x3, X_cross)
    x5 = np.einsum('bc,ac->ab', x4, H_left)
    x6 = np.einsum('ab,a->b', x5, j_noise)
    x7 = np.einsum('fd->df', inside)
    x8 = np.einsum('ef,df->de', X, x7)
    x9 = np.einsum('de,be->bd', x8, upper)
    x10 = np.einsum('dc->cd', G)
    x11 = np.einsum('bd,cd->bc', x9, x10)
    x12 = np.einsum('bc,ac->ab', x11, first)
    x13 = np.einsum('ab,a->b', x12, j_noise)
    x14 = np.einsum('ge->eg', inside)
    x15 = np.einsum('fg,eg->ef', X, x14)
    x16 = np.einsum('ef,bf->be', x15, upper)
    x17 = np.einsum('ed->de', G)
    x18 = np.einsum('be,de->bd', x16, x17)
    x19 = np.einsum('dc->cd', out)
    x20 = np.einsum('bd,cd->bc', x18, x19)
    x21 = np.einsum('ad,cd->ac', H, X_own)
    x22 = np.einsum('bc,ac->ab', x20, x21)
    x23 = np.einsum('ab,a->b', x22, j_noise)
    x24 = np.einsum('cd,bd->bc', G, last)
    x25 = np.einsum('bc,ac->ab', x24, last)
    x26 = np.einsum('ab,a->b', x25, j_noise)
    x27 = np.einsum('fg,eg->ef', X_theta, x14)
    x28 = np.einsum('ef,bf->be', x27, upper)
    x29 = np.einsum('ed->de', G_theta)
    x30 = np.einsum('be,de->bd', x28, x29)
    x31 = np.einsum('bd,cd->bc', x30, x19)
    x32 = np.einsum('ad,cd->ac', H, X_cross)
    x33 = np.einsum('bc,ac->ab', x31, x32)
    x34 = np.einsum('ab,a->b', x33, j_noise)
    x35 = np.einsum('ef,bf->be', G_theta, last)
    x36 = np.einsum('be,de->bd', x35, inside)
    x37 = np.einsum('bd,cd->bc', x36, X_cross)
    x38 = np.einsum('bc,ac->ab', x37, H_left)
    x39 = np.einsum('ab,a->b', x38, j_noise)
    x40 = np.einsum('af,ef->ae', H, X_cross)
    x41 = np.einsum('ae,de->ad', x40, Res_theta)
    x42 = np.einsum('ad,cd->ac', x41, X_cross)
    x43 = np.einsum('ac,bc->ab', x42, upper)
    x44 = np.einsum('ab,a->b', x43, j_noise)
    x45 = np.einsum('ad,cd->ac', H_theta, X_cross)
    x46 = np.einsum('bc,ac->ab', x20, x45)
    x47 = np.einsum('ab,a->b', x46, j_theta)
    x48 = np.einsum('de,be->bd', G, last)
    x49 = np.einsum('bd,cd->bc', x48, inside)
    x50 = np.einsum('ca->ac', adjoint_Res)
    x51 = np.einsum('bc,ac->ab', x49, x50)
    x52 = np.einsum('ba->ab', upper)
    x53 = np.einsum('ab,ab->b', x51, x52)
    x54 = np.einsum('ca->ac', out)
    x55 = np.einsum('bc,ac->ab', x11, x54)
    x56 = np.einsum('ab,ab->b', x55, x51)
    x57 = np.einsum('bc,ac->ab', x11, last)
    x58 = np.einsum('ec->ce', inside)
    x59 = np.einsum('de,ce->cd', X, x58)
    x60 = np.einsum('cd,ad->ac', x59, upper)
    x61 = np.einsum('ac,bc->ab', x60, x24)
    x62 = np.einsum('ab,ab,a->b', x57, x61, adjoint)
    x63 = np.einsum('bc,ac->ab', x20, x42)
    x64 = np.einsum('ab,a->b', x63, j_noise)
    x65 = np.einsum('ef,bf->be', G, last)
    x66 = np.einsum('be,de->bd', x65, inside)
    x67 = np.einsum('bd,cd->bc', x66, X_own)
    x68 = np.einsum('bc,ac->ab', x67, H_left)
    x69 = np.einsum('ab,a->b', x68, j_noise)
    x70 = np.einsum('ac,bc->ab', x32, upper)
    x71 = np.einsum('ab,a->b', x70, j_noise)
    x72 = np.einsum('ef,df->de', X_theta, x7)
    x73 = np.einsum('de,be->bd', x72, upper)
    x74 = np.einsum('dc->cd', G_theta)
    x75 = np.einsum('bd,cd->bc', x73, x74)
    x76 = np.einsum('bc,ac->ab', x75, first)
    x77 = np.einsum('ab,a->b', x76, j_theta)
    x78 = np.einsum('cd,bd->bc', G_theta, last)
    x79 = np.einsum('bc,ac->ab', x78, last)
    x80 = np.einsum('ab,a->b', x79, j_theta)
    x81 = np.einsum('ac,bc->ab', x21, upper)
    x82 = np.einsum('ab,a->b', x81, j_noise)
    x83 = np.einsum('ac,bc->ab', x45, upper)
    x84 = np.einsum('ab,a->b', x83, j_theta)
    x85 = np.einsum('bd,cd->bc', x18, first)
    x86 = np.einsum('bc,ac->ab', x85, Q1_hat)
    x87 = np.einsum('ab,ab->b', x86, x25)
    x88 = np.einsum('bd,cd->bc', x48, last)
    x89 = np.einsum('bc,ac->ab', x88, Q1_hat)
    x90 = np.einsum('ab,ab->b', x12, x89)
    residual_adjoint = np.real(x6*x13 + x23*x26 + x34*x39 + x44*x26 + 2.0*x47*x26 + beta*adjoint*fraction/T**2 + x53
        - x56 - x62 - 1.0/beta*Q2_hat - (norm_hat**2)*chi - x64*x26 - x69*x13 - x39*x71 - x13*x26 - x77*x80 - x26*x82
        - 2.0*x39*x77 - 2.0*x26*x84 - 0.5/beta*x87 - 0.5/beta*x90 - inverse_dimension*(m**2)/T**2)
    x91 = np.einsum('fg,bg->bf', G, first)
    x92 = np.einsum('bf,ef->be', x91, inside)
    x93 = np.einsum('be,de->bd', x92, X_own)
    x94 = np.einsum('bd,ad->ab', x93, H_left)
    x95 = np.einsum('ab,a->b', x94, j_noise)
    x96 = np.einsum('de,ce->cd', x17, last)
    x97 = np.einsum('cd,ad->ac', x96, first)
    x98 = np.einsum('ac,a->c', x97, j_noise)
    x99 = np.einsum('fg,cg->cf', G, first)
    x100 = np.einsum('cf,ef->ce', x99, inside)
    x101 = np.einsum('ce,de->cd', x100, X_own)
    x102 = np.einsum('cd,ad->ac', x101, H_left)
    x103 = np.einsum('ac,a->c', x102, j_noise)
    x104 = np.einsum('de,be->bd', x17, last)
    x105 = np.einsum('bd,ad->ab', x104, first)
    x106 = np.einsum('ab,a->b', x105, j_noise)
    x107 = np.einsum('ag,fg->af', H, X_cross)
    x108 = np.einsum('af,ef->ae', x107, Res_theta)
    x109 = np.einsum('ae,de->ad', x108, X_cross)
    x110 = np.einsum('fe->ef', G)
    x111 = np.einsum('ef,bf->be', x110, last)
    x112 = np.einsum('ed->de', out)
    x113 = np.einsum('be,de->bd', x111, x112)
    x114 = np.einsum('ad,bd->ab', x109, x113)
    x115 = np.einsum('ab,a->b', x114, j_noise)
    x116 = np.einsum('de,ce->cd', G, first)
    x117 = np.einsum('cd,ad->ac', x116, last)
    x118 = np.einsum('ac,a->c', x117, j_noise)
    x119 = np.einsum('ef,cf->ce', x110, last)
    x120 = np.einsum('ce,de->cd', x119, x112)
    x121 = np.einsum('ad,cd->ac', x109, x120)
    x122 = np.einsum('ac,a->c', x121, j_noise)
    x123 = np.einsum('de,be->bd', G, first)
    x124 = np.einsum('bd,ad->ab', x123, last)
    x125 = np.einsum('ab,a->b', x124, j_noise)
    x126 = np.einsum('de,be->bd', G_theta, first)
    x127 = np.einsum('bd,ad->ab', x126, last)
    x128 = np.einsum('ab,a->b', x127, j_theta)
    x129 = np.einsum('de,ce->cd', x29, last)
    x130 = np.einsum('cd,ad->ac', x129, first)
    x131 = np.einsum('ac,a->c', x130, j_theta)
    x132 = np.einsum('de,ce->cd', G_theta, first)
    x133 = np.einsum('cd,ad->ac', x132, last)
    x134 = np.einsum('ac,a->c', x133, j_theta)
    x135 = np.einsum('de,be->bd', x29, last)
    x136 = np.einsum('bd,ad->ab', x135, first)
    x137 = np.einsum('ab,a->b', x136, j_theta)
    x138 = np.einsum('fg,bg->bf', G_theta, first)
    x139 = np.einsum('bf,ef->be', x138, inside)
    x140 = np.einsum('be,de->bd', x139, X_cross)
    x141 = np.einsum('bd,ad->ab', x140, H_left)
    x142 = np.einsum('ab,a->b', x141, j_noise)
    x143 = np.einsum('fg,cg->cf', G_theta, first)
    x144 = np.einsum('cf,ef->ce', x143, inside)
    x145 = np.einsum('ce,de->cd', x144, X_cross)
    x146 = np.einsum('cd,ad->ac', x145, H_left)
    x147 = np.einsum('ac,a->c', x146, j_noise)
    x148 = np.einsum('ef,bf->be', G, first)
    x149 = np.einsum('be,de->bd', x148, inside)
    x150 = np.einsum('da->ad', adjoint_Res)
    x151 = np.einsum('bd,ad->ab', x149, x150)
    x152 = np.einsum('da->ad', out)
    x153 = np.einsum('cd,ad->ac', x96, x152)
    x154 = np.einsum('ab,ac->bc', x151, x153)
    x155 = np.einsum('ef,cf->ce', G, first)
    x156 = np.einsum('ce,de->cd', x155, inside)
    x157 = np.einsum('cd,ad->ac', x156, x150)
    x158 = np.einsum('bd,ad->ab', x104, x152)
    x159 = np.einsum('ac,ab->bc', x157, x158)
    x160 = np.einsum('de,ae->ad', x8, upper)
    x161 = np.einsum('ad,bd->ab', x160, x123)
    x162 = np.einsum('cd,ad->ac', x96, last)
    x163 = np.einsum('ab,ac,a->bc', x161, x162, adjoint)
    x164 = np.einsum('ad,cd->ac', x160, x116)
    x165 = np.einsum('bd,ad->ab', x104, last)
    x166 = np.einsum('ac,ab,a->bc', x164, x165, adjoint)
    x167 = np.einsum('hi,bi->bh', G, first)
    x168 = np.einsum('bh,gh->bg', x167, inside)
    x169 = np.einsum('bg,fg->bf', x168, X_cross)
    x170 = np.einsum('bf,ef->be', x169, Res_theta)
    x171 = np.einsum('be,de->bd', x170, X_cross)
    x172 = np.einsum('bd,ad->ab', x171, H_left)
    x173 = np.einsum('ab,a->b', x172, j_noise)
    x174 = np.einsum('hi,ci->ch', G, first)
    x175 = np.einsum('ch,gh->cg', x174, inside)
    x176 = np.einsum('cg,fg->cf', x175, X_cross)
    x177 = np.einsum('cf,ef->ce', x176, Res_theta)
    x178 = np.einsum('ce,de->cd', x177, X_cross)
    x179 = np.einsum('cd,ad->ac', x178, H_left)
    x180 = np.einsum('ac,a->c', x179, j_noise)
    x181 = np.einsum('fe->ef', G_theta)
    x182 = np.einsum('ef,cf->ce', x181, last)
    x183 = np.einsum('ce,de->cd', x182, x112)
    x184 = np.einsum('ae,de->ad', H, X_cross)
    x185 = np.einsum('cd,ad->ac', x183, x184)
    x186 = np.einsum('ac,a->c', x185, j_noise)
    x187 = np.einsum('ef,bf->be', x181, last)
    x188 = np.einsum('be,de->bd', x187, x112)
    x189 = np.einsum('bd,ad->ab', x188, x184)
    x190 = np.einsum('ab,a->b', x189, j_noise)
    x191 = np.einsum('ae,de->ad', H, X_own)
    x192 = np.einsum('bd,ad->ab', x113, x191)
    x193 = np.einsum('ab,a->b', x192, j_noise)
    x194 = np.einsum('cd,ad->ac', x120, x191)
    x195 = np.einsum('ac,a->c', x194, j_noise)
    x196 = np.einsum('ae,de->ad', H_theta, X_cross)
    x197 = np.einsum('bd,ad->ab', x113, x196)
    x198 = np.einsum('ab,a->b', x197, j_theta)
    x199 = np.einsum('cd,ad->ac', x120, x196)
    x200 = np.einsum('ac,a->c', x199, j_theta)
    x201 = np.einsum('be,de->bd', x148, last)
    x202 = np.einsum('bd,ad->ab', x201, Q1_hat)
    x203 = np.einsum('ab,ac->bc', x202, x97)
    x204 = np.einsum('ce,de->cd', x155, last)
    x205 = np.einsum('cd,ad->ac', x204, Q1_hat)
    x206 = np.einsum('ac,ab->bc', x205, x105)
    x207 = np.einsum('be,de->bd', x111, first)
    x208 = np.einsum('bd,ad->ab', x207, Q1_hat)
    x209 = np.einsum('ab,ac->bc', x208, x117)
    x210 = np.einsum('ce,de->cd', x119, first)
    x211 = np.einsum('cd,ad->ac', x210, Q1_hat)
    x212 = np.einsum('ac,ab->bc', x211, x124)
    residual_Q1 = np.real(Q1 - 0.25/beta*(2.0*beta*(np.einsum('b,c->bc', x95, x98) + np.einsum('c,b->bc', x103, x106)
        + np.einsum('b,c->bc', x115, x118) + np.einsum('c,b->bc', x122, x125) + np.einsum('b,c->bc', x125, x98)
        + np.einsum('c,b->bc', x118, x106) + np.einsum('b,c->bc', x128, x131) + np.einsum('c,b->bc', x134, x137)
        + 2.0*np.einsum('b,c->bc', x142, x131) + 2.0*np.einsum('c,b->bc', x147, x137) + x154 + x159 + x163 + x166
        - np.einsum('b,c->bc', x173, x98) - np.einsum('c,b->bc', x180, x106) - np.einsum('b,c->bc', x142, x186)
        - np.einsum('c,b->bc', x147, x190) - np.einsum('b,c->bc', x193, x118) - np.einsum('c,b->bc', x195, x125)
        - 2.0*np.einsum('b,c->bc', x198, x118) - 2.0*np.einsum('c,b->bc', x200, x125)
        - 2.0*np.einsum('b,c->bc', zeta, zeta)) + x203 + x206 + x209 + x212))
    x213 = np.einsum('da->ad', inside)
    x214 = np.einsum('cd,ad->ac', X, x213)
    x215 = np.einsum('ac,bc->ab', x214, upper)
    x216 = np.einsum('ac,bc->ab', G, last)
    x217 = np.einsum('ab,ab->b', x215, x216)
    residual_T = np.real(T - beta*fraction/(ridge + V2_hat - x217))
    residual_V1 = np.real(V1 - 1.0/beta*M)
    residual_norm = np.real(norm - T*chi*norm_hat)
    x218 = np.einsum('ba->ab', M_cross)
    x219 = np.einsum('a,ab->b', j_theta, x218)
    x220 = np.einsum('a,ab->b', j_noise, M_noise)
    x221 = np.einsum('ba->ab', M_noise)
    x222 = np.einsum('a,ab->b', j_noise, x221)
    x223 = np.einsum('a,ab->b', j_noise, M_cross)
    x224 = np.einsum('a,ab->b', j_theta, M_theta)
    x225 = np.einsum('ba->ab', M_theta)
    x226 = np.einsum('a,ab->b', j_theta, x225)
    residual_psi = np.real(x219*gamma + 0.5*x220*gamma + 0.5*x222*gamma + psi - x223*rho - 0.5*x224*rho - 0.5*x226*rho)
    residual_zeta = np.real(zeta - x223*gamma - x219*rho - 0.5*x220*rho - 0.5*x222*rho - 0.5*x224*gamma
        - 0.5*x226*gamma)
    s.update(residual_adjoint=residual_adjoint, residual_Q1=residual_Q1, residual_T=residual_T,
        residual_V1=residual_V1, residual_norm=residual_norm, residual_psi=residual_psi, residual_zeta=residual_zeta)


def free_energy(s):
    """The free energy, stored as such."""
    (M, M_cross, M_noise, M_theta, Q1, Q1_hat, Q2, Q2_hat, T, V1, V1_hat, V2, V2_hat, alpha, avg_M, beta, chi,
        inverse_dimension, j_noise, j_theta, m, norm, norm_hat, psi, psi_hat, weight, zeta,
        zeta_hat) = (s[name] for name in ('M', 'M_cross', 'M_noise', 'M_theta', 'Q1', 'Q1_hat', 'Q2', 'Q2_hat', 'T',
        'V1', 'V1_hat', 'V2', 'V2_hat', 'alpha', 'avg_M', 'beta', 'chi', 'inverse_dimension', 'j_noise', 'j_theta',
        'm', 'norm', 'norm_hat', 'psi', 'psi_hat', 'weight', 'zeta', 'zeta_hat'))
    x0 = np.dot(weight, avg_M)
    x1 = np.einsum('b->', Q2_hat*V2 - Q2*V2_hat)
    x2 = np.einsum('bc->c', Q1_hat*V1 - Q1*V1_hat)
    x3 = np.einsum('c->', x2)
    x4 = np.einsum('b->', norm*norm_hat + psi*psi_hat + zeta*zeta_hat)
    x5 = np.einsum('ba->ab', M_cross)
    x6 = np.einsum('b,ab->a', j_noise, x5)
    x7 = np.einsum('a,a->', x6, j_theta)
    x8 = np.einsum('ba->ab', M_noise)
    x9 = np.einsum('b,ab->a', j_noise, x8)
    x10 = np.einsum('a,a->', x9, j_noise)
    x11 = np.einsum('ba->ab', M_theta)
    x12 = np.einsum('b,ab->a', j_theta, x11)
    x13 = np.einsum('a,a->', x12, j_theta)
    x14 = np.einsum('a,a,a->', norm_hat**2, T, chi)
    x15 = np.einsum('b,c,bc->c', zeta, zeta, V1_hat)
    x16 = np.einsum('c->', x15)
    x17 = np.einsum('a,a->', Q2_hat, T)
    x18 = np.einsum('ab,ab->a', M, Q1_hat)
    x19 = np.einsum('a->', x18)
    x20 = 0.5*np.einsum('b,b->', 1.0/T, m**2)
    free_energy = np.real(alpha*x0 + beta*(0.5*x1 + 0.5*x3 + x4 - x7 - 0.5*x10 - 0.5*x13 - 0.5*x14 - 0.5*x16
        - 0.5*(x17 + x19)/beta) + inverse_dimension*beta*x20)
    s.update(free_energy=free_energy)


EQUATIONS = """
V := sum(mu2sq[b]*V2[b], b) + sum(sum(mu1[b]*mu1[c]*V1[b, c], b), c)
slope := sum(mu1[b]*psi[b], b)
mean := sum(kappa*mu1[b]*zeta[b] + mu0[b]*m[b] + mu_c[b]*norm[b], b)
Delta := -slope**2 + sum(mu2sq[b]*Q2[b], b) + sum(sum(mu1[b]*mu1[c]*Q1[b, c], b), c)
Q2[b] = adjoint[b]  # d/dV2_hat
out[i, p] = -sum(T[b]*last[b, i]*upper[b, p], b) + lower[i, p]  # out
V2[b] = T[b]/beta  # d/dQ2_hat
norm_hat[b] = alpha*E(avg_g*mu_c[b])/beta  # d/dnorm
Q1_hat[b, c] = alpha*E(avg_gg*mu1[b]*mu1[c])/beta  # d/dV1
Q2_hat[b] = alpha*E(avg_gg*mu2sq[b])/beta  # d/dV2
V1_hat[b, c] = alpha*E(avg_h*mu1[b]*mu1[c])/beta  # d/dQ1
V2_hat[b] = alpha*E(avg_h*mu2sq[b])/beta  # d/dQ2
psi_hat[b] = alpha*E((avg_h*slope + avg_tg)*mu1[b])/beta  # d/dpsi
# G
0 = (sum((sum(sum(V1_hat[b, c]*last[b, j], b)*first[c, e], c)/2 + sum(sum(V1_hat[b, c]*last[c, j], c)*first[b, e], b)/2
    + sum(sum(X[p, q]*inside[q, j], q)*out[e, p], p) + fixed[e, j])*G[i, e], e) - unit_G[i, j])
zeta_hat[b] = alpha*E(kappa*avg_g*mu1[b])/beta + sum(V1_hat[a, b]*zeta[a], a)  # d/dzeta
H[c, p] = sum(sum(G[i, j]*first[c, j], j)*inside[p, i], i)  # H
H_left[b, p] = -sum(sum(G[i, j]*out[j, p], j)*last[b, i], i)  # H_left
M[b, c] = sum(sum(G[a, d]*first[b, d], d)*last[c, a], a)/2 + sum(sum(G[a, d]*first[c, d], d)*last[b, a], a)/2  # M
Res[p, q] = sum(sum(G[a, b]*out[b, q], b)*inside[p, a], a)  # Res
j_noise[b] = -gamma[b]*psi_hat[b] + rho[b]*zeta_hat[b]  # j_noise
j_theta[b] = gamma[b]*zeta_hat[b] + psi_hat[b]*rho[b]  # j_theta
0 = sum((sum(Res[e, r]*sample[r, q, x], r) + unit_D[e, q])*D[p, e, x], e) - unit_D[p, q]  # D
adjoint_X_own[p, q] = sum(H[a, q]*j_noise[a], a)*sum(H_left[a, p]*j_noise[a], a)  # adjoint_X_own
F[p, q, x] = sum(D[r, q, x]*sample[p, r, x], r)  # F
X_cross[p, q] = sum(F[p, q, a]*law_te[a], a)  # X_cross
X_own[p, q] = sum(F[p, q, a]*law_ee[a], a)  # X_own
X_theta[p, q] = sum(F[p, q, a]*law_tt[a], a) + base[p, q]  # X_theta
# G_theta
0 = (sum((sum(sum(V1_hat[b, c]*last[b, j], b)*first[c, e], c)/2 + sum(sum(V1_hat[b, c]*last[c, j], c)*first[b, e], b)/2
    + sum(sum(X_theta[p, q]*inside[q, j], q)*out[e, p], p) + fixed[e, j])*G_theta[i, e], e) - unit_G[i, j])
H_theta[c, p] = sum(sum(G_theta[i, j]*first[c, j], j)*inside[p, i], i)  # H_theta
# M_theta
M_theta[b, c] = (sum(sum(G_theta[a, d]*first[b, d], d)*last[c, a], a)/2
    + sum(sum(G_theta[a, d]*first[c, d], d)*last[b, a], a)/2)
Res_theta[p, q] = sum(sum(G_theta[i, j]*out[j, q], j)*inside[p, i], i)  # Res_theta
# adjoint_X_theta
adjoint_X_theta[p, q] = (sum(sum(sum(sum(sum(G_theta[d, e]*out[e, p], e)*inside[c, d], d)*X_cross[b, c], c)*H_left[a,
    b], b)*j_noise[a], a)*sum(sum(sum(sum(G_theta[d, c]*inside[q, d], d)*out[c, b], c)*sum(H[a, c]*X_cross[b, c], c),
    b)*j_noise[a], a) - 2*sum(sum(sum(sum(sum(G_theta[d, e]*out[e, p], e)*inside[c, d], d)*X_cross[b, c], c)*H_left[a,
    b], b)*j_noise[a], a)*sum(sum(sum(G_theta[c, b]*inside[q, c], c)*first[a, b], b)*j_theta[a], a)
    - sum(sum(sum(G_theta[b, c]*out[c, p], c)*last[a, b], b)*j_theta[a],
    a)*sum(sum(sum(G_theta[c, b]*inside[q, c], c)*first[a, b], b)*j_theta[a], a))
M_cross[b, c] = sum(sum(H_theta[c, q]*X_cross[p, q], q)*H_left[b, p], p)  # M_cross
# M_noise
M_noise[b, c] = (-sum(sum(sum(sum(H[c, i]*X_cross[r, i], i)*Res_theta[q, r], r)*X_cross[p, q], q)*H_left[b, p], p)
    + sum(sum(H[c, q]*X_own[p, q], q)*H_left[b, p], p) + M[b, c])
# adjoint_X_cross
adjoint_X_cross[p, q] = (-sum(sum(sum(H[a, c]*X_cross[b, c], c)*Res_theta[q, b], b)*j_noise[a],
    a)*sum(H_left[a, p]*j_noise[a], a) - sum(sum(sum(Res_theta[c, p]*X_cross[b, c], c)*H_left[a, b], b)*j_noise[a],
    a)*sum(H[a, q]*j_noise[a], a) + 2*sum(H_left[a, p]*j_noise[a], a)*sum(H_theta[a, q]*j_theta[a], a))
# adjoint_Res
adjoint_Res[p, q] = (-sum(sum(sum(F[c, p, a]*adjoint_X[c, b], c)*F[q, b, a], b)*law_tr[a], a)
    - sum(sum(sum(F[c, p, a]*adjoint_X_cross[c, b], c)*F[q, b, a], b)*law_te[a], a)
    - sum(sum(sum(F[c, p, a]*adjoint_X_own[c, b], c)*F[q, b, a], b)*law_ee[a], a)
    - sum(sum(sum(F[c, p, a]*adjoint_X_theta[c, b], c)*F[q, b, a], b)*law_tt[a], a))
# adjoint
0 = (beta*adjoint[b]*fraction[b]/T[b]**2 - inverse_dimension*m[b]**2/T[b]**2
    + sum(sum(sum(sum(sum(sum(sum(G[g, h]*last[b, h], h)*inside[f, g], g)*X_cross[e, f], f)*Res_theta[d, e],
    e)*X_cross[c, d], d)*H_left[a, c], c)*j_noise[a], a)*sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e],
    e)*G[d, c], d)*first[a, c], c)*j_noise[a], a) - sum(sum(sum(sum(sum(sum(X[f, g]*inside[g, e], g)*upper[b, f],
    f)*G[e, d], e)*out[d, c], d)*sum(sum(sum(H[a, f]*X_cross[e, f], f)*Res_theta[d, e], e)*X_cross[c, d], d),
    c)*j_noise[a], a)*sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a], a)
    + sum(sum(sum(sum(sum(sum(X[f, g]*inside[g, e], g)*upper[b, f], f)*G[e, d], e)*out[d, c],
    d)*sum(H[a, d]*X_own[c, d], d), c)*j_noise[a], a)*sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a], a)
    + 2*sum(sum(sum(sum(sum(sum(X[f, g]*inside[g, e], g)*upper[b, f], f)*G[e, d], e)*out[d, c],
    d)*sum(H_theta[a, d]*X_cross[c, d], d), c)*j_theta[a], a)*sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c],
    c)*j_noise[a], a) + sum(sum(sum(sum(sum(sum(X_theta[f, g]*inside[g, e], g)*upper[b, f], f)*G_theta[e, d], e)*out[d,
    c], d)*sum(H[a, d]*X_cross[c, d], d), c)*j_noise[a], a)*sum(sum(sum(sum(sum(G_theta[e, f]*last[b, f], f)*inside[d,
    e], e)*X_cross[c, d], d)*H_left[a, c], c)*j_noise[a], a) - sum(sum(sum(sum(sum(G[e, f]*last[b, f], f)*inside[d, e],
    e)*X_own[c, d], d)*H_left[a, c], c)*j_noise[a], a)*sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e],
    e)*G[d, c], d)*first[a, c], c)*j_noise[a], a) - 2*sum(sum(sum(sum(sum(G_theta[e, f]*last[b, f], f)*inside[d, e],
    e)*X_cross[c, d], d)*H_left[a, c], c)*j_noise[a], a)*sum(sum(sum(sum(sum(X_theta[e, f]*inside[f, d], f)*upper[b,
    e], e)*G_theta[d, c], d)*first[a, c], c)*j_theta[a], a) - sum(sum(sum(sum(sum(G_theta[e, f]*last[b, f],
    f)*inside[d, e], e)*X_cross[c, d], d)*H_left[a, c], c)*j_noise[a],
    a)*sum(sum(sum(H[a, d]*X_cross[c, d], d)*upper[b, c], c)*j_noise[a], a)
    + sum(sum(sum(sum(sum(H[a, f]*X_cross[e, f], f)*Res_theta[d, e], e)*X_cross[c, d], d)*upper[b, c], c)*j_noise[a],
    a)*sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a], a)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*first[a, c], c)*j_noise[a],
    a)*sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a], a)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*out[c, a],
    c)*sum(sum(sum(G[d, e]*last[b, e], e)*inside[c, d], d)*adjoint_Res[c, a], c), a)
    - sum(sum(sum(sum(sum(X_theta[e, f]*inside[f, d], f)*upper[b, e], e)*G_theta[d, c], d)*first[a, c], c)*j_theta[a],
    a)*sum(sum(sum(G_theta[c, d]*last[b, d], d)*last[a, c], c)*j_theta[a], a)
    + sum(sum(sum(sum(G[d, e]*last[b, e], e)*inside[c, d], d)*adjoint_Res[c, a], c)*upper[b, a], a)
    - sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a],
    a)*sum(sum(sum(H[a, d]*X_own[c, d], d)*upper[b, c], c)*j_noise[a], a)
    - 2*sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a],
    a)*sum(sum(sum(H_theta[a, d]*X_cross[c, d], d)*upper[b, c], c)*j_theta[a], a)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*last[a, c],
    c)*sum(sum(sum(X[d, e]*inside[e, c], e)*upper[a, d], d)*sum(G[c, d]*last[b, d], d), c)*adjoint[a], a)
    - chi[b]*norm_hat[b]**2 - sum(sum(sum(sum(sum(sum(X[f, g]*inside[g, e], g)*upper[b, f], f)*G[e, d], e)*first[c, d],
    d)*Q1_hat[a, c], c)*sum(sum(G[c, d]*last[b, d], d)*last[a, c], c), a)/(2*beta)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*first[a, c],
    c)*sum(sum(sum(G[d, e]*last[b, e], e)*last[c, d], d)*Q1_hat[a, c], c), a)/(2*beta) - Q2_hat[b]/beta)
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b]  # d/dm
# d/dV1_hat
Q1[b, c] = ((2*beta*(-sum(sum(sum(sum(sum(sum(sum(G[h, i]*first[b, i], i)*inside[g, h], h)*X_cross[f, g],
    g)*Res_theta[e, f], f)*X_cross[d, e], e)*H_left[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[c, e], e)*first[a, d], d)*j_noise[a], a)
    - sum(sum(sum(sum(sum(sum(sum(G[h, i]*first[c, i], i)*inside[g, h], h)*X_cross[f, g], g)*Res_theta[e, f],
    f)*X_cross[d, e], e)*H_left[a, d], d)*j_noise[a], a)*sum(sum(sum(G[e, d]*last[b, e], e)*first[a, d], d)*j_noise[a],
    a) + sum(sum(sum(sum(sum(G[f, g]*first[b, g], g)*inside[e, f], f)*X_own[d, e], e)*H_left[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[c, e], e)*first[a, d], d)*j_noise[a], a)
    + sum(sum(sum(sum(sum(G[f, g]*first[c, g], g)*inside[e, f], f)*X_own[d, e], e)*H_left[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[b, e], e)*first[a, d], d)*j_noise[a], a)
    - sum(sum(sum(sum(sum(G_theta[f, g]*first[b, g], g)*inside[e, f], f)*X_cross[d, e], e)*H_left[a, d], d)*j_noise[a],
    a)*sum(sum(sum(sum(G_theta[f, e]*last[c, f], f)*out[e, d], e)*sum(H[a, e]*X_cross[d, e], e), d)*j_noise[a], a)
    + 2*sum(sum(sum(sum(sum(G_theta[f, g]*first[b, g], g)*inside[e, f], f)*X_cross[d, e], e)*H_left[a, d],
    d)*j_noise[a], a)*sum(sum(sum(G_theta[e, d]*last[c, e], e)*first[a, d], d)*j_theta[a], a)
    - sum(sum(sum(sum(sum(G_theta[f, g]*first[c, g], g)*inside[e, f], f)*X_cross[d, e], e)*H_left[a, d], d)*j_noise[a],
    a)*sum(sum(sum(sum(G_theta[f, e]*last[b, f], f)*out[e, d], e)*sum(H[a, e]*X_cross[d, e], e), d)*j_noise[a], a)
    + 2*sum(sum(sum(sum(sum(G_theta[f, g]*first[c, g], g)*inside[e, f], f)*X_cross[d, e], e)*H_left[a, d],
    d)*j_noise[a], a)*sum(sum(sum(G_theta[e, d]*last[b, e], e)*first[a, d], d)*j_theta[a], a)
    + sum(sum(sum(sum(sum(H[a, g]*X_cross[f, g], g)*Res_theta[e, f], f)*X_cross[d, e],
    e)*sum(sum(G[f, e]*last[b, f], f)*out[e, d], e), d)*j_noise[a],
    a)*sum(sum(sum(G[d, e]*first[c, e], e)*last[a, d], d)*j_noise[a], a)
    + sum(sum(sum(sum(sum(H[a, g]*X_cross[f, g], g)*Res_theta[e, f], f)*X_cross[d, e],
    e)*sum(sum(G[f, e]*last[c, f], f)*out[e, d], e), d)*j_noise[a],
    a)*sum(sum(sum(G[d, e]*first[b, e], e)*last[a, d], d)*j_noise[a], a)
    + sum(sum(sum(sum(G[e, f]*first[b, f], f)*inside[d, e], e)*adjoint_Res[d, a],
    d)*sum(sum(G[e, d]*last[c, e], e)*out[d, a], d), a) + sum(sum(sum(sum(G[e, f]*first[c, f], f)*inside[d, e],
    e)*adjoint_Res[d, a], d)*sum(sum(G[e, d]*last[b, e], e)*out[d, a], d), a)
    - sum(sum(sum(sum(G[f, e]*last[b, f], f)*out[e, d], e)*sum(H[a, e]*X_own[d, e], e), d)*j_noise[a],
    a)*sum(sum(sum(G[d, e]*first[c, e], e)*last[a, d], d)*j_noise[a], a)
    - 2*sum(sum(sum(sum(G[f, e]*last[b, f], f)*out[e, d], e)*sum(H_theta[a, e]*X_cross[d, e], e), d)*j_theta[a],
    a)*sum(sum(sum(G[d, e]*first[c, e], e)*last[a, d], d)*j_noise[a], a)
    - sum(sum(sum(sum(G[f, e]*last[c, f], f)*out[e, d], e)*sum(H[a, e]*X_own[d, e], e), d)*j_noise[a],
    a)*sum(sum(sum(G[d, e]*first[b, e], e)*last[a, d], d)*j_noise[a], a)
    - 2*sum(sum(sum(sum(G[f, e]*last[c, f], f)*out[e, d], e)*sum(H_theta[a, e]*X_cross[d, e], e), d)*j_theta[a],
    a)*sum(sum(sum(G[d, e]*first[b, e], e)*last[a, d], d)*j_noise[a], a)
    + sum(sum(sum(G[d, e]*first[b, e], e)*last[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[c, e], e)*first[a, d], d)*j_noise[a], a)
    + sum(sum(sum(G[d, e]*first[c, e], e)*last[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[b, e], e)*first[a, d], d)*j_noise[a], a)
    + sum(sum(sum(G_theta[d, e]*first[b, e], e)*last[a, d], d)*j_theta[a],
    a)*sum(sum(sum(G_theta[e, d]*last[c, e], e)*first[a, d], d)*j_theta[a], a)
    + sum(sum(sum(G_theta[d, e]*first[c, e], e)*last[a, d], d)*j_theta[a],
    a)*sum(sum(sum(G_theta[e, d]*last[b, e], e)*first[a, d], d)*j_theta[a], a)
    + sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[a, e], e)*sum(G[d, e]*first[b, e], e),
    d)*sum(sum(G[e, d]*last[c, e], e)*last[a, d], d)*adjoint[a], a)
    + sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[a, e], e)*sum(G[d, e]*first[c, e], e),
    d)*sum(sum(G[e, d]*last[b, e], e)*last[a, d], d)*adjoint[a], a) - 2*zeta[b]*zeta[c])
    + sum(sum(sum(sum(G[e, f]*first[b, f], f)*last[d, e], e)*Q1_hat[a, d],
    d)*sum(sum(G[e, d]*last[c, e], e)*first[a, d], d), a) + sum(sum(sum(sum(G[e, f]*first[c, f], f)*last[d, e],
    e)*Q1_hat[a, d], d)*sum(sum(G[e, d]*last[b, e], e)*first[a, d], d), a)
    + sum(sum(sum(sum(G[f, e]*last[b, f], f)*first[d, e], e)*Q1_hat[a, d],
    d)*sum(sum(G[d, e]*first[c, e], e)*last[a, d], d), a) + sum(sum(sum(sum(G[f, e]*last[c, f], f)*first[d, e],
    e)*Q1_hat[a, d], d)*sum(sum(G[d, e]*first[b, e], e)*last[a, d], d), a))/(4*beta))
# dL/dT
T[b] = (beta*fraction[b]/(ridge - sum(sum(sum(X[c, d]*inside[d, a], d)*upper[b, c], c)*sum(G[a, c]*last[b, c], c), a)
    + V2_hat[b]))
V1[b, c] = M[b, c]/beta  # d/dQ1_hat
norm[b] = T[b]*chi[b]*norm_hat[b]  # d/dnorm_hat
# d/dpsi_hat
psi[b] = (sum(M_cross[a, b]*j_noise[a], a)*rho[b] - sum(M_cross[b, a]*j_theta[a], a)*gamma[b]
    - sum(M_noise[a, b]*j_noise[a], a)*gamma[b]/2 - sum(M_noise[b, a]*j_noise[a], a)*gamma[b]/2
    + sum(M_theta[a, b]*j_theta[a], a)*rho[b]/2 + sum(M_theta[b, a]*j_theta[a], a)*rho[b]/2)
# d/dzeta_hat
zeta[b] = (sum(M_cross[a, b]*j_noise[a], a)*gamma[b] + sum(M_cross[b, a]*j_theta[a], a)*rho[b]
    + sum(M_noise[a, b]*j_noise[a], a)*rho[b]/2 + sum(M_noise[b, a]*j_noise[a], a)*rho[b]/2
    + sum(M_theta[a, b]*j_theta[a], a)*gamma[b]/2 + sum(M_theta[b, a]*j_theta[a], a)*gamma[b]/2)
X[p, q] = sum(F[p, q, a]*law_tr[a], a) + base[p, q]  # X
# adjoint_X
adjoint_X[p, q] = (sum(sum(sum(sum(sum(sum(sum(G[f, g]*out[g, p], g)*inside[e, f], f)*X_cross[d, e], e)*Res_theta[c,
    d], d)*X_cross[b, c], c)*H_left[a, b], b)*j_noise[a], a)*sum(sum(sum(G[c, b]*inside[q, c], c)*first[a, b],
    b)*j_noise[a], a) - sum(sum(sum(sum(sum(G[d, e]*out[e, p], e)*inside[c, d], d)*X_own[b, c], c)*H_left[a, b],
    b)*j_noise[a], a)*sum(sum(sum(G[c, b]*inside[q, c], c)*first[a, b], b)*j_noise[a], a)
    - sum(sum(sum(sum(sum(H[a, e]*X_cross[d, e], e)*Res_theta[c, d], d)*X_cross[b, c],
    c)*sum(sum(G[d, c]*inside[q, d], d)*out[c, b], c), b)*j_noise[a],
    a)*sum(sum(sum(G[b, c]*out[c, p], c)*last[a, b], b)*j_noise[a], a)
    - sum(sum(sum(sum(G[c, d]*out[d, p], d)*inside[b, c], c)*adjoint_Res[b, a],
    b)*sum(sum(G[c, b]*inside[q, c], c)*out[b, a], b), a) + sum(sum(sum(sum(G[d, c]*inside[q, d], d)*out[c, b],
    c)*sum(H[a, c]*X_own[b, c], c), b)*j_noise[a], a)*sum(sum(sum(G[b, c]*out[c, p], c)*last[a, b], b)*j_noise[a], a)
    + 2*sum(sum(sum(sum(G[d, c]*inside[q, d], d)*out[c, b], c)*sum(H_theta[a, c]*X_cross[b, c], c), b)*j_theta[a],
    a)*sum(sum(sum(G[b, c]*out[c, p], c)*last[a, b], b)*j_noise[a], a)
    - sum(sum(sum(G[b, c]*out[c, p], c)*last[a, b], b)*j_noise[a],
    a)*sum(sum(sum(G[c, b]*inside[q, c], c)*first[a, b], b)*j_noise[a], a)
    - sum(sum(sum(sum(X[c, d]*inside[d, b], d)*upper[a, c], c)*sum(G[b, c]*out[c, p], c),
    b)*sum(sum(G[c, b]*inside[q, c], c)*last[a, b], b)*adjoint[a], a)
    + sum(sum(sum(G[b, c]*last[a, c], c)*inside[q, b], b)*adjoint[a]*upper[a, p], a)
    - sum(sum(sum(sum(G[c, d]*out[d, p], d)*last[b, c], c)*Q1_hat[a, b],
    b)*sum(sum(G[c, b]*inside[q, c], c)*first[a, b], b), a)/(2*beta)
    - sum(sum(sum(sum(G[d, c]*inside[q, d], d)*first[b, c], c)*Q1_hat[a, b],
    b)*sum(sum(G[b, c]*out[c, p], c)*last[a, b], b), a)/(2*beta))
"""
COLUMNS = ('kappa', 'weight', 'nu0', 'nu1', 'nu2sq')
check = Certificate(EQUATIONS, COLUMNS, odd=('avg_g', 'avg_tg'), features=('mu0', 'mu1', 'mu2sq', 'mu_c')).check


RULES = """
d_avg_M := -avg_g*d_mean - avg_gg*d_V/2 + avg_h*d_Delta/2 - avg_tg*d_slope
d_avg_g := -avg_gh*d_V - avg_h*d_mean - avg_hx*d_Delta/2 - avg_th*d_slope
d_avg_gg := -2*avg_ggh*d_V - 2*avg_gh*d_mean - avg_ghx*d_Delta - 2*avg_tgh*d_slope
d_avg_h := avg_ghx*d_V + avg_hx*d_mean + avg_hxx*d_Delta/2 + avg_thx*d_slope
d_avg_tg := -avg_tgh*d_V - avg_th*d_mean - avg_thx*d_Delta/2 - avg_tth*d_slope
d_G[i, j] := (-sum(sum(sum(sum(X[c, d]*inside[d, a], d)*d_out[b, c], c)*G[i, b], b)*G[a, j], a)
    - sum(sum(sum(sum(d_V1_hat[c, d]*last[d, a], d)*first[c, b], c)*G[i, b], b)*G[a, j], a)
    - sum(sum(sum(sum(d_X[c, d]*inside[d, a], d)*out[b, c], c)*G[i, b], b)*G[a, j], a))
d_D[p, q, x] := (-sum(sum(sum(Res[b, c]*d_sample[c, a, x], c)*D[p, b, x], b)*D[a, q, x], a)
    - sum(sum(sum(d_Res[b, c]*sample[c, a, x], c)*D[p, b, x], b)*D[a, q, x], a))
d_G_theta[i, j] := (-sum(sum(sum(sum(X_theta[c, d]*inside[d, a], d)*d_out[b, c], c)*G_theta[i, b], b)*G_theta[a, j], a)
    - sum(sum(sum(sum(d_V1_hat[c, d]*last[d, a], d)*first[c, b], c)*G_theta[i, b], b)*G_theta[a, j], a)
    - sum(sum(sum(sum(d_X_theta[c, d]*inside[d, a], d)*out[b, c], c)*G_theta[i, b], b)*G_theta[a, j], a))
"""
OBSERVABLES = """
test_error := E((-mean + nu0)**2 + (nu1 - slope)**2 + Delta + nu2sq)
train_error := E(-V*avg_gg/2 + avg_M)
free_energy := (alpha*E(avg_M) + beta*inverse_dimension*sum(m[b]**2/(2*T[b]), b)
    + beta*(-sum(sum(M_cross[b, a]*j_noise[b], b)*j_theta[a], a)
    - sum(sum(M_noise[b, a]*j_noise[b], b)*j_noise[a], a)/2 - sum(sum(M_theta[b, a]*j_theta[b], b)*j_theta[a], a)/2
    - sum(T[a]*chi[a]*norm_hat[a]**2, a)/2 + sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2
    + sum(norm[b]*norm_hat[b] + psi[b]*psi_hat[b] + zeta[b]*zeta_hat[b], b)
    - sum(sum(V1_hat[b, c]*zeta[b]*zeta[c], b), c)/2 + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b), c)/2
    - (sum(Q2_hat[a]*T[a], a) + sum(sum(M[a, b]*Q1_hat[a, b], b), a))/(2*beta)))
"""
motion = Motion(Text(EQUATIONS, ('adjoint', 'm', 'Q1', 'T', 'V1', 'norm', 'psi', 'zeta', 'X', 'adjoint_X'),
    ('sample', 'base', 'chi'), RULES, OBSERVABLES), COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
