"""Spectral law of features of inputs with a given covariance, of a target of one index  [THEORY section 10].

eigenvalue [J]: of the covariance of the inputs, of mean one; law_tr, law_theta [J]: weights of the trace and of the
target's direction theta there; u [K]: readout values at initialisation.

Generated; do not edit. Signature d18f52a4f9926883, runtime 3b1d3919b8f48c2b.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "d18f52a4f992688371a74dd39f6303456e11b9584d79423bdb788c681ca4dac7"


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


def spike_after_step(eigenvalue, law_tr, law_theta, alpha_0, s_1, e_2, A, mu_1):
    """Strength r of a block with u = 1, alignment gamma, and N, the length before the factor A mu_1."""
    N = np.einsum('x->', (s_1**2)*(eigenvalue**2)*law_theta + e_2/alpha_0*(eigenvalue**2)*law_tr)**0.5
    r = A*mu_1*N
    gamma = (s_1*np.einsum('x,x->', eigenvalue, law_theta))/N
    return N, r, gamma


def direction_after_step(eigenvalue, alpha_0, s_1, e_2, N):
    """The parts of the unit spike along theta and without direction, at each eigenvalue."""
    along = s_1/N*eigenvalue
    random = (alpha_0**-0.5)*(e_2**0.5)/N*eigenvalue
    return along, random


def weights_after_step(eigenvalue, law_tr, law_theta, alpha_0, s_1, e_2, gamma, N):
    """(law_vv, law_vo, law_oo) of the spike of a step."""
    law_vv = 1.0/N**2/alpha_0*(eigenvalue**2)*(e_2*law_tr + alpha_0*(s_1**2)*law_theta)
    law_vo = (
        (((-1.0)*(1.0 + gamma)*(-1.0 + gamma))**-0.5)/N**2/alpha_0*(s_1*N*alpha_0*law_theta -
        gamma*e_2*eigenvalue*law_tr - gamma*alpha_0*(s_1**2)*eigenvalue*law_theta)*eigenvalue
    )
    law_oo = (
        (-1.0)/N**2/alpha_0/(1.0 + gamma)/(-1.0 + gamma)*(alpha_0*(N**2)*law_theta +
        e_2*(gamma**2)*(eigenvalue**2)*law_tr + alpha_0*(gamma**2)*(s_1**2)*(eigenvalue**2)*law_theta -
        2.0*gamma*s_1*N*alpha_0*eigenvalue*law_theta)
    )
    return law_vv, law_vo, law_oo


def weights_of_spike(law_tr, law_theta, gamma):
    """(law_vv, law_vo, law_oo) of a spike of which only the alignment is given."""
    law_vv = (gamma**2)*law_theta + law_tr - (gamma**2)*law_tr
    law_vo = gamma*(((-1.0)*(1.0 + gamma)*(-1.0 + gamma))**0.5)*(law_theta - law_tr)
    law_oo = (gamma**2)*law_tr + law_theta - (gamma**2)*law_theta
    return law_vv, law_vo, law_oo
