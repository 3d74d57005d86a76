"""Equations of a stretched bulk, 2 direction(s) beside the spike, any number of blocks  [THEORY section 5].

Generated; do not edit. Signature cbc2419eb9a78904.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.tangents import TangentEquations, Text

SIGNATURE = "cbc2419eb9a789042aad86cca841636cccbc4f1a589959dbd9c4720d3372f9eb"


UNKNOWNS = ('adjoint', 'Q1', 'T', 'V1', 'norm', 'psi_1', 'psi_2', 'zeta')
INNER = ('X', 'adjoint_X')
INPUTS = ('Q1_hat', 'Q2_hat', 'V1_hat', 'V2_hat', 'average_zeta_hat', 'norm_hat', 'psi_hat_1', 'psi_hat_2')
GIVEN = ('upper', 'lower', 'first', 'inside', 'last', 'fixed', 'unit_G', 'unit_D', 'unit_theta', 'place', 'place_left',
    'place_right', 'gamma', 'rho', 'mix_1', 'mix_2', 'across_1', 'across_2', 'sample', 'base', 'law_tr', 'law_along',
    'law_te', 'law_ee', 'law_t', 'law_e', 'law_own', 'chi', 'along', 'spread')


def response(s):
    """The response M, and what it follows from."""
    (T, V1_hat, X, first, fixed, inside, last, lower, upper) = (s[name] for name in ('T', 'V1_hat', 'X', 'first',
        'fixed', 'inside', 'last', 'lower', 'upper'))
    x0 = np.einsum('b,bi,bp->ip', T, last, upper)
    out = lower - x0
    x1 = np.einsum('bc,bj->cj', V1_hat, last)
    x2 = np.einsum('cj,ci->ij', x1, first)
    x3 = np.einsum('bc,cj->bj', V1_hat, last)
    x4 = np.einsum('bj,bi->ij', x3, first)
    x5 = np.einsum('pq,qj->jp', X, inside)
    x6 = np.einsum('jp,ip->ij', x5, out)
    G = np.linalg.inv(0.5*x2 + 0.5*x4 + x6 + fixed)
    x7 = np.einsum('ad,bd->ab', G, first)
    x8 = np.einsum('ab,ca->bc', x7, last)
    x9 = np.einsum('ad,cd->ac', G, first)
    x10 = np.einsum('ac,ba->bc', x9, last)
    M = 0.5*x8 + 0.5*x10
    s.update(out=out, G=G, M=M)


def resolvent(s):
    """What the equation of X is made of beside that, and its residual."""
    (G, X, base, inside, law_tr, out, sample, unit_D) = (s[name] for name in ('G', 'X', 'base', 'inside', 'law_tr',
        'out', 'sample', 'unit_D'))
    x0 = np.einsum('ab,bq->aq', G, out)
    x1 = np.einsum('aq,pa->pq', x0, inside)
    Res = x1
    x2 = np.einsum('pr,rqx->pqx', Res, sample)
    D = np.moveaxis(np.linalg.inv(np.moveaxis(x2 + unit_D[:, :, None], -1, 0)), 0, -1)
    x3 = np.einsum('rqx,prx->pqx', D, sample)
    F = x3
    x4 = np.einsum('a,pqa->pq', law_tr, F)
    residual_X = X - x4 - base
    s.update(Res=Res, D=D, F=F, residual_X=residual_X)


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
    slope_X = x8
    s.update(slope_X=slope_X)


def chain(s):
    """What else follows from unknowns and conjugates, without adjoint_X."""
    (D, F, G, Res, T, V1_hat, across_1, across_2, along, average_zeta_hat, first, gamma, identity, inside, last,
        law_along, law_e, law_ee, law_own, law_t, law_te, lower, mix_1, mix_2, norm_hat, out, place, place_left,
        place_right, psi_hat_1, psi_hat_2, rho, spread, unit_theta, upper,
        zeta) = (s[name] for name in ('D', 'F', 'G', 'Res', 'T', 'V1_hat', 'across_1', 'across_2', 'along',
        'average_zeta_hat', 'first', 'gamma', 'identity', 'inside', 'last', 'law_along', 'law_e', 'law_ee', 'law_own',
        'law_t', 'law_te', 'lower', 'mix_1', 'mix_2', 'norm_hat', 'out', 'place', 'place_left', 'place_right',
        'psi_hat_1', 'psi_hat_2', 'rho', 'spread', 'unit_theta', 'upper', 'zeta'))
    x0 = np.einsum('b,b,bpx->px', T, norm_hat, along)
    norm_left = x0
    x1 = np.einsum('b,bpx->px', norm_hat, along)
    norm_right = x1
    x2 = np.einsum('a,ab->b', zeta, V1_hat)
    zeta_hat = x2 + average_zeta_hat
    x3 = np.einsum('ij,cj->ci', G, first)
    x4 = np.einsum('ci,pi->cp', x3, inside)
    H = x4
    x5 = np.einsum('ij,jp->ip', G, out)
    x6 = np.einsum('ip,bi->bp', x5, last)
    H_left = (-1.0)*x6
    j_noise = across_1*psi_hat_1 + across_2*psi_hat_2 + rho*zeta_hat
    j_theta = (np.einsum('d,b->bd', gamma, zeta_hat) + np.einsum('d,b->bd', mix_1, psi_hat_1)
        + np.einsum('d,b->bd', mix_2, psi_hat_2))
    x7 = np.einsum('pq,dqj->djp', Res, place)
    x8 = np.einsum('djp,dpi->dij', x7, place)
    x9 = np.einsum('dij->ij', x8)
    mean_theta = x9
    x10 = np.einsum('pq,qx->px', Res, norm_right)
    norm_mean = x10
    x11 = np.einsum('b,bp->p', j_noise, H_left)
    h_left = x11
    x12 = np.einsum('c,cp->p', j_noise, H)
    h_noise = x12
    x13 = np.einsum('cp,cd->dp', H, j_theta)
    x14 = np.einsum('dp,dpi->di', x13, place)
    x15 = np.einsum('di->i', x14)
    h_theta = x15
    x16 = np.einsum('bp,bd->dp', H_left, j_theta)
    x17 = np.einsum('dp,dpi->di', x16, place)
    x18 = np.einsum('di->i', x17)
    l_theta = x18
    x19 = np.einsum('px,pqx->qx', norm_left, D)
    put_left = x19
    adjoint_on_theta = l_theta
    x20 = np.einsum('ex,pqx->epq', law_along, F)
    X_along = x20
    x21 = np.einsum('dx,pqx->dpq', law_te, F)
    X_cross = x21
    x22 = np.einsum('x,pqx->pq', law_ee, F)
    X_own = x22
    x23 = np.einsum('qx,pqx->px', norm_mean, F)
    put_back = norm_right - x23
    x24 = np.einsum('epq,eqj->ejp', X_along, place_right)
    x25 = np.einsum('ejp,epi->eij', x24, place_left)
    x26 = np.einsum('eij->ij', x25)
    along_theta = x26
    x27 = np.einsum('q,dqp->dp', h_left, X_cross)
    x28 = np.einsum('dx,px->dp', law_t, put_left)
    x29 = np.einsum('dp,dpi->di', x27 + x28, place)
    x30 = np.einsum('di->i', x29)
    on_left = x30
    x31 = np.einsum('d,bp,dpi->bdi', gamma, upper, place)
    x32 = np.einsum('bdi->bi', x31)
    x33 = np.einsum('rq,dqp->dpr', Res, X_cross)
    x34 = np.einsum('dpr,br->bdp', x33, upper)
    x35 = np.einsum('bdp,b,dpi->bdi', x34, rho, place)
    x36 = np.einsum('bdi->bi', x35)
    spike_left = x32 - x36
    x37 = np.einsum('d,cp,dpi->cdi', gamma, upper, place)
    x38 = np.einsum('cdi->ci', x37)
    x39 = np.einsum('qr,cr->cq', Res, upper)
    x40 = np.einsum('cq,dpq->cdp', x39, X_cross)
    x41 = np.einsum('cdp,c,dpi->cdi', x40, rho, place)
    x42 = np.einsum('cdi->ci', x41)
    spike_right = x38 - x42
    x43 = np.einsum('q,pq->p', h_noise, X_own)
    x44 = np.einsum('x,px->p', law_e, put_back)
    on_noise = x43 + x44
    x45 = np.einsum('q,dpq->dp', h_noise, X_cross)
    x46 = np.einsum('dx,px->dp', law_t, put_back)
    x47 = np.einsum('dp,dpi->di', x45 + x46, place)
    x48 = np.einsum('di->i', x47)
    on_samples = x48
    x49 = np.einsum('lj,il->ij', along_theta, mean_theta)
    Z = np.linalg.inv(x49 + unit_theta)
    x50 = np.einsum('pq,cq->cp', Res, upper)
    x51 = np.einsum('cp,bp->bc', x50, upper)
    x52 = np.einsum('jl,cl->cj', mean_theta, spike_right)
    x53 = np.einsum('cj,ij->ci', x52, Z)
    x54 = np.einsum('ci,bi->bc', x53, spike_left)
    x55 = np.einsum('rs,cs->cr', Res, upper)
    x56 = np.einsum('cr,qr->cq', x55, X_own)
    x57 = np.einsum('cq,pq->cp', x56, Res)
    x58 = np.einsum('cp,bp->bc', x57, upper)
    S_spike = np.einsum('bc,b,c->bc', x51, rho, rho) + x54 - np.einsum('bc,b,c->bc', x58, rho, rho)
    x59 = np.einsum('l,jl->j', on_samples, mean_theta)
    x60 = np.einsum('j,ij->i', h_theta - x59, Z)
    field_theta = x60
    U = np.linalg.inv(np.einsum('b,c,bc->bc', spread, spread, S_spike) + identity)
    adjoint_on_left = field_theta
    x61 = np.einsum('q,pq->p', on_noise, Res)
    x62 = np.einsum('p,bp->b', h_noise - x61, upper)
    x63 = np.einsum('i,bi->b', field_theta, spike_left)
    field = x62*rho + x63
    x64 = np.einsum('j,ij->i', field_theta, along_theta)
    on_theta = x64 + on_samples
    x65 = np.einsum('a,pa->p', h_noise, X_own)
    x66 = np.einsum('c,abc->ab', adjoint_on_left, place)
    x67 = np.einsum('ab,apb->ap', x66, X_cross)
    x68 = np.einsum('ap->p', x67)
    adjoint_h_left = x65 + x68
    x69 = np.einsum('b,aqb->aq', adjoint_on_left, place)
    x70 = np.einsum('aq,ax->qx', x69, law_t)
    adjoint_put_left = 2.0*np.einsum('q,x->qx', h_noise, law_e) + x70 - np.einsum('x,qx->qx', law_own, norm_mean)
    x71 = np.einsum('a,a,ca->c', field, spread, U)
    x72 = np.einsum('a,a,a,ab->b', T, field, spread, U)
    adjoint_S_spike = (-1.0)*np.einsum('c,b,b,c->bc', x71, x72, spread, spread)
    x73 = np.einsum('a,a,ba->b', field, spread, U)
    adjoint_field = x72*spread + x73*T*spread
    adjoint_l_theta = on_theta
    x74 = np.einsum('ax,pax->px', adjoint_put_left, D)
    x75 = np.einsum('ab,pb->ap', law_t, norm_right)
    x76 = np.einsum('ap,ax->px', x75, law_t)
    x77 = np.einsum('ap->p', lower)
    adjoint_norm_left = x74 - np.einsum('px,p->px', x76, x77) - np.einsum('p,x,px->px', x77, law_own, norm_right)
    x78 = np.einsum('bd,di->bi', Z, mean_theta)
    x79 = np.einsum('bi,ab->ai', x78, spike_left)
    x80 = np.einsum('ai,ac->ci', x79, adjoint_S_spike)
    adjoint_spike_right = x80
    x81 = np.einsum('a,ai->i', adjoint_field, spike_left)
    x82 = np.einsum('a,ai->i', adjoint_on_theta, along_theta)
    adjoint_field_theta = x81 + x82 + on_left
    x83 = np.einsum('bp,ab->ap', Res, upper)
    x84 = np.einsum('ap,a,a->p', x83, adjoint_field, rho)
    adjoint_on_noise = (-1.0)*x84
    x85 = np.einsum('cd,ad->ac', mean_theta, spike_right)
    x86 = np.einsum('ac,ic->ai', x85, Z)
    x87 = np.einsum('ai,ba->bi', x86, adjoint_S_spike)
    adjoint_spike_left = np.einsum('b,i->bi', adjoint_field, field_theta) + x87
    x88 = np.einsum('b,ab->a', on_samples, mean_theta)
    x89 = np.einsum('a,ja->j', x88, Z)
    x90 = np.einsum('ab,bi->ai', Z, mean_theta)
    x91 = np.einsum('ai,a->i', x90, adjoint_field_theta)
    x92 = np.einsum('cd,di->ci', Z, mean_theta)
    x93 = np.einsum('ci,bc->bi', x92, spike_left)
    x94 = np.einsum('bi,ba->ai', x93, adjoint_S_spike)
    x95 = np.einsum('bc,ac->ab', mean_theta, spike_right)
    x96 = np.einsum('ab,jb->aj', x95, Z)
    x97 = np.einsum('ai,aj->ij', x94, x96)
    x98 = np.einsum('a,ja->j', h_theta, Z)
    adjoint_along_theta = (np.einsum('j,i->ij', x89, x91) + np.einsum('i,j->ij', adjoint_on_theta, field_theta) - x97
        - np.einsum('i,j->ij', x91, x98))
    x99 = np.einsum('a,ai->i', adjoint_field_theta, Z)
    adjoint_h_theta = x99
    x100 = np.einsum('ba,jb->aj', Z, along_theta)
    x101 = np.einsum('a,aj->j', x88, x100)
    x102 = np.einsum('ci,bc->bi', Z, spike_left)
    x103 = np.einsum('bi,ba->ai', x102, adjoint_S_spike)
    x104 = np.einsum('ai,aj->ij', x103, spike_right)
    x105 = np.einsum('cb,jc->bj', Z, along_theta)
    x106 = np.einsum('bj,ab->aj', x105, x95)
    x107 = np.einsum('aj,ai->ij', x106, x103)
    x108 = np.einsum('aj,a->j', x100, h_theta)
    adjoint_mean_theta = (np.einsum('j,i->ij', x101, x99) + x104 - x107 - np.einsum('j,i->ij', x108, x99)
        - np.einsum('i,j->ij', x99, on_samples))
    x109 = np.einsum('b,ba->a', adjoint_field_theta, Z)
    x110 = np.einsum('a,ai->i', x109, mean_theta)
    adjoint_on_samples = adjoint_on_theta - x110
    x111 = np.einsum('qb,ab->aq', Res, upper)
    x112 = np.einsum('cp,bc->bp', Res, upper)
    x113 = np.einsum('bp,b,ba->ap', x112, rho, adjoint_S_spike)
    x114 = np.einsum('aq,ap,a->pq', x111, x113, rho)
    adjoint_X_own = np.einsum('p,q->pq', adjoint_on_noise, h_noise) + np.einsum('p,q->pq', h_left, h_noise) - x114
    x115 = np.einsum('ba,epb->aep', adjoint_along_theta, place_left)
    x116 = np.einsum('aep,eqa->epq', x115, place_right)
    adjoint_X_along = x116
    x117 = np.einsum('a,dqa->dq', adjoint_on_left, place)
    x118 = np.einsum('a,dpa->dp', adjoint_on_samples, place)
    x119 = np.einsum('bp,b,ba->ap', x112, rho, adjoint_spike_left)
    x120 = np.einsum('ap,dqa->dpq', x119, place)
    x121 = np.einsum('qc,bc->bq', Res, upper)
    x122 = np.einsum('bq,b,ba->aq', x121, rho, adjoint_spike_right)
    x123 = np.einsum('aq,dpa->dpq', x122, place)
    adjoint_X_cross = np.einsum('dq,p->dpq', x117, h_left) + np.einsum('dp,q->dpq', x118, h_noise) - x120 - x123
    x124 = np.einsum('a,pa->p', law_e, put_left)
    x125 = np.einsum('a,ap->p', adjoint_on_noise, X_own)
    x126 = np.einsum('a,ap->p', h_left, X_own)
    x127 = np.einsum('a,a,ap->p', adjoint_field, rho, upper)
    x128 = np.einsum('c,abc->ab', adjoint_on_samples, place)
    x129 = np.einsum('ab,abp->ap', x128, X_cross)
    x130 = np.einsum('ap->p', x129)
    adjoint_h_noise = 2.0*x124 + x125 + x126 + x127 + x130
    x131 = np.einsum('b,apb->ap', adjoint_on_samples, place)
    x132 = np.einsum('ap,ax->px', x131, law_t)
    adjoint_put_back = np.einsum('p,x->px', adjoint_on_noise, law_e) + x132
    x133 = np.einsum('ax,apx->px', adjoint_put_back, F)
    adjoint_norm_mean = -x133 - np.einsum('x,px->px', law_own, put_left)
    x134 = np.einsum('ap,ax->px', Res, adjoint_norm_mean)
    x135 = np.einsum('ab,pb->ap', law_t, norm_left)
    x136 = np.einsum('ap,ax->px', x135, law_t)
    adjoint_norm_right = (x134 + adjoint_put_back - np.einsum('px,p->px', x136, x77)
        - np.einsum('p,x,px->px', x77, law_own, norm_left))
    s.update(norm_left=norm_left, norm_right=norm_right, zeta_hat=zeta_hat, H=H, H_left=H_left, j_noise=j_noise,
        j_theta=j_theta, mean_theta=mean_theta, norm_mean=norm_mean, h_left=h_left, h_noise=h_noise, h_theta=h_theta,
        l_theta=l_theta, put_left=put_left, adjoint_on_theta=adjoint_on_theta, X_along=X_along, X_cross=X_cross,
        X_own=X_own, put_back=put_back, along_theta=along_theta, on_left=on_left, spike_left=spike_left,
        spike_right=spike_right, on_noise=on_noise, on_samples=on_samples, Z=Z, S_spike=S_spike,
        field_theta=field_theta, U=U, adjoint_on_left=adjoint_on_left, field=field, on_theta=on_theta,
        adjoint_h_left=adjoint_h_left, adjoint_put_left=adjoint_put_left, adjoint_S_spike=adjoint_S_spike,
        adjoint_field=adjoint_field, adjoint_l_theta=adjoint_l_theta, adjoint_norm_left=adjoint_norm_left,
        adjoint_spike_right=adjoint_spike_right, adjoint_field_theta=adjoint_field_theta,
        adjoint_on_noise=adjoint_on_noise, adjoint_spike_left=adjoint_spike_left,
        adjoint_along_theta=adjoint_along_theta, adjoint_h_theta=adjoint_h_theta,
        adjoint_mean_theta=adjoint_mean_theta, adjoint_on_samples=adjoint_on_samples, adjoint_X_own=adjoint_X_own,
        adjoint_X_along=adjoint_X_along, adjoint_X_cross=adjoint_X_cross, adjoint_h_noise=adjoint_h_noise,
        adjoint_put_back=adjoint_put_back, adjoint_norm_mean=adjoint_norm_mean, adjoint_norm_right=adjoint_norm_right)


def adjoint(s):
    """What follows from adjoint_X too, and its residual."""
    (D, F, G, Q1_hat, Res, X, X_cross, X_own, adjoint, adjoint_S_spike, adjoint_X, adjoint_X_along, adjoint_X_cross,
        adjoint_X_own, adjoint_field, adjoint_h_left, adjoint_h_noise, adjoint_h_theta, adjoint_l_theta,
        adjoint_mean_theta, adjoint_norm_mean, adjoint_put_back, adjoint_put_left, adjoint_spike_left,
        adjoint_spike_right, beta, first, inside, j_noise, j_theta, last, law_along, law_ee, law_te, law_tr, norm_left,
        norm_mean, norm_right, on_noise, out, place, rho, upper) = (s[name] for name in ('D', 'F', 'G', 'Q1_hat',
        'Res', 'X', 'X_cross', 'X_own', 'adjoint', 'adjoint_S_spike', 'adjoint_X', 'adjoint_X_along',
        'adjoint_X_cross', 'adjoint_X_own', 'adjoint_field', 'adjoint_h_left', 'adjoint_h_noise', 'adjoint_h_theta',
        'adjoint_l_theta', 'adjoint_mean_theta', 'adjoint_norm_mean', 'adjoint_put_back', 'adjoint_put_left',
        'adjoint_spike_left', 'adjoint_spike_right', 'beta', 'first', 'inside', 'j_noise', 'j_theta', 'last',
        'law_along', 'law_ee', 'law_te', 'law_tr', 'norm_left', 'norm_mean', 'norm_right', 'on_noise', 'out', 'place',
        'rho', 'upper'))
    x0 = np.einsum('ba,bpa->ap', adjoint_put_back, F)
    x1 = np.einsum('ba,qba->aq', norm_mean, F)
    x2 = np.einsum('ap,aq->pq', x0, x1)
    x3 = np.einsum('pa,qa->pq', adjoint_norm_mean, norm_right)
    x4 = np.einsum('b,ba,bp->ap', rho, adjoint_S_spike, upper)
    x5 = np.einsum('ap,a,aq->pq', x4, rho, upper)
    x6 = np.einsum('cb,apc->abp', adjoint_mean_theta, place)
    x7 = np.einsum('abp,aqb->apq', x6, place)
    x8 = np.einsum('apq->pq', x7)
    x9 = np.einsum('cb,cpa->abp', adjoint_X, F)
    x10 = np.einsum('abp,qba->apq', x9, F)
    x11 = np.einsum('apq,a->pq', x10, law_tr)
    x12 = np.einsum('cb,cpa->abp', adjoint_X_own, F)
    x13 = np.einsum('abp,qba->apq', x12, F)
    x14 = np.einsum('apq,a->pq', x13, law_ee)
    x15 = np.einsum('ba,qba->aq', adjoint_put_left, F)
    x16 = np.einsum('ba,bpa->ap', norm_left, D)
    x17 = np.einsum('aq,ap->pq', x15, x16)
    x18 = np.einsum('b,ba,bp->ap', rho, adjoint_spike_left, upper)
    x19 = np.einsum('bqc,bca->abq', X_cross, place)
    x20 = np.einsum('abq->aq', x19)
    x21 = np.einsum('ap,aq->pq', x18, x20)
    x22 = np.einsum('b,ba,bq->aq', rho, adjoint_spike_right, upper)
    x23 = np.einsum('bcp,bca->abp', X_cross, place)
    x24 = np.einsum('abp->ap', x23)
    x25 = np.einsum('aq,ap->pq', x22, x24)
    x26 = np.einsum('bc,ac->ab', Res, upper)
    x27 = np.einsum('ab,qb->aq', x26, X_own)
    x28 = np.einsum('aq,ap,a->pq', x27, x4, rho)
    x29 = np.einsum('cd,dp->cp', Res, X_own)
    x30 = np.einsum('cp,bc->bp', x29, upper)
    x31 = np.einsum('bp,b,ba->ap', x30, rho, adjoint_S_spike)
    x32 = np.einsum('ap,a,aq->pq', x31, rho, upper)
    x33 = np.einsum('da,dcb->abc', law_along, adjoint_X_along)
    x34 = np.einsum('abc,cpa->abp', x33, F)
    x35 = np.einsum('abp,qba->apq', x34, F)
    x36 = np.einsum('apq->pq', x35)
    x37 = np.einsum('da,dcb->abc', law_te, adjoint_X_cross)
    x38 = np.einsum('abc,cpa->abp', x37, F)
    x39 = np.einsum('abp,qba->apq', x38, F)
    x40 = np.einsum('apq->pq', x39)
    x41 = np.einsum('a,a,ap->p', adjoint_field, rho, upper)
    adjoint_Res = (x2 + x3 + x5 + x8 - x11 - x14 - x17 - x21 - x25 - x28 - x32 - x36 - x40
        - np.einsum('p,q->pq', x41, on_noise))
    x42 = np.einsum('cd,dp->cp', G, out)
    x43 = np.einsum('cp,bc->bp', x42, last)
    x44 = np.einsum('ac,bc->ab', j_theta, j_theta)
    x45 = np.einsum('bp,ab->ap', x43, x44)
    x46 = np.einsum('cb,qc->bq', G, inside)
    x47 = np.einsum('bq,ab->aq', x46, first)
    x48 = np.einsum('ap,aq->pq', x45, x47)
    x49 = np.einsum('dc,qd->cq', G, inside)
    x50 = np.einsum('cq,bc->bq', x49, first)
    x51 = np.einsum('bq,ab->aq', x50, x44)
    x52 = np.einsum('bc,cp->bp', G, out)
    x53 = np.einsum('bp,ab->ap', x52, last)
    x54 = np.einsum('aq,ap->pq', x51, x53)
    x55 = np.einsum('bp,ab->ap', x52, inside)
    x56 = np.einsum('ap,a->p', x55, adjoint_h_noise)
    x57 = np.einsum('aq,a->q', x47, j_noise)
    x58 = np.einsum('ap,a->p', x53, j_noise)
    x59 = np.einsum('bp,ab->ap', x43, Q1_hat)
    x60 = np.einsum('ap,aq->pq', x59, x47)
    x61 = np.einsum('bq,ab->aq', x50, Q1_hat)
    x62 = np.einsum('aq,ap->pq', x61, x53)
    x63 = np.einsum('de,ep->dp', G, out)
    x64 = np.einsum('dp,cd->cp', x63, inside)
    x65 = np.einsum('cp,acb->abp', x64, place)
    x66 = np.einsum('abp,b->ap', x65, adjoint_h_theta)
    x67 = np.einsum('bq,ba->aq', x50, j_theta)
    x68 = np.einsum('ap,aq->pq', x66, x67)
    x69 = np.einsum('cp,bc->bp', x42, inside)
    x70 = np.einsum('bp,ba->ap', x69, adjoint_Res)
    x71 = np.einsum('bq,ba->aq', x46, out)
    x72 = np.einsum('ap,aq->pq', x70, x71)
    x73 = np.einsum('cd,db->bc', X, inside)
    x74 = np.einsum('bc,ac->ab', x73, upper)
    x75 = np.einsum('ab,bp->ap', x74, x52)
    x76 = np.einsum('bq,ab->aq', x46, last)
    x77 = np.einsum('ap,aq,a->pq', x75, x76, adjoint)
    x78 = np.einsum('ed,qe->dq', G, inside)
    x79 = np.einsum('dq,dc->cq', x78, out)
    x80 = np.einsum('cq,acb->abq', x79, place)
    x81 = np.einsum('abq,b->aq', x80, adjoint_l_theta)
    x82 = np.einsum('bp,ba->ap', x43, j_theta)
    x83 = np.einsum('aq,ap->pq', x81, x82)
    x84 = np.einsum('bc,ac->ab', G, last)
    x85 = np.einsum('ab,qb->aq', x84, inside)
    x86 = np.einsum('aq,a,ap->pq', x85, adjoint, upper)
    x87 = np.einsum('aq,a->q', x71, adjoint_h_left)
    residual_adjoint_X = (0.5*x48 + 0.5*x54 + np.einsum('p,q->pq', x56, x57) + np.einsum('p,q->pq', x58, x57)
        + 0.5/beta*x60 + 0.5/beta*x62 + x68 + x72 + x77 + adjoint_X - x83 - x86 - np.einsum('p,q->pq', x58, x87))
    s.update(adjoint_Res=adjoint_Res, residual_adjoint_X=residual_adjoint_X)


def residual(s):
    """The residuals of the unknowns, stored beside them."""
    (G, H, H_left, M, Q1, Q1_hat, Q2_hat, T, U, V1, V2_hat, X, across_1, across_2, adjoint, adjoint_Res,
        adjoint_h_left, adjoint_h_noise, adjoint_h_theta, adjoint_l_theta, adjoint_norm_left, adjoint_norm_right,
        along, beta, chi, field, first, fraction, gamma, identity, inside, inverse_dimension, j_noise, j_theta, last,
        m, mix_1, mix_2, norm, norm_hat, out, place, psi_1, psi_2, rho, ridge, spread, upper,
        zeta) = (s[name] for name in ('G', 'H', 'H_left', 'M', 'Q1', 'Q1_hat', 'Q2_hat', 'T', 'U', 'V1', 'V2_hat', 'X',
        'across_1', 'across_2', 'adjoint', 'adjoint_Res', 'adjoint_h_left', 'adjoint_h_noise', 'adjoint_h_theta',
        'adjoint_l_theta', 'adjoint_norm_left', 'adjoint_norm_right', 'along', 'beta', 'chi', 'field', 'first',
        'fraction', 'gamma', 'identity', 'inside', 'inverse_dimension', 'j_noise', 'j_theta', 'last', 'm', 'mix_1',
        'mix_2', 'norm', 'norm_hat', 'out', 'place', 'psi_1', 'psi_2', 'rho', 'ridge', 'spread', 'upper', 'zeta'))
    x0 = np.einsum('ef,fd->de', X, inside)
    x1 = np.einsum('de,be->bd', x0, upper)
    x2 = np.einsum('bd,dc->bc', x1, G)
    x3 = np.einsum('bc,ca->ab', x2, out)
    x4 = np.einsum('ab,a->b', x3, adjoint_h_left)
    x5 = np.einsum('cd,bd->bc', G, last)
    x6 = np.einsum('bc,ac->ab', x5, last)
    x7 = np.einsum('ab,a->b', x6, j_noise)
    x8 = np.einsum('gh,hf->fg', X, inside)
    x9 = np.einsum('fg,bg->bf', x8, upper)
    x10 = np.einsum('bf,fe->be', x9, G)
    x11 = np.einsum('be,ed->bd', x10, out)
    x12 = np.einsum('bd,adc->abc', x11, place)
    x13 = np.einsum('abc,c->ab', x12, adjoint_l_theta)
    x14 = np.einsum('de,be->bd', G, last)
    x15 = np.einsum('bd,cd->bc', x14, last)
    x16 = np.einsum('bc,ca->ab', x15, j_theta)
    x17 = np.einsum('ab,ab->b', x13, x16)
    x18 = np.einsum('bd,cd->bc', x14, inside)
    x19 = np.einsum('bc,ca->ab', x18, adjoint_Res)
    x20 = np.einsum('ab,ba->b', x19, upper)
    x21 = np.einsum('fg,ge->ef', X, inside)
    x22 = np.einsum('ef,bf->be', x21, upper)
    x23 = np.einsum('be,ed->bd', x22, G)
    x24 = np.einsum('bd,cd->bc', x23, first)
    x25 = np.einsum('bc,ca->ab', x24, j_theta)
    x26 = np.einsum('ef,bf->be', G, last)
    x27 = np.einsum('be,de->bd', x26, inside)
    x28 = np.einsum('bd,adc->abc', x27, place)
    x29 = np.einsum('abc,c->ab', x28, adjoint_h_theta)
    x30 = np.einsum('ab,ab->b', x25, x29)
    x31 = np.einsum('ab,ab->b', x3, x19)
    x32 = np.einsum('bd,adc->abc', upper, place)
    x33 = np.einsum('abc,c->ab', x32, adjoint_l_theta)
    x34 = np.einsum('ab,ab->b', x16, x33)
    x35 = np.einsum('bc,ac->ab', x2, last)
    x36 = np.einsum('de,ec->cd', X, inside)
    x37 = np.einsum('cd,ad->ac', x36, upper)
    x38 = np.einsum('ac,bc->ab', x37, x5)
    x39 = np.einsum('ab,ab,a->b', x35, x38, adjoint)
    x40 = np.einsum('ad,cd->ac', j_theta, j_theta)
    x41 = np.einsum('bc,ac->ab', x24, x40)
    x42 = np.einsum('ab,ab->b', x41, x6)
    x43 = np.einsum('bc,ac->ab', x2, first)
    x44 = np.einsum('bc,ac->ab', x15, x40)
    x45 = np.einsum('ab,ab->b', x43, x44)
    x46 = np.einsum('ab,a->b', x43, j_noise)
    x47 = np.einsum('bc,ac->ab', x5, inside)
    x48 = np.einsum('ab,a->b', x47, adjoint_h_noise)
    x49 = np.einsum('a,ba->b', adjoint_h_left, upper)
    x50 = np.einsum('ca,bca->ab', adjoint_norm_left, along)
    x51 = np.einsum('ab->b', x50)
    x52 = np.einsum('bc,ac->ab', x24, Q1_hat)
    x53 = np.einsum('ab,ab->b', x52, x6)
    x54 = np.einsum('bc,ac->ab', x15, Q1_hat)
    x55 = np.einsum('ab,ab->b', x43, x54)
    x56 = np.einsum('a,a,ba->b', field, spread, U)
    residual_adjoint = (x4*x7 + beta*adjoint*fraction/T**2 + x17 + x20 - x30 - x31 - x34 - x39 - 0.5*x42 - 0.5*x45
        - 1.0/beta*Q2_hat - (norm_hat**2)*chi - x46*x48 - x46*x7 - x7*x49 - x51*norm_hat - 0.5/beta*x53 - 0.5/beta*x55
        - inverse_dimension*(m**2)/T**2 - x56*field*spread)
    x57 = np.einsum('gf,bg->bf', G, last)
    x58 = np.einsum('bf,fe->be', x57, out)
    x59 = np.einsum('be,aed->abd', x58, place)
    x60 = np.einsum('abd,d->ab', x59, adjoint_l_theta)
    x61 = np.einsum('ef,cf->ce', G, first)
    x62 = np.einsum('ce,de->cd', x61, last)
    x63 = np.einsum('cd,da->ac', x62, j_theta)
    x64 = np.einsum('ab,ac->bc', x60, x63)
    x65 = np.einsum('gf,cg->cf', G, last)
    x66 = np.einsum('cf,fe->ce', x65, out)
    x67 = np.einsum('ce,aed->acd', x66, place)
    x68 = np.einsum('acd,d->ac', x67, adjoint_l_theta)
    x69 = np.einsum('ef,bf->be', G, first)
    x70 = np.einsum('be,de->bd', x69, last)
    x71 = np.einsum('bd,da->ab', x70, j_theta)
    x72 = np.einsum('ac,ab->bc', x68, x71)
    x73 = np.einsum('de,be->bd', G, first)
    x74 = np.einsum('bd,ad->ab', x73, last)
    x75 = np.einsum('ab,a->b', x74, j_noise)
    x76 = np.einsum('ed,ce->cd', G, last)
    x77 = np.einsum('cd,da->ac', x76, out)
    x78 = np.einsum('ac,a->c', x77, adjoint_h_left)
    x79 = np.einsum('de,ce->cd', G, first)
    x80 = np.einsum('cd,ad->ac', x79, last)
    x81 = np.einsum('ac,a->c', x80, j_noise)
    x82 = np.einsum('ed,be->bd', G, last)
    x83 = np.einsum('bd,da->ab', x82, out)
    x84 = np.einsum('ab,a->b', x83, adjoint_h_left)
    x85 = np.einsum('fg,bg->bf', G, first)
    x86 = np.einsum('bf,ef->be', x85, inside)
    x87 = np.einsum('be,aed->abd', x86, place)
    x88 = np.einsum('abd,d->ab', x87, adjoint_h_theta)
    x89 = np.einsum('fe,cf->ce', G, last)
    x90 = np.einsum('ce,de->cd', x89, first)
    x91 = np.einsum('cd,da->ac', x90, j_theta)
    x92 = np.einsum('ab,ac->bc', x88, x91)
    x93 = np.einsum('fg,cg->cf', G, first)
    x94 = np.einsum('cf,ef->ce', x93, inside)
    x95 = np.einsum('ce,aed->acd', x94, place)
    x96 = np.einsum('acd,d->ac', x95, adjoint_h_theta)
    x97 = np.einsum('fe,bf->be', G, last)
    x98 = np.einsum('be,de->bd', x97, first)
    x99 = np.einsum('bd,da->ab', x98, j_theta)
    x100 = np.einsum('ac,ab->bc', x96, x99)
    x101 = np.einsum('be,de->bd', x69, inside)
    x102 = np.einsum('bd,da->ab', x101, adjoint_Res)
    x103 = np.einsum('ab,ac->bc', x102, x77)
    x104 = np.einsum('ce,de->cd', x61, inside)
    x105 = np.einsum('cd,da->ac', x104, adjoint_Res)
    x106 = np.einsum('ac,ab->bc', x105, x83)
    x107 = np.einsum('de,ae->ad', x0, upper)
    x108 = np.einsum('ad,bd->ab', x107, x73)
    x109 = np.einsum('cd,ad->ac', x76, last)
    x110 = np.einsum('ab,ac,a->bc', x108, x109, adjoint)
    x111 = np.einsum('ad,cd->ac', x107, x79)
    x112 = np.einsum('bd,ad->ab', x82, last)
    x113 = np.einsum('ac,ab,a->bc', x111, x112, adjoint)
    x114 = np.einsum('ae,de->ad', j_theta, j_theta)
    x115 = np.einsum('bd,ad->ab', x70, x114)
    x116 = np.einsum('cd,ad->ac', x76, first)
    x117 = np.einsum('ab,ac->bc', x115, x116)
    x118 = np.einsum('cd,ad->ac', x62, x114)
    x119 = np.einsum('bd,ad->ab', x82, first)
    x120 = np.einsum('ac,ab->bc', x118, x119)
    x121 = np.einsum('bd,ad->ab', x98, x114)
    x122 = np.einsum('ab,ac->bc', x121, x80)
    x123 = np.einsum('cd,ad->ac', x90, x114)
    x124 = np.einsum('ac,ab->bc', x123, x74)
    x125 = np.einsum('bd,ad->ab', x73, inside)
    x126 = np.einsum('ab,a->b', x125, adjoint_h_noise)
    x127 = np.einsum('ac,a->c', x116, j_noise)
    x128 = np.einsum('cd,ad->ac', x79, inside)
    x129 = np.einsum('ac,a->c', x128, adjoint_h_noise)
    x130 = np.einsum('ab,a->b', x119, j_noise)
    x131 = np.einsum('bd,ad->ab', x70, Q1_hat)
    x132 = np.einsum('ab,ac->bc', x131, x116)
    x133 = np.einsum('cd,ad->ac', x62, Q1_hat)
    x134 = np.einsum('ac,ab->bc', x133, x119)
    x135 = np.einsum('bd,ad->ab', x98, Q1_hat)
    x136 = np.einsum('ab,ac->bc', x135, x80)
    x137 = np.einsum('cd,ad->ac', x90, Q1_hat)
    x138 = np.einsum('ac,ab->bc', x137, x74)
    residual_Q1 = (0.5*x64 + 0.5*x72 + np.einsum('b,c->bc', zeta, zeta) + 0.5*np.einsum('b,c->bc', x75, x78)
        + 0.5*np.einsum('c,b->bc', x81, x84) + Q1 - 0.5*x92 - 0.5*x100 - 0.5*x103 - 0.5*x106 - 0.5*x110 - 0.5*x113
        - 0.25*x117 - 0.25*x120 - 0.25*x122 - 0.25*x124 - 0.5*np.einsum('b,c->bc', x126, x127)
        - 0.5*np.einsum('b,c->bc', x75, x127) - 0.5*np.einsum('c,b->bc', x129, x130)
        - 0.5*np.einsum('c,b->bc', x81, x130) - 0.25/beta*x132 - 0.25/beta*x134 - 0.25/beta*x136 - 0.25/beta*x138)
    x139 = np.einsum('cd,da->ac', X, inside)
    x140 = np.einsum('ac,bc->ab', x139, upper)
    x141 = np.einsum('ac,bc->ab', G, last)
    x142 = np.einsum('ab,ab->b', x140, x141)
    residual_T = T - beta*fraction/(ridge + V2_hat - x142)
    residual_V1 = V1 - 1.0/beta*M
    x143 = np.einsum('ca,bca->ab', adjoint_norm_right, along)
    x144 = np.einsum('ab->b', x143)
    residual_norm = norm - 0.5*x144 - 0.5*x51*T - T*chi*norm_hat
    x145 = np.einsum('d,cd->c', mix_1, j_theta)
    x146 = np.einsum('c,ac->a', x145, M)
    x147 = np.einsum('a,ab->b', x146, identity)
    x148 = np.einsum('bd,adc->abc', H, place)
    x149 = np.einsum('abc,c->ab', x148, adjoint_h_theta)
    x150 = np.einsum('ab,a->b', x149, mix_1)
    x151 = np.einsum('bd,adc->abc', H_left, place)
    x152 = np.einsum('abc,c->ab', x151, adjoint_l_theta)
    x153 = np.einsum('ab,a->b', x152, mix_1)
    x154 = np.einsum('c,ac->a', mix_1, j_theta)
    x155 = np.einsum('ac,bc->ab', M, identity)
    x156 = np.einsum('a,ab->b', x154, x155)
    x157 = np.einsum('a,ab->b', j_noise, M)
    x158 = np.einsum('a,ba->b', adjoint_h_left, H_left)
    x159 = np.einsum('a,ba->b', adjoint_h_noise, H)
    residual_psi_1 = (psi_1 - 0.5*x147 - 0.5*x150 - 0.5*x153 - 0.5*x156 - x157*across_1 - 0.5*x158*across_1
        - 0.5*x159*across_1)
    x160 = np.einsum('d,cd->c', mix_2, j_theta)
    x161 = np.einsum('c,ac->a', x160, M)
    x162 = np.einsum('a,ab->b', x161, identity)
    x163 = np.einsum('ab,a->b', x149, mix_2)
    x164 = np.einsum('ab,a->b', x152, mix_2)
    x165 = np.einsum('c,ac->a', mix_2, j_theta)
    x166 = np.einsum('a,ab->b', x165, x155)
    residual_psi_2 = (psi_2 - 0.5*x162 - 0.5*x163 - 0.5*x164 - 0.5*x166 - x157*across_2 - 0.5*x158*across_2
        - 0.5*x159*across_2)
    x167 = np.einsum('d,cd->c', gamma, j_theta)
    x168 = np.einsum('c,ac->a', x167, M)
    x169 = np.einsum('a,ab->b', x168, identity)
    x170 = np.einsum('ab,a->b', x149, gamma)
    x171 = np.einsum('ab,a->b', x152, gamma)
    x172 = np.einsum('c,ac->a', gamma, j_theta)
    x173 = np.einsum('a,ab->b', x172, x155)
    residual_zeta = zeta - 0.5*x169 - 0.5*x170 - 0.5*x171 - 0.5*x173 - x157*rho - 0.5*x158*rho - 0.5*x159*rho
    s.update(residual_adjoint=residual_adjoint, residual_Q1=residual_Q1, residual_T=residual_T,
        residual_V1=residual_V1, residual_norm=residual_norm, residual_psi_1=residual_psi_1,
        residual_psi_2=residual_psi_2, residual_zeta=residual_zeta)


def free_energy(s):
    """The free energy, stored as such."""
    (M, Q1, Q1_hat, Q2, Q2_hat, T, U, V1, V1_hat, V2, V2_hat, X_own, alpha, avg_M, beta, chi, field, field_theta,
        h_left, h_noise, inverse_dimension, j_noise, j_theta, l_theta, law_e, law_own, law_t, lower, m, norm, norm_hat,
        norm_left, norm_mean, norm_right, on_left, on_theta, psi_1, psi_2, psi_hat_1, psi_hat_2, put_left, spread,
        weight, zeta, zeta_hat) = (s[name] for name in ('M', 'Q1', 'Q1_hat', 'Q2', 'Q2_hat', 'T', 'U', 'V1', 'V1_hat',
        'V2', 'V2_hat', 'X_own', 'alpha', 'avg_M', 'beta', 'chi', 'field', 'field_theta', 'h_left', 'h_noise',
        'inverse_dimension', 'j_noise', 'j_theta', 'l_theta', 'law_e', 'law_own', 'law_t', 'lower', 'm', 'norm',
        'norm_hat', 'norm_left', 'norm_mean', 'norm_right', 'on_left', 'on_theta', 'psi_1', 'psi_2', 'psi_hat_1',
        'psi_hat_2', 'put_left', 'spread', 'weight', 'zeta', 'zeta_hat'))
    x0 = np.dot(weight, avg_M)
    x1 = np.einsum('ba,ba->a', norm_mean, put_left)
    x2 = np.einsum('a,a->', x1, law_own)
    x3 = np.einsum('cb->b', lower)
    x4 = np.einsum('b,ba,ba->a', x3, norm_left, norm_right)
    x5 = np.einsum('a,a->', x4, law_own)
    x6 = np.einsum('b->', Q2_hat*V2 - Q2*V2_hat)
    x7 = np.einsum('ac,bc->ab', law_t, norm_left)
    x8 = np.einsum('ac,bc->ab', law_t, norm_right)
    x9 = np.einsum('ab,ab,b->a', x7, x8, x3)
    x10 = np.einsum('a->', x9)
    x11 = np.einsum('bc->c', Q1_hat*V1 - Q1*V1_hat)
    x12 = np.einsum('c->', x11)
    x13 = np.einsum('b->', norm*norm_hat + psi_1*psi_hat_1 + psi_2*psi_hat_2 + zeta*zeta_hat)
    x14 = np.einsum('b,ba->a', h_noise, put_left)
    x15 = np.einsum('a,a->', x14, law_e)
    x16 = np.einsum('b,ab->a', h_noise, X_own)
    x17 = np.einsum('a,a->', x16, h_left)
    x18 = np.einsum('b,ab->a', j_noise, M)
    x19 = np.einsum('a,a->', x18, j_noise)
    x20 = np.einsum('a,a->', field_theta, on_left)
    x21 = np.einsum('a,a->', l_theta, on_theta)
    x22 = np.einsum('a,a,a->', norm_hat**2, T, chi)
    x23 = np.einsum('b,b,ab->a', field, spread, U)
    x24 = np.einsum('a,a,a,a->', x23, T, field, spread)
    x25 = np.einsum('ac,bc->ab', j_theta, j_theta)
    x26 = np.einsum('ab,ab->a', x25, M)
    x27 = np.einsum('a->', x26)
    x28 = np.einsum('b,c,bc->c', zeta, zeta, V1_hat)
    x29 = np.einsum('c->', x28)
    x30 = np.einsum('a,a->', Q2_hat, T)
    x31 = np.einsum('ab,ab->a', M, Q1_hat)
    x32 = np.einsum('a->', x31)
    x33 = 0.5*np.einsum('b,b->', 1.0/T, m**2)
    free_energy = (alpha*x0 + beta*(0.5*x2 + 0.5*x5 + 0.5*x6 + 0.5*x10 + 0.5*x12 + x13 - x15 - 0.5*x17 - 0.5*x19
        - 0.5*x20 - 0.5*x21 - 0.5*x22 - 0.5*x24 - 0.5*x27 - 0.5*x29 - 0.5*(x30 + x32)/beta)
        + inverse_dimension*beta*x33)
    s.update(free_energy=free_energy)


EQUATIONS = """
V := sum(mu2sq[b]*V2[b], b) + sum(sum(mu1[b]*mu1[c]*V1[b, c], b), c)
slope_1 := sum(mu1[b]*psi_1[b], b)
slope_2 := sum(mu1[b]*psi_2[b], b)
mean := sum(kappa*mu1[b]*zeta[b] + mu0[b]*m[b] + mu_c[b]*norm[b], b)
Delta := -slope_1**2 - slope_2**2 + sum(mu2sq[b]*Q2[b], b) + sum(sum(mu1[b]*mu1[c]*Q1[b, c], b), c)
Q2[b] = adjoint[b]  # d/dV2_hat
out[i, p] = -sum(T[b]*last[b, i]*upper[b, p], b) + lower[i, p]  # out
V2[b] = T[b]/beta  # d/dQ2_hat
norm_hat[b] = alpha*E(avg_g*mu_c[b])/beta  # d/dnorm
Q1_hat[b, c] = alpha*E(avg_gg*mu1[b]*mu1[c])/beta  # d/dV1
Q2_hat[b] = alpha*E(avg_gg*mu2sq[b])/beta  # d/dV2
V1_hat[b, c] = alpha*E(avg_h*mu1[b]*mu1[c])/beta  # d/dQ1
V2_hat[b] = alpha*E(avg_h*mu2sq[b])/beta  # d/dQ2
psi_hat_1[b] = alpha*E((avg_h*slope_1 + avg_t_1g)*mu1[b])/beta  # d/dpsi_1
psi_hat_2[b] = alpha*E((avg_h*slope_2 + avg_t_2g)*mu1[b])/beta  # d/dpsi_2
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
j_noise[b] = across_1[b]*psi_hat_1[b] + across_2[b]*psi_hat_2[b] + rho[b]*zeta_hat[b]  # j_noise
j_theta[b, d] = gamma[d]*zeta_hat[b] + mix_1[d]*psi_hat_1[b] + mix_2[d]*psi_hat_2[b]  # j_theta
0 = sum((sum(Res[e, r]*sample[r, q, x], r) + unit_D[e, q])*D[p, e, x], e) - unit_D[p, q]  # D
mean_theta[i, j] = sum(sum(sum(Res[p, q]*place[d, q, j], q)*place[d, p, i], p), d)  # mean_theta
norm_mean[p, x] = sum(Res[p, q]*norm_right[q, x], q)  # norm_mean
h_left[p] = sum(H_left[b, p]*j_noise[b], b)  # h_left
h_noise[p] = sum(H[c, p]*j_noise[c], c)  # h_noise
h_theta[i] = sum(sum(sum(H[c, p]*j_theta[c, d], c)*place[d, p, i], p), d)  # h_theta
l_theta[i] = sum(sum(sum(H_left[b, p]*j_theta[b, d], b)*place[d, p, i], p), d)  # l_theta
F[p, q, x] = sum(D[r, q, x]*sample[p, r, x], r)  # F
put_left[q, x] = sum(D[p, q, x]*norm_left[p, x], p)  # put_left
adjoint_on_theta[i] = l_theta[i]  # adjoint_on_theta
X_along[e, p, q] = sum(F[p, q, x]*law_along[e, x], x)  # X_along
X_cross[d, p, q] = sum(F[p, q, x]*law_te[d, x], x)  # X_cross
X_own[p, q] = sum(F[p, q, x]*law_ee[x], x)  # X_own
put_back[p, x] = -sum(F[p, q, x]*norm_mean[q, x], q) + norm_right[p, x]  # put_back
along_theta[i, j] = sum(sum(sum(X_along[e, p, q]*place_right[e, q, j], q)*place_left[e, p, i], p), e)  # along_theta
# on_left
on_left[i] = sum(sum((sum(X_cross[d, q, p]*h_left[q], q) + sum(law_t[d, x]*put_left[p, x], x))*place[d, p, i], p), d)
# spike_left
spike_left[b, i] = (-sum(sum(sum(sum(Res[r, q]*X_cross[d, q, p], q)*upper[b, r], r)*place[d, p, i]*rho[b], p), d)
    + sum(sum(gamma[d]*place[d, p, i]*upper[b, p], p), d))
# spike_right
spike_right[c, i] = (-sum(sum(sum(sum(Res[q, r]*upper[c, r], r)*X_cross[d, p, q], q)*place[d, p, i]*rho[c], p), d)
    + sum(sum(gamma[d]*place[d, p, i]*upper[c, p], p), d))
on_noise[p] = sum(X_own[p, q]*h_noise[q], q) + sum(law_e[x]*put_back[p, x], x)  # on_noise
# on_samples
on_samples[i] = sum(sum((sum(X_cross[d, p, q]*h_noise[q], q) + sum(law_t[d, x]*put_back[p, x], x))*place[d, p, i], p),
    d)
0 = sum((sum(along_theta[l, j]*mean_theta[e, l], l) + unit_theta[e, j])*Z[i, e], e) - unit_theta[i, j]  # Z
# S_spike
S_spike[b, c] = (-sum(sum(sum(sum(Res[r, s]*upper[c, s], s)*X_own[q, r], r)*Res[p, q], q)*upper[b, p], p)*rho[b]*rho[c]
    + sum(sum(sum(mean_theta[j, l]*spike_right[c, l], l)*Z[i, j], j)*spike_left[b, i], i)
    + sum(sum(Res[p, q]*upper[c, q], q)*upper[b, p], p)*rho[b]*rho[c])
field_theta[i] = sum((-sum(mean_theta[j, l]*on_samples[l], l) + h_theta[j])*Z[i, j], j)  # field_theta
0 = -delta[b, c] + sum((delta[c, e] + S_spike[e, c]*spread[c]*spread[e])*U[b, e], e)  # U
adjoint_on_left[i] = field_theta[i]  # adjoint_on_left
# field
field[b] = (sum((-sum(Res[p, q]*on_noise[q], q) + h_noise[p])*upper[b, p], p)*rho[b]
    + sum(field_theta[i]*spike_left[b, i], i))
on_theta[i] = sum(along_theta[i, j]*field_theta[j], j) + on_samples[i]  # on_theta
# adjoint_h_left
adjoint_h_left[p] = (sum(X_own[p, a]*h_noise[a], a) + sum(sum(sum(adjoint_on_left[c]*place[a, b, c], c)*X_cross[a, p,
    b], b), a))
# adjoint_put_left
adjoint_put_left[q, x] = (sum(sum(adjoint_on_left[b]*place[a, q, b], b)*law_t[a, x], a) + 2*h_noise[q]*law_e[x]
    - law_own[x]*norm_mean[q, x])
# adjoint_S_spike
adjoint_S_spike[b, c] = -sum(U[c, a]*field[a]*spread[a], a)*sum(T[a]*U[a, b]*field[a]*spread[a], a)*spread[b]*spread[c]
# adjoint_field
adjoint_field[b] = sum(U[b, a]*field[a]*spread[a], a)*T[b]*spread[b] + sum(T[a]*U[a, b]*field[a]*spread[a], a)*spread[b]
adjoint_l_theta[i] = on_theta[i]  # adjoint_l_theta
# adjoint_norm_left
adjoint_norm_left[p, x] = (-sum(sum(law_t[a, b]*norm_right[p, b], b)*law_t[a, x], a)*sum(lower[a, p], a)
    + sum(D[p, a, x]*adjoint_put_left[a, x], a) - sum(lower[a, p], a)*law_own[x]*norm_right[p, x])
# adjoint_spike_right
adjoint_spike_right[c, i] = sum(sum(sum(Z[b, d]*mean_theta[d, i], d)*spike_left[a, b], b)*adjoint_S_spike[a, c], a)
# adjoint_field_theta
adjoint_field_theta[i] = (sum(adjoint_field[a]*spike_left[a, i], a) + sum(adjoint_on_theta[a]*along_theta[a, i], a)
    + on_left[i])
adjoint_on_noise[p] = -sum(sum(Res[b, p]*upper[a, b], b)*adjoint_field[a]*rho[a], a)  # adjoint_on_noise
# adjoint_spike_left
adjoint_spike_left[b, i] = (sum(sum(sum(mean_theta[c, d]*spike_right[a, d], d)*Z[i, c], c)*adjoint_S_spike[b, a], a)
    + adjoint_field[b]*field_theta[i])
# adjoint_along_theta
adjoint_along_theta[i, j] = (-sum(sum(sum(sum(Z[c, d]*mean_theta[d, i], d)*spike_left[b, c], c)*adjoint_S_spike[b, a],
    b)*sum(sum(mean_theta[b, c]*spike_right[a, c], c)*Z[j, b], b), a)
    + sum(sum(Z[a, b]*mean_theta[b, i], b)*adjoint_field_theta[a],
    a)*sum(sum(mean_theta[a, b]*on_samples[b], b)*Z[j, a], a)
    - sum(sum(Z[a, b]*mean_theta[b, i], b)*adjoint_field_theta[a], a)*sum(Z[j, a]*h_theta[a], a)
    + adjoint_on_theta[i]*field_theta[j])
adjoint_h_theta[i] = sum(Z[a, i]*adjoint_field_theta[a], a)  # adjoint_h_theta
# adjoint_mean_theta
adjoint_mean_theta[i, j] = (-sum(sum(sum(Z[c, b]*along_theta[j, c], c)*sum(mean_theta[b, c]*spike_right[a, c], c),
    b)*sum(sum(Z[c, i]*spike_left[b, c], c)*adjoint_S_spike[b, a], b), a)
    + sum(sum(sum(Z[c, i]*spike_left[b, c], c)*adjoint_S_spike[b, a], b)*spike_right[a, j], a)
    + sum(sum(Z[b, a]*along_theta[j, b], b)*sum(mean_theta[a, b]*on_samples[b], b),
    a)*sum(Z[a, i]*adjoint_field_theta[a], a) - sum(sum(Z[b, a]*along_theta[j, b], b)*h_theta[a],
    a)*sum(Z[a, i]*adjoint_field_theta[a], a) - sum(Z[a, i]*adjoint_field_theta[a], a)*on_samples[j])
# adjoint_on_samples
adjoint_on_samples[i] = -sum(sum(Z[b, a]*adjoint_field_theta[b], b)*mean_theta[a, i], a) + adjoint_on_theta[i]
# adjoint_X_own
adjoint_X_own[p, q] = (-sum(sum(Res[q, b]*upper[a, b], b)*sum(sum(Res[c, p]*upper[b, c], c)*adjoint_S_spike[b,
    a]*rho[b], b)*rho[a], a) + adjoint_on_noise[p]*h_noise[q] + h_left[p]*h_noise[q])
# adjoint_X_along
adjoint_X_along[e, p, q] = sum(sum(adjoint_along_theta[b, a]*place_left[e, p, b], b)*place_right[e, q, a], a)
# adjoint_X_cross
adjoint_X_cross[d, p, q] = (-sum(sum(sum(Res[c, p]*upper[b, c], c)*adjoint_spike_left[b, a]*rho[b], b)*place[d, q, a],
    a) - sum(sum(sum(Res[q, c]*upper[b, c], c)*adjoint_spike_right[b, a]*rho[b], b)*place[d, p, a], a)
    + sum(adjoint_on_left[a]*place[d, q, a], a)*h_left[p] + sum(adjoint_on_samples[a]*place[d, p, a], a)*h_noise[q])
# adjoint_h_noise
adjoint_h_noise[p] = (sum(X_own[a, p]*adjoint_on_noise[a], a) + sum(X_own[a, p]*h_left[a], a)
    + 2*sum(law_e[a]*put_left[p, a], a) + sum(adjoint_field[a]*rho[a]*upper[a, p], a)
    + sum(sum(sum(adjoint_on_samples[c]*place[a, b, c], c)*X_cross[a, b, p], b), a))
# adjoint_put_back
adjoint_put_back[p, x] = sum(sum(adjoint_on_samples[b]*place[a, p, b], b)*law_t[a, x], a) + adjoint_on_noise[p]*law_e[x]
adjoint_norm_mean[p, x] = -sum(F[a, p, x]*adjoint_put_back[a, x], a) - law_own[x]*put_left[p, x]  # adjoint_norm_mean
# adjoint_Res
adjoint_Res[p, q] = (-sum(sum(sum(F[c, p, a]*adjoint_X[c, b], c)*F[q, b, a], b)*law_tr[a], a)
    - sum(sum(sum(F[c, p, a]*adjoint_X_own[c, b], c)*F[q, b, a], b)*law_ee[a], a)
    - sum(sum(D[b, p, a]*norm_left[b, a], b)*sum(F[q, b, a]*adjoint_put_left[b, a], b), a)
    + sum(sum(F[b, p, a]*adjoint_put_back[b, a], b)*sum(F[q, b, a]*norm_mean[b, a], b), a)
    - sum(sum(adjoint_spike_left[b, a]*rho[b]*upper[b, p], b)*sum(sum(X_cross[b, q, c]*place[b, c, a], c), b), a)
    - sum(sum(adjoint_spike_right[b, a]*rho[b]*upper[b, q], b)*sum(sum(X_cross[b, c, p]*place[b, c, a], c), b), a)
    + sum(adjoint_norm_mean[p, a]*norm_right[q, a], a) - sum(sum(sum(Res[b, c]*upper[a, c], c)*X_own[q, b],
    b)*sum(adjoint_S_spike[b, a]*rho[b]*upper[b, p], b)*rho[a], a)
    - sum(sum(sum(sum(Res[c, d]*X_own[d, p], d)*upper[b, c], c)*adjoint_S_spike[b, a]*rho[b], b)*rho[a]*upper[a, q], a)
    + sum(sum(adjoint_S_spike[b, a]*rho[b]*upper[b, p], b)*rho[a]*upper[a, q], a)
    - sum(adjoint_field[a]*rho[a]*upper[a, p], a)*on_noise[q]
    - sum(sum(sum(sum(adjoint_X_along[d, c, b]*law_along[d, a], d)*F[c, p, a], c)*F[q, b, a], b), a)
    - sum(sum(sum(sum(adjoint_X_cross[d, c, b]*law_te[d, a], d)*F[c, p, a], c)*F[q, b, a], b), a)
    + sum(sum(sum(adjoint_mean_theta[c, b]*place[a, p, c], c)*place[a, q, b], b), a))
# adjoint_norm_right
adjoint_norm_right[p, x] = (-sum(sum(law_t[a, b]*norm_left[p, b], b)*law_t[a, x], a)*sum(lower[a, p], a)
    + sum(Res[a, p]*adjoint_norm_mean[a, x], a) - sum(lower[a, p], a)*law_own[x]*norm_left[p, x]
    + adjoint_put_back[p, x])
# adjoint
0 = (beta*adjoint[b]*fraction[b]/T[b]**2 - inverse_dimension*m[b]**2/T[b]**2
    + sum(sum(sum(sum(sum(sum(sum(X[g, h]*inside[h, f], h)*upper[b, g], g)*G[f, e], f)*out[e, d], e)*place[a, d, c],
    d)*adjoint_l_theta[c], c)*sum(sum(sum(G[d, e]*last[b, e], e)*last[c, d], d)*j_theta[c, a], c), a)
    - sum(sum(sum(sum(sum(sum(X[f, g]*inside[g, e], g)*upper[b, f], f)*G[e, d], e)*first[c, d],
    d)*sum(j_theta[a, d]*j_theta[c, d], d), c)*sum(sum(G[c, d]*last[b, d], d)*last[a, c], c), a)/2
    - sum(sum(sum(sum(sum(sum(X[f, g]*inside[g, e], g)*upper[b, f], f)*G[e, d], e)*first[c, d], d)*j_theta[c, a],
    c)*sum(sum(sum(sum(G[e, f]*last[b, f], f)*inside[d, e], e)*place[a, d, c], d)*adjoint_h_theta[c], c), a)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*first[a, c],
    c)*sum(sum(sum(G[d, e]*last[b, e], e)*last[c, d], d)*sum(j_theta[a, d]*j_theta[c, d], d), c), a)/2
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*first[a, c], c)*j_noise[a],
    a)*sum(sum(sum(G[c, d]*last[b, d], d)*inside[a, c], c)*adjoint_h_noise[a], a)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*first[a, c], c)*j_noise[a],
    a)*sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a], a)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*out[c, a],
    c)*sum(sum(sum(G[d, e]*last[b, e], e)*inside[c, d], d)*adjoint_Res[c, a], c), a)
    + sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*out[c, a], c)*adjoint_h_left[a],
    a)*sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a], a)
    + sum(sum(sum(sum(G[d, e]*last[b, e], e)*inside[c, d], d)*adjoint_Res[c, a], c)*upper[b, a], a)
    - sum(sum(sum(sum(G[d, e]*last[b, e], e)*last[c, d], d)*j_theta[c, a],
    c)*sum(sum(place[a, d, c]*upper[b, d], d)*adjoint_l_theta[c], c), a)
    - sum(sum(sum(G[c, d]*last[b, d], d)*last[a, c], c)*j_noise[a], a)*sum(adjoint_h_left[a]*upper[b, a], a)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*last[a, c],
    c)*sum(sum(sum(X[d, e]*inside[e, c], e)*upper[a, d], d)*sum(G[c, d]*last[b, d], d), c)*adjoint[a], a)
    - sum(U[b, a]*field[a]*spread[a], a)*field[b]*spread[b] - sum(sum(adjoint_norm_left[c, a]*along[b, c, a], c),
    a)*norm_hat[b] - chi[b]*norm_hat[b]**2 - sum(sum(sum(sum(sum(sum(X[f, g]*inside[g, e], g)*upper[b, f], f)*G[e, d],
    e)*first[c, d], d)*Q1_hat[a, c], c)*sum(sum(G[c, d]*last[b, d], d)*last[a, c], c), a)/(2*beta)
    - sum(sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[b, e], e)*G[d, c], d)*first[a, c],
    c)*sum(sum(sum(G[d, e]*last[b, e], e)*last[c, d], d)*Q1_hat[a, c], c), a)/(2*beta) - Q2_hat[b]/beta)
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b]  # d/dm
# d/dV1_hat
Q1[b, c] = (sum(sum(sum(sum(sum(G[f, g]*first[b, g], g)*inside[e, f], f)*place[a, e, d], e)*adjoint_h_theta[d],
    d)*sum(sum(sum(G[f, e]*last[c, f], f)*first[d, e], e)*j_theta[d, a], d), a)/2
    + sum(sum(sum(sum(sum(G[f, g]*first[c, g], g)*inside[e, f], f)*place[a, e, d], e)*adjoint_h_theta[d],
    d)*sum(sum(sum(G[f, e]*last[b, f], f)*first[d, e], e)*j_theta[d, a], d), a)/2
    - sum(sum(sum(sum(sum(G[g, f]*last[b, g], g)*out[f, e], f)*place[a, e, d], e)*adjoint_l_theta[d],
    d)*sum(sum(sum(G[e, f]*first[c, f], f)*last[d, e], e)*j_theta[d, a], d), a)/2
    - sum(sum(sum(sum(sum(G[g, f]*last[c, g], g)*out[f, e], f)*place[a, e, d], e)*adjoint_l_theta[d],
    d)*sum(sum(sum(G[e, f]*first[b, f], f)*last[d, e], e)*j_theta[d, a], d), a)/2
    + sum(sum(sum(sum(G[e, f]*first[b, f], f)*inside[d, e], e)*adjoint_Res[d, a],
    d)*sum(sum(G[e, d]*last[c, e], e)*out[d, a], d), a)/2 + sum(sum(sum(sum(G[e, f]*first[b, f], f)*last[d, e],
    e)*sum(j_theta[a, e]*j_theta[d, e], e), d)*sum(sum(G[e, d]*last[c, e], e)*first[a, d], d), a)/4
    + sum(sum(sum(sum(G[e, f]*first[c, f], f)*inside[d, e], e)*adjoint_Res[d, a],
    d)*sum(sum(G[e, d]*last[b, e], e)*out[d, a], d), a)/2 + sum(sum(sum(sum(G[e, f]*first[c, f], f)*last[d, e],
    e)*sum(j_theta[a, e]*j_theta[d, e], e), d)*sum(sum(G[e, d]*last[b, e], e)*first[a, d], d), a)/4
    + sum(sum(sum(sum(G[f, e]*last[b, f], f)*first[d, e], e)*sum(j_theta[a, e]*j_theta[d, e], e),
    d)*sum(sum(G[d, e]*first[c, e], e)*last[a, d], d), a)/4 + sum(sum(sum(sum(G[f, e]*last[c, f], f)*first[d, e],
    e)*sum(j_theta[a, e]*j_theta[d, e], e), d)*sum(sum(G[d, e]*first[b, e], e)*last[a, d], d), a)/4
    + sum(sum(sum(G[d, e]*first[b, e], e)*inside[a, d], d)*adjoint_h_noise[a],
    a)*sum(sum(sum(G[e, d]*last[c, e], e)*first[a, d], d)*j_noise[a], a)/2
    + sum(sum(sum(G[d, e]*first[b, e], e)*last[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[c, e], e)*first[a, d], d)*j_noise[a], a)/2
    - sum(sum(sum(G[d, e]*first[b, e], e)*last[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[c, e], e)*out[d, a], d)*adjoint_h_left[a], a)/2
    + sum(sum(sum(G[d, e]*first[c, e], e)*inside[a, d], d)*adjoint_h_noise[a],
    a)*sum(sum(sum(G[e, d]*last[b, e], e)*first[a, d], d)*j_noise[a], a)/2
    + sum(sum(sum(G[d, e]*first[c, e], e)*last[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[b, e], e)*first[a, d], d)*j_noise[a], a)/2
    - sum(sum(sum(G[d, e]*first[c, e], e)*last[a, d], d)*j_noise[a],
    a)*sum(sum(sum(G[e, d]*last[b, e], e)*out[d, a], d)*adjoint_h_left[a], a)/2
    + sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[a, e], e)*sum(G[d, e]*first[b, e], e),
    d)*sum(sum(G[e, d]*last[c, e], e)*last[a, d], d)*adjoint[a], a)/2
    + sum(sum(sum(sum(X[e, f]*inside[f, d], f)*upper[a, e], e)*sum(G[d, e]*first[c, e], e),
    d)*sum(sum(G[e, d]*last[b, e], e)*last[a, d], d)*adjoint[a], a)/2 - zeta[b]*zeta[c]
    + sum(sum(sum(sum(G[e, f]*first[b, f], f)*last[d, e], e)*Q1_hat[a, d],
    d)*sum(sum(G[e, d]*last[c, e], e)*first[a, d], d), a)/(4*beta)
    + sum(sum(sum(sum(G[e, f]*first[c, f], f)*last[d, e], e)*Q1_hat[a, d],
    d)*sum(sum(G[e, d]*last[b, e], e)*first[a, d], d), a)/(4*beta)
    + sum(sum(sum(sum(G[f, e]*last[b, f], f)*first[d, e], e)*Q1_hat[a, d],
    d)*sum(sum(G[d, e]*first[c, e], e)*last[a, d], d), a)/(4*beta)
    + sum(sum(sum(sum(G[f, e]*last[c, f], f)*first[d, e], e)*Q1_hat[a, d],
    d)*sum(sum(G[d, e]*first[b, e], e)*last[a, d], d), a)/(4*beta))
# dL/dT
T[b] = (beta*fraction[b]/(ridge - sum(sum(sum(X[c, d]*inside[d, a], d)*upper[b, c], c)*sum(G[a, c]*last[b, c], c), a)
    + V2_hat[b]))
V1[b, c] = M[b, c]/beta  # d/dQ1_hat
# d/dnorm_hat
norm[b] = (sum(sum(adjoint_norm_left[c, a]*along[b, c, a], c), a)*T[b]/2
    + sum(sum(adjoint_norm_right[c, a]*along[b, c, a], c), a)/2 + T[b]*chi[b]*norm_hat[b])
# d/dpsi_hat_1
psi_1[b] = (sum(delta[a, b]*sum(sum(j_theta[c, d]*mix_1[d], d)*M[a, c], c), a)/2
    + sum(sum(delta[b, c]*M[a, c], c)*sum(j_theta[a, c]*mix_1[c], c), a)/2
    + sum(sum(sum(H[b, d]*place[a, d, c], d)*adjoint_h_theta[c], c)*mix_1[a], a)/2
    + sum(sum(sum(H_left[b, d]*place[a, d, c], d)*adjoint_l_theta[c], c)*mix_1[a], a)/2
    + sum(H[b, a]*adjoint_h_noise[a], a)*across_1[b]/2 + sum(H_left[b, a]*adjoint_h_left[a], a)*across_1[b]/2
    + sum(M[a, b]*j_noise[a], a)*across_1[b])
# d/dpsi_hat_2
psi_2[b] = (sum(delta[a, b]*sum(sum(j_theta[c, d]*mix_2[d], d)*M[a, c], c), a)/2
    + sum(sum(delta[b, c]*M[a, c], c)*sum(j_theta[a, c]*mix_2[c], c), a)/2
    + sum(sum(sum(H[b, d]*place[a, d, c], d)*adjoint_h_theta[c], c)*mix_2[a], a)/2
    + sum(sum(sum(H_left[b, d]*place[a, d, c], d)*adjoint_l_theta[c], c)*mix_2[a], a)/2
    + sum(H[b, a]*adjoint_h_noise[a], a)*across_2[b]/2 + sum(H_left[b, a]*adjoint_h_left[a], a)*across_2[b]/2
    + sum(M[a, b]*j_noise[a], a)*across_2[b])
# d/dzeta_hat
zeta[b] = (sum(delta[a, b]*sum(sum(gamma[d]*j_theta[c, d], d)*M[a, c], c), a)/2
    + sum(sum(delta[b, c]*M[a, c], c)*sum(gamma[c]*j_theta[a, c], c), a)/2
    + sum(sum(sum(H[b, d]*place[a, d, c], d)*adjoint_h_theta[c], c)*gamma[a], a)/2
    + sum(sum(sum(H_left[b, d]*place[a, d, c], d)*adjoint_l_theta[c], c)*gamma[a], a)/2
    + sum(H[b, a]*adjoint_h_noise[a], a)*rho[b]/2 + sum(H_left[b, a]*adjoint_h_left[a], a)*rho[b]/2
    + sum(M[a, b]*j_noise[a], a)*rho[b])
X[p, q] = sum(F[p, q, a]*law_tr[a], a) + base[p, q]  # X
# adjoint_X
adjoint_X[p, q] = (-sum(sum(sum(sum(sum(G[d, e]*out[e, p], e)*inside[c, d], d)*place[a, c, b], c)*adjoint_h_theta[b],
    b)*sum(sum(sum(G[d, c]*inside[q, d], d)*first[b, c], c)*j_theta[b, a], b), a)
    + sum(sum(sum(sum(sum(G[e, d]*inside[q, e], e)*out[d, c], d)*place[a, c, b], c)*adjoint_l_theta[b],
    b)*sum(sum(sum(G[c, d]*out[d, p], d)*last[b, c], c)*j_theta[b, a], b), a)
    - sum(sum(sum(sum(G[c, d]*out[d, p], d)*inside[b, c], c)*adjoint_Res[b, a],
    b)*sum(sum(G[c, b]*inside[q, c], c)*out[b, a], b), a) - sum(sum(sum(sum(G[c, d]*out[d, p], d)*last[b, c],
    c)*sum(j_theta[a, c]*j_theta[b, c], c), b)*sum(sum(G[c, b]*inside[q, c], c)*first[a, b], b), a)/2
    - sum(sum(sum(sum(G[d, c]*inside[q, d], d)*first[b, c], c)*sum(j_theta[a, c]*j_theta[b, c], c),
    b)*sum(sum(G[b, c]*out[c, p], c)*last[a, b], b), a)/2 - sum(sum(sum(G[b, c]*out[c, p], c)*inside[a, b],
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
COLUMNS = ('kappa', 'weight', 'nu0', 'nu1_1', 'nu1_2', 'nu2sq')
CERTIFICATE = Certificate(EQUATIONS, COLUMNS, odd=('avg_g', 'avg_t_1g', 'avg_t_2g'),
    features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
check = CERTIFICATE.check


RULES = """
d_avg_M := -avg_g*d_mean - avg_gg*d_V/2 + avg_h*d_Delta/2 - avg_t_1g*d_slope_1 - avg_t_2g*d_slope_2
d_avg_g := -avg_gh*d_V - avg_h*d_mean - avg_hx*d_Delta/2 - avg_t_1h*d_slope_1 - avg_t_2h*d_slope_2
d_avg_gg := -2*avg_ggh*d_V - 2*avg_gh*d_mean - avg_ghx*d_Delta - 2*avg_t_1gh*d_slope_1 - 2*avg_t_2gh*d_slope_2
d_avg_h := avg_ghx*d_V + avg_hx*d_mean + avg_hxx*d_Delta/2 + avg_t_1hx*d_slope_1 + avg_t_2hx*d_slope_2
d_avg_t_1g := -avg_t_1gh*d_V - avg_t_1h*d_mean - avg_t_1hx*d_Delta/2 - avg_t_1t_1h*d_slope_1 - avg_t_1t_2h*d_slope_2
d_avg_t_2g := -avg_t_1t_2h*d_slope_1 - avg_t_2gh*d_V - avg_t_2h*d_mean - avg_t_2hx*d_Delta/2 - avg_t_2t_2h*d_slope_2
d_G[i, j] := (-sum(sum(sum(sum(X[c, d]*inside[d, a], d)*d_out[b, c], c)*G[i, b], b)*G[a, j], a)
    - sum(sum(sum(sum(d_V1_hat[c, d]*last[d, a], d)*first[c, b], c)*G[i, b], b)*G[a, j], a)
    - sum(sum(sum(sum(d_X[c, d]*inside[d, a], d)*out[b, c], c)*G[i, b], b)*G[a, j], a))
d_D[p, q, x] := (-sum(sum(sum(Res[b, c]*d_sample[c, a, x], c)*D[p, b, x], b)*D[a, q, x], a)
    - sum(sum(sum(d_Res[b, c]*sample[c, a, x], c)*D[p, b, x], b)*D[a, q, x], a))
d_Z[i, j] := (-sum(sum(sum(along_theta[c, a]*d_mean_theta[b, c], c)*Z[i, b], b)*Z[a, j], a)
    - sum(sum(sum(d_along_theta[c, a]*mean_theta[b, c], c)*Z[i, b], b)*Z[a, j], a))
d_U[b, c] := (-sum(sum(S_spike[d, a]*U[b, d]*d_spread[d], d)*U[a, c]*spread[a], a)
    - sum(sum(S_spike[d, a]*U[b, d]*spread[d], d)*U[a, c]*d_spread[a], a)
    - sum(sum(U[b, d]*d_S_spike[d, a]*spread[d], d)*U[a, c]*spread[a], a))
"""
OBSERVABLES = """
test_error := E((-mean + nu0)**2 + (nu1_1 - slope_1)**2 + (nu1_2 - slope_2)**2 + Delta + nu2sq)
train_error := E(-V*avg_gg/2 + avg_M)
free_energy := (alpha*E(avg_M) + beta*inverse_dimension*sum(m[b]**2/(2*T[b]), b)
    + beta*(-sum(sum(M[a, b]*j_noise[b], b)*j_noise[a], a)/2 - sum(sum(X_own[a, b]*h_noise[b], b)*h_left[a], a)/2
    - sum(sum(h_noise[b]*put_left[b, a], b)*law_e[a], a) + sum(sum(norm_mean[b, a]*put_left[b, a], b)*law_own[a], a)/2
    + sum(sum(sum(lower[c, b], c)*norm_left[b, a]*norm_right[b, a], b)*law_own[a], a)/2
    - sum(field_theta[a]*on_left[a], a)/2 - sum(l_theta[a]*on_theta[a], a)/2 - sum(T[a]*chi[a]*norm_hat[a]**2, a)/2
    - sum(sum(U[a, b]*field[b]*spread[b], b)*T[a]*field[a]*spread[a], a)/2
    + sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2 + sum(norm[b]*norm_hat[b] + psi_1[b]*psi_hat_1[b]
    + psi_2[b]*psi_hat_2[b] + zeta[b]*zeta_hat[b], b) - sum(sum(sum(j_theta[a, c]*j_theta[b, c], c)*M[a, b], b), a)/2
    + sum(sum(sum(law_t[a, c]*norm_left[b, c], c)*sum(law_t[a, c]*norm_right[b, c], c)*sum(lower[c, b], c), b), a)/2
    - sum(sum(V1_hat[b, c]*zeta[b]*zeta[c], b), c)/2 + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b), c)/2
    - (sum(Q2_hat[a]*T[a], a) + sum(sum(M[a, b]*Q1_hat[a, b], b), a))/(2*beta)))
"""
tangents = TangentEquations(Text(EQUATIONS, ('adjoint', 'm', 'Q1', 'T', 'V1', 'norm', 'psi_1', 'psi_2', 'zeta', 'X',
    'adjoint_X'), ('sample', 'base', 'chi', 'along', 'spread'), RULES, OBSERVABLES), COLUMNS,
    features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
