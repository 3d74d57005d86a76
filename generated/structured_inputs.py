"""Spectral law of features of inputs with a given covariance  [THEORY section 10].

eigenvalue [J]: of the covariance of the inputs, of mean one; law_tr [J]: weights of the trace; law_theta [m, m, J]:
products of the target's directions there; u [K]: readout values at initialisation. Directions are linear combinations
of the theta_i, by their parts ``along`` [q, m, J], and of unit vectors without direction, by ``random`` [q, q, J];
gamma [q, m]: products of the spike's with the target's. radial: 1 for rows Gaussian at initialisation, 0 on the sphere.
A further step adds to the rows, in whitened inputs, what ``further_step.gradient`` says, and its ``noise`` [K, K].

Generated; do not edit. Signature 4b85a6290681e0a0, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "4b85a6290681e0a060042b92e060c8e9562f7a0902b633e2be63d94f62db58f5"


def rows_after_step(eigenvalue, law_tr, u, A, alpha_0, s_0, e_2, sigma_2, v_sigma):
    """Covariances [K, J] that a step leaves, not yet over their means; the means, bulk variances c [K]."""
    Sigma = (
        np.einsum('bx,x->bx', (1.0 + A*s_0*sigma_2*np.einsum('x,b->bx', eigenvalue, u))**2, eigenvalue) +
        v_sigma*e_2*(A**2)/alpha_0*np.einsum('x,b->bx', eigenvalue**2, u**2)
    )
    c = (
        np.einsum('bx,x->b', np.einsum('bx,x->bx', (1.0 + A*s_0*sigma_2*np.einsum('x,b->bx', eigenvalue, u))**2,
        eigenvalue) + v_sigma*e_2*(A**2)/alpha_0*np.einsum('x,b->bx', eigenvalue**2, u**2), law_tr)
    )
    return Sigma, c


def norms(Sigma, law_tr, radial):
    """d times the variance of the squared norms of rows [K], by their covariances Sigma [K, J] of mean one."""
    chi = 2.0*np.einsum('bx,x->b', (1.0 - radial - Sigma)**2, law_tr)
    return chi


def norms_slope(Sigma, law_tr, radial, d_Sigma):
    """Its derivative where the covariances move by d_Sigma."""
    chi = np.einsum('bx,x,bx->b', -4.0 + 4.0*radial + 4.0*Sigma, law_tr, d_Sigma)
    return chi


def slopes_after_step(eigenvalue, law_tr, u, A, alpha_0, s_0, e_2, sigma_2, v_sigma, mu_1, N):
    """Derivatives in A of these, and of the strength r."""
    Sigma = (
        2.0*s_0*sigma_2*np.einsum('x,bx,b->bx', eigenvalue**2, 1.0 + A*s_0*sigma_2*np.einsum('x,b->bx', eigenvalue, u),
        u) + 2.0*A*v_sigma*e_2/alpha_0*np.einsum('x,b->bx', eigenvalue**2, u**2)
    )
    c = (
        np.einsum('bx,x->b', 2.0*s_0*sigma_2*np.einsum('x,bx,b->bx', eigenvalue**2, 1.0 +
        A*s_0*sigma_2*np.einsum('x,b->bx', eigenvalue, u), u) + 2.0*A*v_sigma*e_2/alpha_0*np.einsum('x,b->bx',
        eigenvalue**2, u**2), law_tr)
    )
    r = mu_1*N
    return Sigma, c, r


def spike_after_step(eigenvalue, law_tr, law_theta, s_1, alpha_0, e_2, A, mu_1):
    """Strength r of a block with u = 1, alignments gamma [m], and N, the length before the factor A mu_1."""
    N = (
        (e_2*np.einsum('a,a->', eigenvalue**2, law_tr)/alpha_0 + np.einsum('a,a->', eigenvalue**2, np.einsum('ab,b->a',
        np.einsum('c,bca->ab', s_1, law_theta), s_1)))**0.5
    )
    r = A*mu_1*N
    gamma = 1.0/N*np.einsum('ai,a->i', np.einsum('b,bia->ai', s_1, law_theta), eigenvalue)
    return N, r, gamma


def direction_after_step(eigenvalue, s_1, alpha_0, e_2, N):
    """The parts of the unit spike along the theta_i [m, J] and without direction [J]."""
    along = 1.0/N*np.einsum('x,i->ix', eigenvalue, s_1)
    random = (alpha_0**-0.5)*(e_2**0.5)/N*eigenvalue
    return along, random


def rest_of_target(along, random, gamma, across):
    """The parts [m, m, J] and [m, q, J] of theta_perp, by those of the spike and across [m, m]."""
    rest_along = across[:, :, None] - np.einsum('ajx,ia->ijx', np.einsum('ba,bjx->ajx', gamma, along), across)
    rest_random = (-1.0)*np.einsum('akx,ia->ikx', np.einsum('ba,bkx->akx', gamma, random), across)
    return rest_along, rest_random


def products(law_tr, law_theta, along, random, other_along, other_random):
    """Products [D, E, J] of D directions with E others, by their parts."""
    law = (
        np.einsum('efx,x->efx', np.einsum('fax,eax->efx', other_random, random), law_tr) + np.einsum('afx,eax->efx',
        np.einsum('abx,fbx->afx', law_theta, other_along), along)
    )
    return law


def rows_after_gradient(eigenvalue, law_tr, Sigma, delta, varsigma):
    """Covariances [K, J] that a further step leaves of those before it, not yet over their means; the means."""
    moved = ((1.0 + np.einsum('b,x->bx', delta, eigenvalue))**2)*Sigma + np.einsum('x,b->bx', eigenvalue**2, varsigma)
    c = (
        np.einsum('bx,x->b', ((1.0 + np.einsum('b,x->bx', delta, eigenvalue))**2)*Sigma + np.einsum('x,b->bx',
        eigenvalue**2, varsigma), law_tr)
    )
    return moved, c


def means_after_gradient(eigenvalue, L, P, across, noise, along, random, rest_along, rest_random):
    """Parts of the means of the blocks after it, [K, m, J], [K, q, J], and along its own noise [K, K, J]."""
    mean_along = (
        np.einsum('bjx,x->bjx', np.einsum('ba,ajx->bjx', P, along) + np.einsum('ba,ajx->bjx', across, rest_along),
        eigenvalue) + np.einsum('ba,ajx->bjx', L, along)
    )
    mean_random = (
        np.einsum('bkx,x->bkx', np.einsum('ba,akx->bkx', P, random) + np.einsum('ba,akx->bkx', across, rest_random),
        eigenvalue) + np.einsum('ba,akx->bkx', L, random)
    )
    fresh = np.einsum('x,bn->bnx', eigenvalue, noise)
    return mean_along, mean_random, fresh
