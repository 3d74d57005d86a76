"""Two fits after steps on batches of their own, square loss  [THEORY section 14].

Nodes z [Z] of theta.x with weights law_z, and for each of them nodes of kappa [Z, k] with weights given [k]; there
mu1 [K, Z, k], gain and residual [Z, k] of a single fit, and rest [X, K, Z, k]: E[sigma | x] beside mean and linear
part, times the root of the weight of x, what the rows of a neuron in the two layers have in common.
common [K, Z, k, k]: the sums over x.

Generated; do not edit. Signature b32171603e3e6673, runtime b36d77f6908ecd8c.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.array_certificate import ArrayCertificate

SIGNATURE = "b32171603e3e6673fcbcda7a63908b8a29dcdd6f831dc17485fe2f1e653eaebe"


def directions(*, gamma, **_):
    """Products v_1.v_2, v_1.o_2, o_1.o_2."""
    vv = gamma**2
    vo = gamma*((1.0 - gamma**2)**0.5)
    oo = 1.0 - gamma**2
    return vv, vo, oo


def conjugates(*, Q1_12, Q2_12, alpha, beta, common, gain, given, law_z, mu1, noise_12, residual, **_):
    """Q1_hat_12 [K, K] and Q2_hat_12 [K]."""
    x0 = np.einsum('d,ad,bad->ab', given, gain, mu1)
    x1 = np.einsum('d,ad,cad->ac', given, gain, mu1)
    x2 = np.einsum('ab,ac,a->bc', x0, x1, law_z)
    x3 = np.einsum('fg,gae->aef', Q1_12, mu1)
    x4 = np.einsum('aef,fad->ade', x3, mu1)
    x5 = np.einsum('ade,e,ae,bae->abd', x4, given, gain, mu1)
    x6 = np.einsum('abd,d,ad,cad->abc', x5, given, gain, mu1)
    x7 = np.einsum('abc,a->bc', x6, law_z)
    x8 = np.einsum('f,faed->ade', Q2_12, common)
    x9 = np.einsum('ade,e,ae,bae->abd', x8, given, gain, mu1)
    x10 = np.einsum('abd,d,ad,cad->abc', x9, given, gain, mu1)
    x11 = np.einsum('abc,a->bc', x10, law_z)
    x12 = np.einsum('d,ad,ad,bad->ab', given, gain, residual, mu1)
    x13 = np.einsum('d,ad,ad,cad->ac', given, gain, residual, mu1)
    x14 = np.einsum('ab,ac,a->bc', x12, x13, law_z)
    Q1_hat_12 = alpha/beta*(noise_12*x2 + x7 + x11 + x14)
    x15 = np.einsum('d,ad,badc->abc', given, gain, common)
    x16 = np.einsum('abc,c,ac->ab', x15, given, gain)
    x17 = np.einsum('ab,a->b', x16, law_z)
    x18 = np.einsum('ef,fad->ade', Q1_12, mu1)
    x19 = np.einsum('ade,eac->acd', x18, mu1)
    x20 = np.einsum('acd,d,ad,badc->abc', x19, given, gain, common)
    x21 = np.einsum('abc,c,ac->ab', x20, given, gain)
    x22 = np.einsum('ab,a->b', x21, law_z)
    x23 = np.einsum('e,eadc->acd', Q2_12, common)
    x24 = np.einsum('acd,d,ad,badc->abc', x23, given, gain, common)
    x25 = np.einsum('abc,c,ac->ab', x24, given, gain)
    x26 = np.einsum('ab,a->b', x25, law_z)
    x27 = np.einsum('d,ad,ad,badc->abc', given, gain, residual, common)
    x28 = np.einsum('abc,c,ac,ac->ab', x27, given, gain, residual)
    x29 = np.einsum('ab,a->b', x28, law_z)
    Q2_hat_12 = alpha/beta*(noise_12*x17 + x22 + x26 + x29)
    return Q1_hat_12, Q2_hat_12


def overlaps(*, M, P, Q1_hat_12, Q2_hat_12, S, T, T_12, beta, fraction, inverse_dimension, m, oo, overlap,
    psi_hat, vo, vv, zeta_hat, **_):
    """What vanishes for T_12 [K]; Q1_12 [K, K] across all directions."""
    x0 = np.einsum('a,ba->b', psi_hat, P)
    x1 = np.einsum('bc,ac->ab', P, Q1_hat_12)
    x2 = np.einsum('ab,ba->b', x1, P)
    x3 = np.einsum('ab,a,a->b', S**2, T_12, overlap)
    fixes_T_12 = (
        1.0/beta*Q2_hat_12 + (oo*(x0**2) + vv*(zeta_hat**2) + 2.0*vo*x0*zeta_hat)*overlap +
        inverse_dimension*(m**2)/T**2 + 1.0/beta*x2*overlap + 1.0/beta*x3*overlap - T_12*fraction/T**2
    )
    x4 = np.einsum('bd,ad->ab', M, Q1_hat_12)
    x5 = np.einsum('ab,ac->bc', x4, M)
    x6 = np.einsum('a,a,ab,ac->bc', T_12, overlap, P, P)
    Q1_12 = 1.0/beta*x5 + 1.0/beta*x6
    return fixes_T_12, Q1_12


def rest_in_common(*, rest, **_):
    """Of the features of a block, [K, Z, k, k]."""
    x0 = np.einsum('udik,udil->dikl', rest, rest)
    common = x0
    return common


def gain_of_square_loss(*, V, **_):
    """h of a sample [Z, k]."""
    gain = 1.0/(1.0 + V)
    return gain


def shared_error(*, Q1_12, Q2_12, common, given, law_z, mu1, residual, **_):
    """E (y - f_1)(y - f_2)."""
    x0 = np.einsum('b,ab->a', given, residual)
    x1 = np.einsum('a,a->', x0**2, law_z)
    x2 = np.einsum('de,eac->acd', Q1_12, mu1)
    x3 = np.einsum('acd,dab->abc', x2, mu1)
    x4 = np.einsum('abc,c->ab', x3, given)
    x5 = np.einsum('ab,b->a', x4, given)
    x6 = np.einsum('a,a->', x5, law_z)
    x7 = np.einsum('d,dacb->abc', Q2_12, common)
    x8 = np.einsum('abc,c->ab', x7, given)
    x9 = np.einsum('ab,b->a', x8, given)
    x10 = np.einsum('a,a->', x9, law_z)
    shared = x1 + x6 + x10
    return shared


EQUATIONS = """
common[d, i, k, l] = sum(rest[u, d, i, k]*rest[u, d, i, l], u)
Q1_hat_12[b, c] = (alpha*(noise_12*sum(sum(gain[a, d]*given[d]*mu1[b, a, d], d)*sum(gain[a, d]*given[d]*mu1[c, a, d],
    d)*law_z[a], a) + sum(sum(sum(sum(sum(Q1_12[f, g]*mu1[g, a, e], g)*mu1[f, a, d], f)*gain[a, e]*given[e]*mu1[b, a,
    e], e)*gain[a, d]*given[d]*mu1[c, a, d], d)*law_z[a], a) + sum(sum(sum(sum(Q2_12[f]*common[f, a, e, d], f)*gain[a,
    e]*given[e]*mu1[b, a, e], e)*gain[a, d]*given[d]*mu1[c, a, d], d)*law_z[a], a)
    + sum(sum(gain[a, d]*given[d]*mu1[b, a, d]*residual[a, d], d)*sum(gain[a, d]*given[d]*mu1[c, a, d]*residual[a, d],
    d)*law_z[a], a))/beta)
Q2_hat_12[b] = (alpha*(noise_12*sum(sum(sum(common[b, a, d, c]*gain[a, d]*given[d], d)*gain[a, c]*given[c],
    c)*law_z[a], a) + sum(sum(sum(sum(sum(Q1_12[e, f]*mu1[f, a, d], f)*mu1[e, a, c], e)*common[b, a, d, c]*gain[a,
    d]*given[d], d)*gain[a, c]*given[c], c)*law_z[a], a) + sum(sum(sum(sum(Q2_12[e]*common[e, a, d, c], e)*common[b, a,
    d, c]*gain[a, d]*given[d], d)*gain[a, c]*given[c], c)*law_z[a], a)
    + sum(sum(sum(common[b, a, d, c]*gain[a, d]*given[d]*residual[a, d], d)*gain[a, c]*given[c]*residual[a, c],
    c)*law_z[a], a))/beta)
0 = (inverse_dimension*m[b]**2/T[b]**2 + (oo*sum(P[b, a]*psi_hat[a], a)**2
    + 2*vo*sum(P[b, a]*psi_hat[a], a)*zeta_hat[b] + vv*zeta_hat[b]**2)*overlap[b] - T_12[b]*fraction[b]/T[b]**2
    + sum(sum(P[b, c]*Q1_hat_12[a, c], c)*P[b, a], a)*overlap[b]/beta
    + sum(S[a, b]**2*T_12[a]*overlap[a], a)*overlap[b]/beta + Q2_hat_12[b]/beta)
Q1_12[b, c] = sum(sum(M[b, d]*Q1_hat_12[a, d], d)*M[a, c], a)/beta + sum(P[a, b]*P[a, c]*T_12[a]*overlap[a], a)/beta
"""
check = ArrayCertificate(EQUATIONS, (), features=()).check
