"""Equations of a stretched bulk, any number of blocks  [THEORY section 5].

Generated; do not edit. Signature 444b2513580d6c8a.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.tangents import Motion, Text

SIGNATURE = "444b2513580d6c8a09e7c76bc1b6f3b54832b3a4677632062a21a988ac30458c"


UNKNOWNS = ('adjoint', 'Q1', 'T', 'V1', 'norm', 'psi', 'zeta')
INNER = ('X', 'adjoint_X')
INPUTS = ('Q1_hat', 'Q2_hat', 'V1_hat', 'V2_hat', 'average_zeta_hat', 'norm_hat', 'psi_hat')
GIVEN = ('upper', 'lower', 'first', 'inside', 'last', 'fixed', 'unit_G', 'unit_D', 'gamma', 'rho', 'sample', 'base',
    'law_tr', 'law_tt', 'law_te', 'law_ee', 'law_t', 'law_e', 'law_own', 'chi', 'along', 'spread')


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
    x5 = np.einsum('pq,qj->jp', X, inside)
    x6 = np.einsum('jp,ip->ij', x5, out)
    G = np.linalg.inv(0.5*x2 + 0.5*x4 + x6 + fixed)
    x7 = np.einsum('ab,bq->aq', G, out)
    x8 = np.einsum('aq,pa->pq', x7, inside)
    Res = np.real(x8)
    x9 = np.einsum('pr,rqx->pqx', Res, sample)
    D = np.moveaxis(np.linalg.inv(np.moveaxis(x9 + unit_D[:, :, None], -1, 0)), 0, -1)
    x10 = np.einsum('rqx,prx->pqx', D, sample)
    F = x10
    x11 = np.einsum('a,pqa->pq', law_tr, F)
    residual_X = np.real(X - x11 - base)
    s.update(out=out, G=G, Res=Res, D=D, F=F, residual_X=residual_X)


def slope(s):
    """The derivative of what X equals in X, [p, q, y, z]."""
    (D, G, inside, law_tr, out, sample) = (s[name] for name in ('D', 'G', 'inside', 'law_tr', 'out', 'sample'))
    x0 = np.einsum('de,ey->dy', G, out)
    x1 = np.einsum('dy,cd->cy', x0, inside)
    x2 = np.einsum('cy,bca->aby', x1, D)
    x3 = np.einsum('aby,pba->apy', x2, sample)
    x4 = np.einsum('ed,ze->dz', G, inside)
    x5 = np.einsum('dz,dc->cz', x4, out)
    x6 = np.einsum('cz,cba->abz', x5, sample)
    x7 = np.einsum('abz,bqa->aqz', x6, D)
    x8 = np.einsum('apy,aqz,a->pqyz', x3, x7, law_tr)
    slope_X = np.real(x8)
    s.update(slope_X=slope_X)


def chain(s):
    """What else follows from unknowns and conjugates, without adjoint_X."""
    (D, F, G, Res, T, V1_hat, along, average_zeta_hat, base, first, fixed, gamma, identity, inside, last, law_e,
        law_ee, law_own, law_t, law_te, law_tt, norm_hat, out, psi_hat, rho, spread, upper,
        zeta) = (s[name] for name in ('D', 'F', 'G', 'Res', 'T', 'V1_hat', 'along', 'average_zeta_hat', 'base',
        'first', 'fixed', 'gamma', 'identity', 'inside', 'last', 'law_e', 'law_ee', 'law_own', 'law_t', 'law_te',
        'law_tt', 'norm_hat', 'out', 'psi_hat', 'rho', 'spread', 'upper', 'zeta'))
    x0 = np.einsum('b,b,bpx->px', T, norm_hat, along)
    norm_left = x0
    x1 = np.einsum('b,bpx->px', norm_hat, along)
    norm_right = x1
    x2 = np.einsum('a,ab->b', zeta, V1_hat)
    zeta_hat = np.real(x2 + average_zeta_hat)
    x3 = np.einsum('ij,cj->ci', G, first)
    x4 = np.einsum('ci,pi->cp', x3, inside)
    H = np.real(x4)
    x5 = np.einsum('ij,jp->ip', G, out)
    x6 = np.einsum('ip,bi->bp', x5, last)
    H_left = np.real((-1.0)*x6)
    x7 = np.einsum('ad,bd->ab', G, first)
    x8 = np.einsum('ab,ca->bc', x7, last)
    x9 = np.einsum('ad,cd->ac', G, first)
    x10 = np.einsum('ac,ba->bc', x9, last)
    M = np.real(0.5*x8 + 0.5*x10)
    j_noise = np.real(rho*zeta_hat - gamma*psi_hat)
    j_theta = np.real(gamma*zeta_hat + psi_hat*rho)
    x11 = np.einsum('pq,qx->px', Res, norm_right)
    norm_mean = x11
    x12 = np.einsum('b,bp->p', j_noise, H_left)
    h_left = np.real(x12)
    x13 = np.einsum('c,cp->p', j_noise, H)
    h_noise = np.real(x13)
    adjoint_M_theta = np.real(np.einsum('b,c->bc', j_theta, j_theta))
    x14 = np.einsum('px,pqx->qx', norm_left, D)
    put_left = x14
    x15 = np.einsum('a,pqa->pq', law_te, F)
    X_cross = np.real(x15)
    x16 = np.einsum('a,pqa->pq', law_ee, F)
    X_own = np.real(x16)
    x17 = np.einsum('a,pqa->pq', law_tt, F)
    X_theta = np.real(x17 + base)
    x18 = np.einsum('qx,pqx->px', norm_mean, F)
    put_back = norm_right - x18
    x19 = np.einsum('p,pq->q', h_left, X_cross)
    x20 = np.einsum('x,qx->q', law_t, put_left)
    on_left = np.real(x19 + x20)
    x21 = np.einsum('rq,qp->pr', Res, X_cross)
    x22 = np.einsum('pr,br->bp', x21, upper)
    spike_left = np.real(np.einsum('b,bp->bp', gamma, upper) - np.einsum('bp,b->bp', x22, rho))
    x23 = np.einsum('qr,cr->cq', Res, upper)
    x24 = np.einsum('cq,pq->cp', x23, X_cross)
    spike_right = np.real(np.einsum('c,cp->cp', gamma, upper) - np.einsum('cp,c->cp', x24, rho))
    x25 = np.einsum('bc,bj->cj', V1_hat, last)
    x26 = np.einsum('cj,ci->ij', x25, first)
    x27 = np.einsum('bc,cj->bj', V1_hat, last)
    x28 = np.einsum('bj,bi->ij', x27, first)
    x29 = np.einsum('pq,qj->jp', X_theta, inside)
    x30 = np.einsum('jp,ip->ij', x29, out)
    G_theta = np.linalg.inv(0.5*x26 + 0.5*x28 + x30 + fixed)
    x31 = np.einsum('q,pq->p', h_noise, X_own)
    x32 = np.einsum('x,px->p', law_e, put_back)
    on_noise = np.real(x31 + x32)
    x33 = np.einsum('q,pq->p', h_noise, X_cross)
    x34 = np.einsum('x,px->p', law_t, put_back)
    on_theta = np.real(x33 + x34)
    x35 = np.einsum('ij,cj->ci', G_theta, first)
    x36 = np.einsum('ci,pi->cp', x35, inside)
    H_theta = np.real(x36)
    x37 = np.einsum('ad,bd->ab', G_theta, first)
    x38 = np.einsum('ab,ca->bc', x37, last)
    x39 = np.einsum('ad,cd->ac', G_theta, first)
    x40 = np.einsum('ac,ba->bc', x39, last)
    M_theta = np.real(0.5*x38 + 0.5*x40)
    x41 = np.einsum('ij,jq->iq', G_theta, out)
    x42 = np.einsum('iq,pi->pq', x41, inside)
    Res_theta = np.real(x42)
    x43 = np.einsum('c,cp->p', j_theta, H_theta)
    h_theta = np.real(x43)
    x44 = np.einsum('pq,cq->cp', Res, upper)
    x45 = np.einsum('cp,bp->bc', x44, upper)
    x46 = np.einsum('rs,cs->cr', Res, upper)
    x47 = np.einsum('cr,qr->cq', x46, X_own)
    x48 = np.einsum('cq,pq->cp', x47, Res)
    x49 = np.einsum('cp,bp->bc', x48, upper)
    x50 = np.einsum('pq,cq->cp', Res_theta, spike_right)
    x51 = np.einsum('cp,bp->bc', x50, spike_left)
    S_spike = np.real(np.einsum('bc,b,c->bc', x45 - x49, rho, rho) + x51)
    x52 = np.einsum('q,pq->p', on_theta, Res_theta)
    field_theta = np.real(h_theta - x52)
    U = np.linalg.inv(np.einsum('b,c,bc->bc', spread, spread, S_spike) + identity)
    adjoint_on_left = np.real(field_theta + h_theta)
    x53 = np.einsum('q,pq->p', on_noise, Res)
    x54 = np.einsum('bp->b', np.einsum('p,bp->bp', field_theta, spike_left)
        + np.einsum('p,b,bp->bp', h_noise - x53, rho, upper))
    field = np.real(x54)
    x55 = np.einsum('a,pa->p', adjoint_on_left, X_cross)
    x56 = np.einsum('a,pa->p', h_noise, X_own)
    adjoint_h_left = np.real(x55 + x56)
    adjoint_put_left = (np.einsum('q,x->qx', adjoint_on_left, law_t) + 2.0*np.einsum('q,x->qx', h_noise, law_e)
        - np.einsum('x,qx->qx', law_own, norm_mean))
    x57 = np.einsum('a,a,ca->c', field, spread, U)
    x58 = np.einsum('a,a,a,ab->b', T, field, spread, U)
    adjoint_S_spike = np.real((-1.0)*np.einsum('c,b,b,c->bc', x57, x58, spread, spread))
    x59 = np.einsum('a,a,ba->b', field, spread, U)
    adjoint_field = np.real(x58*spread + x59*T*spread)
    x60 = np.einsum('ax,pax->px', adjoint_put_left, D)
    adjoint_norm_left = x60
    x61 = np.einsum('bp,ab->ap', Res_theta, spike_left)
    x62 = np.einsum('ap,ac->cp', x61, adjoint_S_spike)
    adjoint_spike_right = np.real(x62)
    x63 = np.einsum('a,ap->p', adjoint_field, spike_left)
    adjoint_field_theta = np.real(x63 + on_left)
    x64 = np.einsum('bp,ab->ap', Res, upper)
    x65 = np.einsum('ap,a,a->p', x64, adjoint_field, rho)
    adjoint_on_noise = np.real((-1.0)*x65)
    x66 = np.einsum('pc,ac->ap', Res_theta, spike_right)
    x67 = np.einsum('ap,ba->bp', x66, adjoint_S_spike)
    adjoint_spike_left = np.real(np.einsum('b,p->bp', adjoint_field, field_theta) + x67)
    adjoint_h_theta = np.real(adjoint_field_theta + on_left)
    x68 = np.einsum('a,ap->p', adjoint_field_theta, Res_theta)
    adjoint_on_theta = np.real((-1.0)*x68)
    x69 = np.einsum('qb,ab->aq', Res, upper)
    x70 = np.einsum('cp,bc->bp', Res, upper)
    x71 = np.einsum('bp,b,ba->ap', x70, rho, adjoint_S_spike)
    x72 = np.einsum('aq,ap,a->pq', x69, x71, rho)
    adjoint_X_own = np.real(np.einsum('p,q->pq', adjoint_on_noise, h_noise) + np.einsum('p,q->pq', h_left, h_noise)
        - x72)
    x73 = np.einsum('bc,cp->bp', G_theta, out)
    x74 = np.einsum('bp,ab->ap', x73, inside)
    x75 = np.einsum('ap,a->p', x74, adjoint_field_theta)
    x76 = np.einsum('cb,qc->bq', G_theta, inside)
    x77 = np.einsum('bq,ba->aq', x76, out)
    x78 = np.einsum('aq,a->q', x77, on_theta)
    x79 = np.einsum('de,ep->dp', G_theta, out)
    x80 = np.einsum('dp,cd->cp', x79, inside)
    x81 = np.einsum('cp,bc->bp', x80, spike_left)
    x82 = np.einsum('bp,ba->ap', x81, adjoint_S_spike)
    x83 = np.einsum('dc,qd->cq', G_theta, inside)
    x84 = np.einsum('cq,cb->bq', x83, out)
    x85 = np.einsum('bq,ab->aq', x84, spike_right)
    x86 = np.einsum('ap,aq->pq', x82, x85)
    x87 = np.einsum('cd,dp->cp', G_theta, out)
    x88 = np.einsum('cp,bc->bp', x87, last)
    x89 = np.einsum('bp,ba->ap', x88, adjoint_M_theta)
    x90 = np.einsum('bq,ab->aq', x76, first)
    x91 = np.einsum('ap,aq->pq', x89, x90)
    x92 = np.einsum('cq,bc->bq', x83, first)
    x93 = np.einsum('bq,ba->aq', x92, adjoint_M_theta)
    x94 = np.einsum('bp,ab->ap', x73, last)
    x95 = np.einsum('aq,ap->pq', x93, x94)
    x96 = np.einsum('ap,a->p', x74, adjoint_h_theta)
    x97 = np.einsum('aq,a->q', x90, j_theta)
    adjoint_X_theta = np.real(np.einsum('p,q->pq', x75, x78) - x86 - 0.5*x91 - 0.5*x95 - np.einsum('p,q->pq', x96, x97))
    x98 = np.einsum('ap,a,aq->pq', x64, rho, adjoint_spike_left)
    x99 = np.einsum('aq,a,ap->pq', x69, rho, adjoint_spike_right)
    adjoint_X_cross = np.real(np.einsum('q,p->pq', adjoint_on_left, h_left)
        + np.einsum('p,q->pq', adjoint_on_theta, h_noise) - x98 - x99)
    x100 = np.einsum('a,pa->p', law_e, put_left)
    x101 = np.einsum('a,ap->p', adjoint_on_noise, X_own)
    x102 = np.einsum('a,ap->p', adjoint_on_theta, X_cross)
    x103 = np.einsum('a,ap->p', h_left, X_own)
    x104 = np.einsum('a,a,ap->p', adjoint_field, rho, upper)
    adjoint_h_noise = np.real(2.0*x100 + x101 + x102 + x103 + x104)
    adjoint_put_back = np.einsum('p,x->px', adjoint_on_noise, law_e) + np.einsum('p,x->px', adjoint_on_theta, law_t)
    x105 = np.einsum('ax,apx->px', adjoint_put_back, F)
    adjoint_norm_mean = -x105 - np.einsum('x,px->px', law_own, put_left)
    x106 = np.einsum('ap,ax->px', Res, adjoint_norm_mean)
    adjoint_norm_right = x106 + adjoint_put_back
    s.update(norm_left=norm_left, norm_right=norm_right, zeta_hat=zeta_hat, H=H, H_left=H_left, M=M, j_noise=j_noise,
        j_theta=j_theta, norm_mean=norm_mean, h_left=h_left, h_noise=h_noise, adjoint_M_theta=adjoint_M_theta,
        put_left=put_left, X_cross=X_cross, X_own=X_own, X_theta=X_theta, put_back=put_back, on_left=on_left,
        spike_left=spike_left, spike_right=spike_right, G_theta=G_theta, on_noise=on_noise, on_theta=on_theta,
        H_theta=H_theta, M_theta=M_theta, Res_theta=Res_theta, h_theta=h_theta, S_spike=S_spike,
        field_theta=field_theta, U=U, adjoint_on_left=adjoint_on_left, field=field, adjoint_h_left=adjoint_h_left,
        adjoint_put_left=adjoint_put_left, adjoint_S_spike=adjoint_S_spike, adjoint_field=adjoint_field,
        adjoint_norm_left=adjoint_norm_left, adjoint_spike_right=adjoint_spike_right,
        adjoint_field_theta=adjoint_field_theta, adjoint_on_noise=adjoint_on_noise,
        adjoint_spike_left=adjoint_spike_left, adjoint_h_theta=adjoint_h_theta, adjoint_on_theta=adjoint_on_theta,
        adjoint_X_own=adjoint_X_own, adjoint_X_theta=adjoint_X_theta, adjoint_X_cross=adjoint_X_cross,
        adjoint_h_noise=adjoint_h_noise, adjoint_put_back=adjoint_put_back, adjoint_norm_mean=adjoint_norm_mean,
        adjoint_norm_right=adjoint_norm_right)


def adjoint(s):
    """What follows from adjoint_X too, and its residual."""
    (D, F, G, Q1_hat, Res, X, X_cross, X_own, adjoint, adjoint_S_spike, adjoint_X, adjoint_X_cross, adjoint_X_own,
        adjoint_X_theta, adjoint_field, adjoint_h_left, adjoint_h_noise, adjoint_norm_mean, adjoint_put_back,
        adjoint_put_left, adjoint_spike_left, adjoint_spike_right, beta, first, inside, j_noise, last, law_ee, law_te,
        law_tr, law_tt, norm_left, norm_mean, norm_right, on_noise, out, rho,
        upper) = (s[name] for name in ('D', 'F', 'G', 'Q1_hat', 'Res', 'X', 'X_cross', 'X_own', 'adjoint',
        'adjoint_S_spike', 'adjoint_X', 'adjoint_X_cross', 'adjoint_X_own', 'adjoint_X_theta', 'adjoint_field',
        'adjoint_h_left', 'adjoint_h_noise', 'adjoint_norm_mean', 'adjoint_put_back', 'adjoint_put_left',
        'adjoint_spike_left', 'adjoint_spike_right', 'beta', 'first', 'inside', 'j_noise', 'last', 'law_ee', 'law_te',
        'law_tr', 'law_tt', 'norm_left', 'norm_mean', 'norm_right', 'on_noise', 'out', 'rho', 'upper'))
    x0 = np.einsum('ba,bpa->ap', adjoint_put_back, F)
    x1 = np.einsum('ba,qba->aq', norm_mean, F)
    x2 = np.einsum('ap,aq->pq', x0, x1)
    x3 = np.einsum('pa,qa->pq', adjoint_norm_mean, norm_right)
    x4 = np.einsum('b,ba,bp->ap', rho, adjoint_S_spike, upper)
    x5 = np.einsum('ap,a,aq->pq', x4, rho, upper)
    x6 = np.einsum('cb,cpa->abp', adjoint_X, F)
    x7 = np.einsum('abp,qba->apq', x6, F)
    x8 = np.einsum('apq,a->pq', x7, law_tr)
    x9 = np.einsum('cb,cpa->abp', adjoint_X_cross, F)
    x10 = np.einsum('abp,qba->apq', x9, F)
    x11 = np.einsum('apq,a->pq', x10, law_te)
    x12 = np.einsum('cb,cpa->abp', adjoint_X_own, F)
    x13 = np.einsum('abp,qba->apq', x12, F)
    x14 = np.einsum('apq,a->pq', x13, law_ee)
    x15 = np.einsum('cb,cpa->abp', adjoint_X_theta, F)
    x16 = np.einsum('abp,qba->apq', x15, F)
    x17 = np.einsum('apq,a->pq', x16, law_tt)
    x18 = np.einsum('ba,qba->aq', adjoint_put_left, F)
    x19 = np.einsum('ba,bpa->ap', norm_left, D)
    x20 = np.einsum('aq,ap->pq', x18, x19)
    x21 = np.einsum('b,ba,bp->ap', rho, adjoint_spike_left, upper)
    x22 = np.einsum('ap,qa->pq', x21, X_cross)
    x23 = np.einsum('b,ba,bq->aq', rho, adjoint_spike_right, upper)
    x24 = np.einsum('aq,ap->pq', x23, X_cross)
    x25 = np.einsum('bc,ac->ab', Res, upper)
    x26 = np.einsum('ab,qb->aq', x25, X_own)
    x27 = np.einsum('aq,ap,a->pq', x26, x4, rho)
    x28 = np.einsum('cd,dp->cp', Res, X_own)
    x29 = np.einsum('cp,bc->bp', x28, upper)
    x30 = np.einsum('bp,b,ba->ap', x29, rho, adjoint_S_spike)
    x31 = np.einsum('ap,a,aq->pq', x30, rho, upper)
    x32 = np.einsum('a,a,ap->p', adjoint_field, rho, upper)
    adjoint_Res = np.real(x2 + x3 + x5 - x8 - x11 - x14 - x17 - x20 - x22 - x24 - x27 - x31
        - np.einsum('p,q->pq', x32, on_noise))
    x33 = np.einsum('bc,cp->bp', G, out)
    x34 = np.einsum('bp,ab->ap', x33, inside)
    x35 = np.einsum('ap,a->p', x34, adjoint_h_noise)
    x36 = np.einsum('cb,qc->bq', G, inside)
    x37 = np.einsum('bq,ab->aq', x36, first)
    x38 = np.einsum('aq,a->q', x37, j_noise)
    x39 = np.einsum('bp,ab->ap', x33, last)
    x40 = np.einsum('ap,a->p', x39, j_noise)
    x41 = np.einsum('cd,dp->cp', G, out)
    x42 = np.einsum('cp,bc->bp', x41, last)
    x43 = np.einsum('bp,ab->ap', x42, Q1_hat)
    x44 = np.einsum('ap,aq->pq', x43, x37)
    x45 = np.einsum('dc,qd->cq', G, inside)
    x46 = np.einsum('cq,bc->bq', x45, first)
    x47 = np.einsum('bq,ab->aq', x46, Q1_hat)
    x48 = np.einsum('aq,ap->pq', x47, x39)
    x49 = np.einsum('cp,bc->bp', x41, inside)
    x50 = np.einsum('bp,ba->ap', x49, adjoint_Res)
    x51 = np.einsum('bq,ba->aq', x36, out)
    x52 = np.einsum('ap,aq->pq', x50, x51)
    x53 = np.einsum('cd,db->bc', X, inside)
    x54 = np.einsum('bc,ac->ab', x53, upper)
    x55 = np.einsum('ab,bp->ap', x54, x33)
    x56 = np.einsum('bq,ab->aq', x36, last)
    x57 = np.einsum('ap,aq,a->pq', x55, x56, adjoint)
    x58 = np.einsum('bc,ac->ab', G, last)
    x59 = np.einsum('ab,qb->aq', x58, inside)
    x60 = np.einsum('aq,a,ap->pq', x59, adjoint, upper)
    x61 = np.einsum('aq,a->q', x51, adjoint_h_left)
    residual_adjoint_X = np.real(np.einsum('p,q->pq', x35, x38) + np.einsum('p,q->pq', x40, x38) + 0.5/beta*x44
        + 0.5/beta*x48 + x52 + x57 + adjoint_X - x60 - np.einsum('p,q->pq', x40, x61))
    s.update(adjoint_Res=adjoint_Res, residual_adjoint_X=residual_adjoint_X)


def residual(s):
    """The residuals of the unknowns, stored beside them."""
    (G, G_theta, H, H_left, H_theta, M, M_theta, Q1, Q1_hat, Q2_hat, T, U, V1, V2_hat, X, X_theta, adjoint,
        adjoint_M_theta, adjoint_Res, adjoint_S_spike, adjoint_field_theta, adjoint_h_left, adjoint_h_noise,
        adjoint_h_theta, adjoint_norm_left, adjoint_norm_right, along, beta, chi, field, first, fraction, gamma,
        inside, inverse_dimension, j_noise, j_theta, last, m, norm, norm_hat, on_theta, out, psi, rho, ridge,
        spike_left, spike_right, spread, upper, zeta) = (s[name] for name in ('G', 'G_theta', 'H', 'H_left', 'H_theta',
        'M', 'M_theta', 'Q1', 'Q1_hat', 'Q2_hat', 'T', 'U', 'V1', 'V2_hat', 'X', 'X_theta', 'adjoint',
        'adjoint_M_theta', 'adjoint_Res', 'adjoint_S_spike', 'adjoint_field_theta', 'adjoint_h_left',
        'adjoint_h_noise', 'adjoint_h_theta', 'adjoint_norm_left', 'adjoint_norm_right', 'along', 'beta', 'chi',
        'field', 'first', 'fraction', 'gamma', 'inside', 'inverse_dimension', 'j_noise', 'j_theta', 'last', 'm',
        'norm', 'norm_hat', 'on_theta', 'out', 'psi', 'rho', 'ridge', 'spike_left', 'spike_right', 'spread', 'upper',
        'zeta'))
    x0 = np.einsum('ef,fd->de', X, inside)
    x1 = np.einsum('de,be->bd', x0, upper)
    x2 = np.einsum('bd,dc->bc', x1, G)
    x3 = np.einsum('bc,ca->ab', x2, out)
    x4 = np.einsum('ab,a->b', x3, adjoint_h_left)
    x5 = np.einsum('cd,bd->bc', G, last)
    x6 = np.einsum('bc,ac->ab', x5, last)
    x7 = np.einsum('ab,a->b', x6, j_noise)
    x8 = np.einsum('ef,fd->de', X_theta, inside)
    x9 = np.einsum('de,be->bd', x8, upper)
    x10 = np.einsum('bd,dc->bc', x9, G_theta)
    x11 = np.einsum('bc,ca->ab', x10, out)
    x12 = np.einsum('ab,a->b', x11, on_theta)
    x13 = np.einsum('cd,bd->bc', G_theta, last)
    x14 = np.einsum('bc,ac->ab', x13, inside)
    x15 = np.einsum('ab,a->b', x14, adjoint_field_theta)
    x16 = np.einsum('ef,bf->be', G_theta, last)
    x17 = np.einsum('be,de->bd', x16, inside)
    x18 = np.einsum('bd,cd->bc', x17, spike_left)
    x19 = np.einsum('bc,ca->ab', x18, adjoint_S_spike)
    x20 = np.einsum('ac,bc->ab', spike_right, upper)
    x21 = np.einsum('ab,ab->b', x19, x20)
    x22 = np.einsum('de,be->bd', G, last)
    x23 = np.einsum('bd,cd->bc', x22, inside)
    x24 = np.einsum('bc,ca->ab', x23, adjoint_Res)
    x25 = np.einsum('ab,ba->b', x24, upper)
    x26 = np.einsum('fg,ge->ef', X_theta, inside)
    x27 = np.einsum('ef,bf->be', x26, upper)
    x28 = np.einsum('be,ed->bd', x27, G_theta)
    x29 = np.einsum('bd,dc->bc', x28, out)
    x30 = np.einsum('bc,ac->ab', x29, spike_right)
    x31 = np.einsum('ab,ab->b', x30, x19)
    x32 = np.einsum('ab,ab->b', x3, x24)
    x33 = np.einsum('bc,ac->ab', x2, last)
    x34 = np.einsum('de,ec->cd', X, inside)
    x35 = np.einsum('cd,ad->ac', x34, upper)
    x36 = np.einsum('ac,bc->ab', x35, x5)
    x37 = np.einsum('ab,ab,a->b', x33, x36, adjoint)
    x38 = np.einsum('bd,cd->bc', x28, first)
    x39 = np.einsum('bc,ca->ab', x38, adjoint_M_theta)
    x40 = np.einsum('bc,ac->ab', x13, last)
    x41 = np.einsum('ab,ab->b', x39, x40)
    x42 = np.einsum('bc,ac->ab', x10, first)
    x43 = np.einsum('de,be->bd', G_theta, last)
    x44 = np.einsum('bd,cd->bc', x43, last)
    x45 = np.einsum('bc,ca->ab', x44, adjoint_M_theta)
    x46 = np.einsum('ab,ab->b', x42, x45)
    x47 = np.einsum('bc,ac->ab', x2, first)
    x48 = np.einsum('ab,a->b', x47, j_noise)
    x49 = np.einsum('bc,ac->ab', x5, inside)
    x50 = np.einsum('ab,a->b', x49, adjoint_h_noise)
    x51 = np.einsum('ab,a->b', x42, j_theta)
    x52 = np.einsum('ab,a->b', x14, adjoint_h_theta)
    x53 = np.einsum('a,ba->b', adjoint_h_left, upper)
    x54 = np.einsum('a,ba->b', on_theta, upper)
    x55 = np.einsum('ca,bca->ab', adjoint_norm_left, along)
    x56 = np.einsum('ab->b', x55)
    x57 = np.einsum('fg,ge->ef', X, inside)
    x58 = np.einsum('ef,bf->be', x57, upper)
    x59 = np.einsum('be,ed->bd', x58, G)
    x60 = np.einsum('bd,cd->bc', x59, first)
    x61 = np.einsum('bc,ac->ab', x60, Q1_hat)
    x62 = np.einsum('ab,ab->b', x61, x6)
    x63 = np.einsum('bd,cd->bc', x22, last)
    x64 = np.einsum('bc,ac->ab', x63, Q1_hat)
    x65 = np.einsum('ab,ab->b', x47, x64)
    x66 = np.einsum('a,a,ba->b', field, spread, U)
    residual_adjoint = np.real(x4*x7 + x12*x15 + beta*adjoint*fraction/T**2 + x21 + x25 - x31 - x32 - x37 - 0.5*x41
        - 0.5*x46 - 1.0/beta*Q2_hat - (norm_hat**2)*chi - x48*x50 - x48*x7 - x51*x52 - x7*x53 - x15*x54 - x56*norm_hat
        - 0.5/beta*x62 - 0.5/beta*x65 - inverse_dimension*(m**2)/T**2 - x66*field*spread)
    x67 = np.einsum('fg,bg->bf', G_theta, first)
    x68 = np.einsum('bf,ef->be', x67, inside)
    x69 = np.einsum('be,de->bd', x68, spike_left)
    x70 = np.einsum('bd,da->ab', x69, adjoint_S_spike)
    x71 = np.einsum('fe,cf->ce', G_theta, last)
    x72 = np.einsum('ce,ed->cd', x71, out)
    x73 = np.einsum('cd,ad->ac', x72, spike_right)
    x74 = np.einsum('ab,ac->bc', x70, x73)
    x75 = np.einsum('fg,cg->cf', G_theta, first)
    x76 = np.einsum('cf,ef->ce', x75, inside)
    x77 = np.einsum('ce,de->cd', x76, spike_left)
    x78 = np.einsum('cd,da->ac', x77, adjoint_S_spike)
    x79 = np.einsum('fe,bf->be', G_theta, last)
    x80 = np.einsum('be,ed->bd', x79, out)
    x81 = np.einsum('bd,ad->ab', x80, spike_right)
    x82 = np.einsum('ac,ab->bc', x78, x81)
    x83 = np.einsum('ef,bf->be', G, first)
    x84 = np.einsum('be,de->bd', x83, inside)
    x85 = np.einsum('bd,da->ab', x84, adjoint_Res)
    x86 = np.einsum('ed,ce->cd', G, last)
    x87 = np.einsum('cd,da->ac', x86, out)
    x88 = np.einsum('ab,ac->bc', x85, x87)
    x89 = np.einsum('ef,cf->ce', G, first)
    x90 = np.einsum('ce,de->cd', x89, inside)
    x91 = np.einsum('cd,da->ac', x90, adjoint_Res)
    x92 = np.einsum('ed,be->bd', G, last)
    x93 = np.einsum('bd,da->ab', x92, out)
    x94 = np.einsum('ac,ab->bc', x91, x93)
    x95 = np.einsum('de,ae->ad', x0, upper)
    x96 = np.einsum('de,be->bd', G, first)
    x97 = np.einsum('ad,bd->ab', x95, x96)
    x98 = np.einsum('cd,ad->ac', x86, last)
    x99 = np.einsum('ab,ac,a->bc', x97, x98, adjoint)
    x100 = np.einsum('de,ce->cd', G, first)
    x101 = np.einsum('ad,cd->ac', x95, x100)
    x102 = np.einsum('bd,ad->ab', x92, last)
    x103 = np.einsum('ac,ab,a->bc', x101, x102, adjoint)
    x104 = np.einsum('bd,ad->ab', x96, inside)
    x105 = np.einsum('ab,a->b', x104, adjoint_h_noise)
    x106 = np.einsum('cd,ad->ac', x86, first)
    x107 = np.einsum('ac,a->c', x106, j_noise)
    x108 = np.einsum('bd,ad->ab', x96, last)
    x109 = np.einsum('ab,a->b', x108, j_noise)
    x110 = np.einsum('cd,ad->ac', x100, inside)
    x111 = np.einsum('ac,a->c', x110, adjoint_h_noise)
    x112 = np.einsum('bd,ad->ab', x92, first)
    x113 = np.einsum('ab,a->b', x112, j_noise)
    x114 = np.einsum('cd,ad->ac', x100, last)
    x115 = np.einsum('ac,a->c', x114, j_noise)
    x116 = np.einsum('de,be->bd', G_theta, first)
    x117 = np.einsum('bd,ad->ab', x116, inside)
    x118 = np.einsum('ab,a->b', x117, adjoint_h_theta)
    x119 = np.einsum('ed,ce->cd', G_theta, last)
    x120 = np.einsum('cd,ad->ac', x119, first)
    x121 = np.einsum('ac,a->c', x120, j_theta)
    x122 = np.einsum('de,ce->cd', G_theta, first)
    x123 = np.einsum('cd,ad->ac', x122, inside)
    x124 = np.einsum('ac,a->c', x123, adjoint_h_theta)
    x125 = np.einsum('ed,be->bd', G_theta, last)
    x126 = np.einsum('bd,ad->ab', x125, first)
    x127 = np.einsum('ab,a->b', x126, j_theta)
    x128 = np.einsum('ef,bf->be', G_theta, first)
    x129 = np.einsum('be,de->bd', x128, last)
    x130 = np.einsum('bd,da->ab', x129, adjoint_M_theta)
    x131 = np.einsum('ab,ac->bc', x130, x120)
    x132 = np.einsum('ef,cf->ce', G_theta, first)
    x133 = np.einsum('ce,de->cd', x132, last)
    x134 = np.einsum('cd,da->ac', x133, adjoint_M_theta)
    x135 = np.einsum('ac,ab->bc', x134, x126)
    x136 = np.einsum('be,de->bd', x79, first)
    x137 = np.einsum('bd,da->ab', x136, adjoint_M_theta)
    x138 = np.einsum('cd,ad->ac', x122, last)
    x139 = np.einsum('ab,ac->bc', x137, x138)
    x140 = np.einsum('ce,de->cd', x71, first)
    x141 = np.einsum('cd,da->ac', x140, adjoint_M_theta)
    x142 = np.einsum('bd,ad->ab', x116, last)
    x143 = np.einsum('ac,ab->bc', x141, x142)
    x144 = np.einsum('ac,a->c', x87, adjoint_h_left)
    x145 = np.einsum('ab,a->b', x93, adjoint_h_left)
    x146 = np.einsum('ab,a->b', x117, adjoint_field_theta)
    x147 = np.einsum('cd,da->ac', x119, out)
    x148 = np.einsum('ac,a->c', x147, on_theta)
    x149 = np.einsum('ac,a->c', x123, adjoint_field_theta)
    x150 = np.einsum('bd,da->ab', x125, out)
    x151 = np.einsum('ab,a->b', x150, on_theta)
    x152 = np.einsum('be,de->bd', x83, last)
    x153 = np.einsum('bd,ad->ab', x152, Q1_hat)
    x154 = np.einsum('ab,ac->bc', x153, x106)
    x155 = np.einsum('ce,de->cd', x89, last)
    x156 = np.einsum('cd,ad->ac', x155, Q1_hat)
    x157 = np.einsum('ac,ab->bc', x156, x112)
    x158 = np.einsum('fe,bf->be', G, last)
    x159 = np.einsum('be,de->bd', x158, first)
    x160 = np.einsum('bd,ad->ab', x159, Q1_hat)
    x161 = np.einsum('ab,ac->bc', x160, x114)
    x162 = np.einsum('fe,cf->ce', G, last)
    x163 = np.einsum('ce,de->cd', x162, first)
    x164 = np.einsum('cd,ad->ac', x163, Q1_hat)
    x165 = np.einsum('ac,ab->bc', x164, x108)
    residual_Q1 = np.real(Q1 - 0.25/beta*(beta*(2.0*x74 + 2.0*x82 + 2.0*x88 + 2.0*x94 + 2.0*x99 + 2.0*x103
        + 2.0*np.einsum('b,c->bc', x105, x107) + 2.0*np.einsum('b,c->bc', x109, x107)
        + 2.0*np.einsum('c,b->bc', x111, x113) + 2.0*np.einsum('c,b->bc', x115, x113)
        + 2.0*np.einsum('b,c->bc', x118, x121) + 2.0*np.einsum('c,b->bc', x124, x127) + x131 + x135 + x139 + x143
        - 4.0*np.einsum('b,c->bc', zeta, zeta) - 2.0*np.einsum('b,c->bc', x109, x144)
        - 2.0*np.einsum('c,b->bc', x115, x145) - 2.0*np.einsum('b,c->bc', x146, x148)
        - 2.0*np.einsum('c,b->bc', x149, x151)) + x154 + x157 + x161 + x165))
    x166 = np.einsum('cd,da->ac', X, inside)
    x167 = np.einsum('ac,bc->ab', x166, upper)
    x168 = np.einsum('ac,bc->ab', G, last)
    x169 = np.einsum('ab,ab->b', x167, x168)
    residual_T = np.real(T - beta*fraction/(ridge + V2_hat - x169))
    residual_V1 = np.real(V1 - 1.0/beta*M)
    x170 = np.einsum('ca,bca->ab', adjoint_norm_right, along)
    x171 = np.einsum('ab->b', x170)
    residual_norm = np.real(norm - 0.5*x171 - 0.5*x56*T - T*chi*norm_hat)
    x172 = np.einsum('a,ab->b', j_noise, M)
    x173 = np.einsum('a,ba->b', adjoint_h_left, H_left)
    x174 = np.einsum('a,ba->b', adjoint_h_noise, H)
    x175 = np.einsum('a,ba->b', adjoint_h_theta, H_theta)
    x176 = np.einsum('a,ab->b', j_theta, M_theta)
    x177 = np.einsum('a,ba->b', j_theta, M_theta)
    residual_psi = np.real(x172*gamma + 0.5*x173*gamma + 0.5*x174*gamma + psi - 0.5*x175*rho - 0.5*x176*rho
        - 0.5*x177*rho)
    residual_zeta = np.real(zeta - x172*rho - 0.5*x173*rho - 0.5*x174*rho - 0.5*x175*gamma - 0.5*x176*gamma
        - 0.5*x177*gamma)
    s.update(residual_adjoint=residual_adjoint, residual_Q1=residual_Q1, residual_T=residual_T,
        residual_V1=residual_V1, residual_norm=residual_norm, residual_psi=residual_psi, residual_zeta=residual_zeta)


def free_energy(s):
    """The free energy, stored as such."""
    (M, M_theta, Q1, Q1_hat, Q2, Q2_hat, T, U, V1, V1_hat, V2, V2_hat, X_own, alpha, avg_M, beta, chi, field,
        field_theta, h_left, h_noise, h_theta, inverse_dimension, j_noise, j_theta, law_e, law_own, m, norm, norm_hat,
        norm_mean, on_left, psi, psi_hat, put_left, spread, weight, zeta,
        zeta_hat) = (s[name] for name in ('M', 'M_theta', 'Q1', 'Q1_hat', 'Q2', 'Q2_hat', 'T', 'U', 'V1', 'V1_hat',
        'V2', 'V2_hat', 'X_own', 'alpha', 'avg_M', 'beta', 'chi', 'field', 'field_theta', 'h_left', 'h_noise',
        'h_theta', 'inverse_dimension', 'j_noise', 'j_theta', 'law_e', 'law_own', 'm', 'norm', 'norm_hat', 'norm_mean',
        'on_left', 'psi', 'psi_hat', 'put_left', 'spread', 'weight', 'zeta', 'zeta_hat'))
    x0 = np.dot(weight, avg_M)
    x1 = np.einsum('ba,ba->a', norm_mean, put_left)
    x2 = np.einsum('a,a->', x1, law_own)
    x3 = np.einsum('b->', Q2_hat*V2 - Q2*V2_hat)
    x4 = np.einsum('bc->c', Q1_hat*V1 - Q1*V1_hat)
    x5 = np.einsum('c->', x4)
    x6 = np.einsum('b->', norm*norm_hat + psi*psi_hat + zeta*zeta_hat)
    x7 = np.einsum('b,ba->a', h_noise, put_left)
    x8 = np.einsum('a,a->', x7, law_e)
    x9 = np.einsum('b,ab->a', h_noise, X_own)
    x10 = np.einsum('a,a->', x9, h_left)
    x11 = np.einsum('b,ab->a', j_noise, M)
    x12 = np.einsum('a,a->', x11, j_noise)
    x13 = np.einsum('b,ba->a', j_theta, M_theta)
    x14 = np.einsum('a,a->', x13, j_theta)
    x15 = np.einsum('a,a->', field_theta, on_left)
    x16 = np.einsum('a,a->', h_theta, on_left)
    x17 = np.einsum('a,a,a->', norm_hat**2, T, chi)
    x18 = np.einsum('b,b,ab->a', field, spread, U)
    x19 = np.einsum('a,a,a,a->', x18, T, field, spread)
    x20 = np.einsum('b,c,bc->c', zeta, zeta, V1_hat)
    x21 = np.einsum('c->', x20)
    x22 = np.einsum('a,a->', Q2_hat, T)
    x23 = np.einsum('ab,ab->a', M, Q1_hat)
    x24 = np.einsum('a->', x23)
    x25 = 0.5*np.einsum('b,b->', 1.0/T, m**2)
    free_energy = np.real(alpha*x0 + beta*(0.5*x2 + 0.5*x3 + 0.5*x5 + x6 - x8 - 0.5*x10 - 0.5*x12 - 0.5*x14 - 0.5*x15
        - 0.5*x16 - 0.5*x17 - 0.5*x19 - 0.5*x21 - 0.5*(x22 + x24)/beta) + inverse_dimension*beta*x25)
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
norm_left[p, x] = sum(T[b]*along[b, p, x]*norm_hat[b], b)  # norm_left
norm_right[p, x] = sum(along[b, p, x]*norm_hat[b], b)  # norm_right
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
norm_mean[p, x] = sum(Res[p, q]*norm_right[q, x], q)  # norm_mean
h_left[p] = sum(H_left[b, p]*j_noise[b], b)  # h_left
h_noise[p] = sum(H[c, p]*j_noise[c], c)  # h_noise
adjoint_M_theta[b, c] = j_theta[b]*j_theta[c]  # adjoint_M_theta
F[p, q, x] = sum(D[r, q, x]*sample[p, r, x], r)  # F
put_left[q, x] = sum(D[p, q, x]*norm_left[p, x], p)  # put_left
X_cross[p, q] = sum(F[p, q, a]*law_te[a], a)  # X_cross
X_own[p, q] = sum(F[p, q, a]*law_ee[a], a)  # X_own
X_theta[p, q] = sum(F[p, q, a]*law_tt[a], a) + base[p, q]  # X_theta
put_back[p, x] = -sum(F[p, q, x]*norm_mean[q, x], q) + norm_right[p, x]  # put_back
on_left[q] = sum(X_cross[p, q]*h_left[p], p) + sum(law_t[x]*put_left[q, x], x)  # on_left
spike_left[b, p] = -sum(sum(Res[r, q]*X_cross[q, p], q)*upper[b, r], r)*rho[b] + gamma[b]*upper[b, p]  # spike_left
spike_right[c, p] = -sum(sum(Res[q, r]*upper[c, r], r)*X_cross[p, q], q)*rho[c] + gamma[c]*upper[c, p]  # spike_right
# G_theta
0 = (sum((sum(sum(V1_hat[b, c]*last[b, j], b)*first[c, e], c)/2 + sum(sum(V1_hat[b, c]*last[c, j], c)*first[b, e], b)/2
    + sum(sum(X_theta[p, q]*inside[q, j], q)*out[e, p], p) + fixed[e, j])*G_theta[i, e], e) - unit_G[i, j])
on_noise[p] = sum(X_own[p, q]*h_noise[q], q) + sum(law_e[x]*put_back[p, x], x)  # on_noise
on_theta[p] = sum(X_cross[p, q]*h_noise[q], q) + sum(law_t[x]*put_back[p, x], x)  # on_theta
H_theta[c, p] = sum(sum(G_theta[i, j]*first[c, j], j)*inside[p, i], i)  # H_theta
# M_theta
M_theta[b, c] = (sum(sum(G_theta[a, d]*first[b, d], d)*last[c, a], a)/2
    + sum(sum(G_theta[a, d]*first[c, d], d)*last[b, a], a)/2)
Res_theta[p, q] = sum(sum(G_theta[i, j]*out[j, q], j)*inside[p, i], i)  # Res_theta
h_theta[p] = sum(H_theta[c, p]*j_theta[c], c)  # h_theta
# S_spike
S_spike[b, c] = ((-sum(sum(sum(sum(Res[r, s]*upper[c, s], s)*X_own[q, r], r)*Res[p, q], q)*upper[b, p], p)
    + sum(sum(Res[p, q]*upper[c, q], q)*upper[b, p], p))*rho[b]*rho[c]
    + sum(sum(Res_theta[p, q]*spike_right[c, q], q)*spike_left[b, p], p))
field_theta[p] = -sum(Res_theta[p, q]*on_theta[q], q) + h_theta[p]  # field_theta
0 = -delta[b, c] + sum((delta[c, e] + S_spike[e, c]*spread[c]*spread[e])*U[b, e], e)  # U
adjoint_on_left[q] = field_theta[q] + h_theta[q]  # adjoint_on_left
# field
field[b] = sum((-sum(Res[p, q]*on_noise[q], q) + h_noise[p])*rho[b]*upper[b, p] + field_theta[p]*spike_left[b, p], p)
adjoint_h_left[p] = sum(X_cross[p, a]*adjoint_on_left[a], a) + sum(X_own[p, a]*h_noise[a], a)  # adjoint_h_left
# adjoint_put_left
adjoint_put_left[q, x] = adjoint_on_left[q]*law_t[x] + 2*h_noise[q]*law_e[x] - law_own[x]*norm_mean[q, x]
# adjoint_S_spike
adjoint_S_spike[b, c] = -sum(U[c, a]*field[a]*spread[a], a)*sum(T[a]*U[a, b]*field[a]*spread[a], a)*spread[b]*spread[c]
# adjoint_field
adjoint_field[b] = sum(U[b, a]*field[a]*spread[a], a)*T[b]*spread[b] + sum(T[a]*U[a, b]*field[a]*spread[a], a)*spread[b]
adjoint_norm_left[p, x] = sum(D[p, a, x]*adjoint_put_left[a, x], a)  # adjoint_norm_left
# adjoint_spike_right
adjoint_spike_right[c, p] = sum(sum(Res_theta[b, p]*spike_left[a, b], b)*adjoint_S_spike[a, c], a)
adjoint_field_theta[p] = sum(adjoint_field[a]*spike_left[a, p], a) + on_left[p]  # adjoint_field_theta
adjoint_on_noise[p] = -sum(sum(Res[b, p]*upper[a, b], b)*adjoint_field[a]*rho[a], a)  # adjoint_on_noise
# adjoint_spike_left
adjoint_spike_left[b, p] = (sum(sum(Res_theta[p, c]*spike_right[a, c], c)*adjoint_S_spike[b, a], a)
    + adjoint_field[b]*field_theta[p])
adjoint_h_theta[p] = adjoint_field_theta[p] + on_left[p]  # adjoint_h_theta
adjoint_on_theta[p] = -sum(Res_theta[a, p]*adjoint_field_theta[a], a)  # adjoint_on_theta
# adjoint_X_own
adjoint_X_own[p, q] = (-sum(sum(Res[q, b]*upper[a, b], b)*sum(sum(Res[c, p]*upper[b, c], c)*adjoint_S_spike[b,
    a]*rho[b], b)*rho[a], a) + adjoint_on_noise[p]*h_noise[q] + h_left[p]*h_noise[q])
# adjoint_X_theta
adjoint_X_theta[p, q] = (-sum(sum(sum(sum(sum(G_theta[d, e]*out[e, p], e)*inside[c, d], d)*spike_left[b, c],
    c)*adjoint_S_spike[b, a], b)*sum(sum(sum(G_theta[d, c]*inside[q, d], d)*out[c, b], c)*spike_right[a, b], b), a)
    - sum(sum(sum(sum(G_theta[c, d]*out[d, p], d)*last[b, c], c)*adjoint_M_theta[b, a],
    b)*sum(sum(G_theta[c, b]*inside[q, c], c)*first[a, b], b), a)/2
    - sum(sum(sum(sum(G_theta[d, c]*inside[q, d], d)*first[b, c], c)*adjoint_M_theta[b, a],
    b)*sum(sum(G_theta[b, c]*out[c, p], c)*last[a, b], b), a)/2
    + sum(sum(sum(G_theta[b, c]*out[c, p], c)*inside[a, b], b)*adjoint_field_theta[a],
    a)*sum(sum(sum(G_theta[c, b]*inside[q, c], c)*out[b, a], b)*on_theta[a], a)
    - sum(sum(sum(G_theta[b, c]*out[c, p], c)*inside[a, b], b)*adjoint_h_theta[a],
    a)*sum(sum(sum(G_theta[c, b]*inside[q, c], c)*first[a, b], b)*j_theta[a], a))
# adjoint_X_cross
adjoint_X_cross[p, q] = (-sum(sum(Res[b, p]*upper[a, b], b)*adjoint_spike_left[a, q]*rho[a], a)
    - sum(sum(Res[q, b]*upper[a, b], b)*adjoint_spike_right[a, p]*rho[a], a) + adjoint_on_left[q]*h_left[p]
    + adjoint_on_theta[p]*h_noise[q])
# adjoint_h_noise
adjoint_h_noise[p] = (sum(X_cross[a, p]*adjoint_on_theta[a], a) + sum(X_own[a, p]*adjoint_on_noise[a], a)
    + sum(X_own[a, p]*h_left[a], a) + 2*sum(law_e[a]*put_left[p, a], a) + sum(adjoint_field[a]*rho[a]*upper[a, p], a))
adjoint_put_back[p, x] = adjoint_on_noise[p]*law_e[x] + adjoint_on_theta[p]*law_t[x]  # adjoint_put_back
adjoint_norm_mean[p, x] = -sum(F[a, p, x]*adjoint_put_back[a, x], a) - law_own[x]*put_left[p, x]  # adjoint_norm_mean
# adjoint_Res
adjoint_Res[p, q] = (-sum(sum(sum(F[c, p, a]*adjoint_X[c, b], c)*F[q, b, a], b)*law_tr[a], a)
    - sum(sum(sum(F[c, p, a]*adjoint_X_cross[c, b], c)*F[q, b, a], b)*law_te[a], a)
    - sum(sum(sum(F[c, p, a]*adjoint_X_own[c, b], c)*F[q, b, a], b)*law_ee[a], a)
    - sum(sum(sum(F[c, p, a]*adjoint_X_theta[c, b], c)*F[q, b, a], b)*law_tt[a], a)
    - sum(sum(D[b, p, a]*norm_left[b, a], b)*sum(F[q, b, a]*adjoint_put_left[b, a], b), a)
    + sum(sum(F[b, p, a]*adjoint_put_back[b, a], b)*sum(F[q, b, a]*norm_mean[b, a], b), a)
    - sum(sum(adjoint_spike_left[b, a]*rho[b]*upper[b, p], b)*X_cross[q, a], a)
    - sum(sum(adjoint_spike_right[b, a]*rho[b]*upper[b, q], b)*X_cross[a, p], a)
    + sum(adjoint_norm_mean[p, a]*norm_right[q, a], a) - sum(sum(sum(Res[b, c]*upper[a, c], c)*X_own[q, b],
    b)*sum(adjoint_S_spike[b, a]*rho[b]*upper[b, p], b)*rho[a], a)
    - sum(sum(sum(sum(Res[c, d]*X_own[d, p], d)*upper[b, c], c)*adjoint_S_spike[b, a]*rho[b], b)*rho[a]*upper[a, q], a)
    + sum(sum(adjoint_S_spike[b, a]*rho[b]*upper[b, p], b)*rho[a]*upper[a, q], a)
    - sum(adjoint_field[a]*rho[a]*upper[a, p], a)*on_noise[q])
adjoint_norm_right[p, x] = sum(Res[a, p]*adjoint_norm_mean[a, x], a) + adjoint_put_back[p, x]  # adjoint_norm_right
# adjoint
0 = (beta*adjoint[b]*fraction[b]/T[b]**2 - inverse_dimension*m[b]**2/T[b]**2
    - sum(sum(sum(sum(sum(sum(X_theta[f, g]*inside[g, e], g)*upper[b, f], f)*G_theta[e, d], e)*first[c, d],
    d)*adjoint_M_theta[c, a], c)*sum(sum(G_theta[c, d]*last[b, d], d)*last[a, c], c), a)/2
    - sum(sum(sum(sum(sum(sum(X_theta[f, g]*inside[g, e], g)*upper[b, f], f)*G_theta[e, d], e)*out[d, c],
    d)*spike_right[a, c], c)*sum(sum(sum(sum(G_theta[e, f]*last[b, f], f)*inside[d, e], e)*spike_left[c, d],
    d)*adjoint_S_spike[c, a], c), a) + sum(sum(sum(sum(sum(G_theta[e, f]*last[b, f], f)*inside[d, e], e)*spike_left[c,
    d], d)*adjoint_S_spike[c, a], c)*sum(spike_right[a, c]*upper[b, c], c), a)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*first[a, c], c)*j_noise[a],
    a)*sum(sum(sum(G[c, d]*last[b, d], d)*inside[a, c], c)*adjoint_h_noise[a], a)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*first[a, c], c)*j_noise[a],
    a)*sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a], a)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*out[c, a],
    c)*sum(sum(sum(G[d, e]*last[b, e], e)*inside[c, d], d)*adjoint_Res[c, a], c), a)
    + sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*out[c, a], c)*adjoint_h_left[a],
    a)*sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a], a)
    - sum(sum(sum(sum(sum(X_theta[e, f]*inside[f, d], f)*upper[b, e], e)*G_theta[d, c], d)*first[a, c],
    c)*sum(sum(sum(G_theta[d, e]*last[b, e], e)*last[c, d], d)*adjoint_M_theta[c, a], c), a)/2
    - sum(sum(sum(sum(sum(X_theta[e, f]*inside[f, d], f)*upper[b, e], e)*G_theta[d, c], d)*first[a, c], c)*j_theta[a],
    a)*sum(sum(sum(G_theta[c, d]*last[b, d], d)*inside[a, c], c)*adjoint_h_theta[a], a)
    + sum(sum(sum(sum(sum(X_theta[e, f]*inside[f, d], f)*upper[b, e], e)*G_theta[d, c], d)*out[c, a], c)*on_theta[a],
    a)*sum(sum(sum(G_theta[c, d]*last[b, d], d)*inside[a, c], c)*adjoint_field_theta[a], a)
    + sum(sum(sum(sum(G[d, e]*last[b, e], e)*inside[c, d], d)*adjoint_Res[c, a], c)*upper[b, a], a)
    - sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a], a)*sum(adjoint_h_left[a]*upper[b, a], a)
    - sum(sum(sum(G_theta[c, d]*last[b, d], d)*inside[a, c], c)*adjoint_field_theta[a], a)*sum(on_theta[a]*upper[b, a],
    a) - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*last[a, c],
    c)*sum(sum(sum(X[d, e]*inside[e, c], e)*upper[a, d], d)*sum(G[c, d]*last[b, d], d), c)*adjoint[a], a)
    - sum(U[b, a]*field[a]*spread[a], a)*field[b]*spread[b] - sum(sum(adjoint_norm_left[c, a]*along[b, c, a], c),
    a)*norm_hat[b] - chi[b]*norm_hat[b]**2 - sum(sum(sum(sum(sum(sum(X[f, g]*inside[g, e], g)*upper[b, f], f)*G[e, d],
    e)*first[c, d], d)*Q1_hat[a, c], c)*sum(sum(G[c, d]*last[b, d], d)*last[a, c], c), a)/(2*beta)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*first[a, c],
    c)*sum(sum(sum(G[d, e]*last[b, e], e)*last[c, d], d)*Q1_hat[a, c], c), a)/(2*beta) - Q2_hat[b]/beta)
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b]  # d/dm
# d/dV1_hat
Q1[b, c] = ((beta*(2*sum(sum(sum(sum(sum(G_theta[f, g]*first[b, g], g)*inside[e, f], f)*spike_left[d, e],
    e)*adjoint_S_spike[d, a], d)*sum(sum(sum(G_theta[f, e]*last[c, f], f)*out[e, d], e)*spike_right[a, d], d), a)
    + 2*sum(sum(sum(sum(sum(G_theta[f, g]*first[c, g], g)*inside[e, f], f)*spike_left[d, e], e)*adjoint_S_spike[d, a],
    d)*sum(sum(sum(G_theta[f, e]*last[b, f], f)*out[e, d], e)*spike_right[a, d], d), a)
    + 2*sum(sum(sum(sum(G[e, f]*first[b, f], f)*inside[d, e], e)*adjoint_Res[d, a],
    d)*sum(sum(G[e, d]*last[c, e], e)*out[d, a], d), a) + 2*sum(sum(sum(sum(G[e, f]*first[c, f], f)*inside[d, e],
    e)*adjoint_Res[d, a], d)*sum(sum(G[e, d]*last[b, e], e)*out[d, a], d), a)
    + sum(sum(sum(sum(G_theta[e, f]*first[b, f], f)*last[d, e], e)*adjoint_M_theta[d, a],
    d)*sum(sum(G_theta[e, d]*last[c, e], e)*first[a, d], d), a)
    + sum(sum(sum(sum(G_theta[e, f]*first[c, f], f)*last[d, e], e)*adjoint_M_theta[d, a],
    d)*sum(sum(G_theta[e, d]*last[b, e], e)*first[a, d], d), a)
    + sum(sum(sum(sum(G_theta[f, e]*last[b, f], f)*first[d, e], e)*adjoint_M_theta[d, a],
    d)*sum(sum(G_theta[d, e]*first[c, e], e)*last[a, d], d), a)
    + sum(sum(sum(sum(G_theta[f, e]*last[c, f], f)*first[d, e], e)*adjoint_M_theta[d, a],
    d)*sum(sum(G_theta[d, e]*first[b, e], e)*last[a, d], d), a)
    + 2*sum(sum(sum(G[d, e]*first[b, e], e)*inside[a, d], d)*adjoint_h_noise[a],
    a)*sum(sum(sum(G[e, d]*last[c, e], e)*first[a, d], d)*j_noise[a], a)
    + 2*sum(sum(sum(G[d, e]*first[b, e], e)*last[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[c, e], e)*first[a, d], d)*j_noise[a], a)
    - 2*sum(sum(sum(G[d, e]*first[b, e], e)*last[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[c, e], e)*out[d, a], d)*adjoint_h_left[a], a)
    + 2*sum(sum(sum(G[d, e]*first[c, e], e)*inside[a, d], d)*adjoint_h_noise[a],
    a)*sum(sum(sum(G[e, d]*last[b, e], e)*first[a, d], d)*j_noise[a], a)
    + 2*sum(sum(sum(G[d, e]*first[c, e], e)*last[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[b, e], e)*first[a, d], d)*j_noise[a], a)
    - 2*sum(sum(sum(G[d, e]*first[c, e], e)*last[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[b, e], e)*out[d, a], d)*adjoint_h_left[a], a)
    - 2*sum(sum(sum(G_theta[d, e]*first[b, e], e)*inside[a, d], d)*adjoint_field_theta[a],
    a)*sum(sum(sum(G_theta[e, d]*last[c, e], e)*out[d, a], d)*on_theta[a], a)
    + 2*sum(sum(sum(G_theta[d, e]*first[b, e], e)*inside[a, d], d)*adjoint_h_theta[a],
    a)*sum(sum(sum(G_theta[e, d]*last[c, e], e)*first[a, d], d)*j_theta[a], a)
    - 2*sum(sum(sum(G_theta[d, e]*first[c, e], e)*inside[a, d], d)*adjoint_field_theta[a],
    a)*sum(sum(sum(G_theta[e, d]*last[b, e], e)*out[d, a], d)*on_theta[a], a)
    + 2*sum(sum(sum(G_theta[d, e]*first[c, e], e)*inside[a, d], d)*adjoint_h_theta[a],
    a)*sum(sum(sum(G_theta[e, d]*last[b, e], e)*first[a, d], d)*j_theta[a], a)
    + 2*sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[a, e], e)*sum(G[d, e]*first[b, e], e),
    d)*sum(sum(G[e, d]*last[c, e], e)*last[a, d], d)*adjoint[a], a)
    + 2*sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[a, e], e)*sum(G[d, e]*first[c, e], e),
    d)*sum(sum(G[e, d]*last[b, e], e)*last[a, d], d)*adjoint[a], a) - 4*zeta[b]*zeta[c])
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
# d/dnorm_hat
norm[b] = (sum(sum(adjoint_norm_left[c, a]*along[b, c, a], c), a)*T[b]/2
    + sum(sum(adjoint_norm_right[c, a]*along[b, c, a], c), a)/2 + T[b]*chi[b]*norm_hat[b])
# d/dpsi_hat
psi[b] = (-sum(H[b, a]*adjoint_h_noise[a], a)*gamma[b]/2 - sum(H_left[b, a]*adjoint_h_left[a], a)*gamma[b]/2
    + sum(H_theta[b, a]*adjoint_h_theta[a], a)*rho[b]/2 - sum(M[a, b]*j_noise[a], a)*gamma[b]
    + sum(M_theta[a, b]*j_theta[a], a)*rho[b]/2 + sum(M_theta[b, a]*j_theta[a], a)*rho[b]/2)
# d/dzeta_hat
zeta[b] = (sum(H[b, a]*adjoint_h_noise[a], a)*rho[b]/2 + sum(H_left[b, a]*adjoint_h_left[a], a)*rho[b]/2
    + sum(H_theta[b, a]*adjoint_h_theta[a], a)*gamma[b]/2 + sum(M[a, b]*j_noise[a], a)*rho[b]
    + sum(M_theta[a, b]*j_theta[a], a)*gamma[b]/2 + sum(M_theta[b, a]*j_theta[a], a)*gamma[b]/2)
X[p, q] = sum(F[p, q, a]*law_tr[a], a) + base[p, q]  # X
# adjoint_X
adjoint_X[p, q] = (-sum(sum(sum(sum(G[c, d]*out[d, p], d)*inside[b, c], c)*adjoint_Res[b, a],
    b)*sum(sum(G[c, b]*inside[q, c], c)*out[b, a], b), a) - sum(sum(sum(G[b, c]*out[c, p], c)*inside[a, b],
    b)*adjoint_h_noise[a], a)*sum(sum(sum(G[c, b]*inside[q, c], c)*first[a, b], b)*j_noise[a], a)
    - sum(sum(sum(G[b, c]*out[c, p], c)*last[a, b], b)*j_noise[a],
    a)*sum(sum(sum(G[c, b]*inside[q, c], c)*first[a, b], b)*j_noise[a], a)
    + sum(sum(sum(G[b, c]*out[c, p], c)*last[a, b], b)*j_noise[a],
    a)*sum(sum(sum(G[c, b]*inside[q, c], c)*out[b, a], b)*adjoint_h_left[a], a)
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
d_U[b, c] := (-sum(sum(S_spike[d, a]*U[b, d]*d_spread[d], d)*U[a, c]*spread[a], a)
    - sum(sum(S_spike[d, a]*U[b, d]*spread[d], d)*U[a, c]*d_spread[a], a)
    - sum(sum(U[b, d]*d_S_spike[d, a]*spread[d], d)*U[a, c]*spread[a], a))
"""
OBSERVABLES = """
test_error := E((-mean + nu0)**2 + (nu1 - slope)**2 + Delta + nu2sq)
train_error := E(-V*avg_gg/2 + avg_M)
free_energy := (alpha*E(avg_M) + beta*inverse_dimension*sum(m[b]**2/(2*T[b]), b)
    + beta*(-sum(sum(M[a, b]*j_noise[b], b)*j_noise[a], a)/2 - sum(sum(M_theta[b, a]*j_theta[b], b)*j_theta[a], a)/2
    - sum(sum(X_own[a, b]*h_noise[b], b)*h_left[a], a)/2 - sum(sum(h_noise[b]*put_left[b, a], b)*law_e[a], a)
    + sum(sum(norm_mean[b, a]*put_left[b, a], b)*law_own[a], a)/2 - sum(field_theta[a]*on_left[a], a)/2
    - sum(h_theta[a]*on_left[a], a)/2 - sum(T[a]*chi[a]*norm_hat[a]**2, a)/2
    - sum(sum(U[a, b]*field[b]*spread[b], b)*T[a]*field[a]*spread[a], a)/2
    + sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2 + sum(norm[b]*norm_hat[b] + psi[b]*psi_hat[b] + zeta[b]*zeta_hat[b],
    b) - sum(sum(V1_hat[b, c]*zeta[b]*zeta[c], b), c)/2 + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b),
    c)/2 - (sum(Q2_hat[a]*T[a], a) + sum(sum(M[a, b]*Q1_hat[a, b], b), a))/(2*beta)))
"""
motion = Motion(Text(EQUATIONS, ('adjoint', 'm', 'Q1', 'T', 'V1', 'norm', 'psi', 'zeta', 'X', 'adjoint_X'),
    ('sample', 'base', 'chi', 'along', 'spread'), RULES, OBSERVABLES), COLUMNS,
    features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
