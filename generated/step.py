"""The map of one giant gradient step to spiked random features  [CUI24, Result 3.1; THEORY section 2].

Generated; do not edit. Signature 779c62efed835d7e.
Regenerate with: giantstep generate
"""

# fmt: off
import math

SIGNATURE = "779c62efed835d7e4c90b488727deeb3a70718c443e17432e23f2bc3b4452fce"


def moments(mean, linear, quadratic, slope_square, link_mean, link_linear, link_square, ubar, noise):
    """(mu_0, mu_1, s_0, s_1, e_2, sigma_2, v_sigma) from E f, E z f, E (z^2-1) f, E f'^2 and those of the link."""
    x0 = mean*ubar
    mu_0 = mean
    mu_1 = linear
    s_0 = link_mean - x0
    s_1 = link_linear
    e_2 = -2.0*link_mean*x0 + link_square + mean*mean*ubar*ubar + noise
    sigma_2 = quadratic
    v_sigma = -linear*linear + slope_square
    return mu_0, mu_1, s_0, s_1, e_2, sigma_2, v_sigma


def spike(A, alpha_0, mu_1, s_1, e_2):
    """Strength r (of a block with u = 1) and alignment gamma."""
    x0 = math.sqrt(s_1*s_1 + e_2/alpha_0)
    strength = A*mu_1*x0
    alignment = s_1/x0
    return strength, alignment


def bulk_variance(A, alpha_0, u, s_0, e_2, sigma_2, v_sigma):
    """Squared norm c of the bulk rows of a block with readout u."""
    bulk_variance = A*A*e_2*u*u*v_sigma/alpha_0 + (A*s_0*sigma_2*u + 1.0)**2
    return bulk_variance
