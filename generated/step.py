"""The map of one giant gradient step to spiked random features  [CUI24, Result 3.1; THEORY section 2].

Generated; do not edit. Signature 4931c761a3781df2.
Regenerate with: giantstep generate

The moments of the link f are those of f(sqrt(1 + probit) g), g standard normal.
"""

# fmt: off
import math

SIGNATURE = "4931c761a3781df2ca564a6321f429a48a3140bddcd7a669929d7484e6278489"


def moments(mean, linear, quadratic, slope_square, link_mean, link_square, ubar, noise, flips):
    """(mu_0, mu_1, s_0, e_2, sigma_2, v_sigma) from E f, E z f, E (z^2-1) f, E f'^2 of the activation and
    E f, E f^2 of the link.
    """
    x0 = mean*ubar
    x1 = 2.0*link_mean
    mu_0 = mean
    mu_1 = linear
    s_0 = -flips*x1 + link_mean - x0
    e_2 = 4.0*flips*link_mean*x0 + link_square + mean*mean*ubar*ubar + noise - x0*x1
    sigma_2 = quadratic
    v_sigma = -linear*linear + slope_square
    return mu_0, mu_1, s_0, e_2, sigma_2, v_sigma


def overlap(link_linear, flips, probit):
    """s_1 of an index from E g f of the link."""
    x0 = 1.0/math.sqrt(probit + 1.0)
    s_1 = -2.0*flips*link_linear*x0 + link_linear*x0
    return s_1


def strength(A, alpha_0, mu_1, s_11, e_2):
    """Strength r of a block with u = 1; s_11: sum of s_1^2 over the indices."""
    strength = A*mu_1*math.sqrt(s_11 + e_2/alpha_0)
    return strength


def alignment(alpha_0, s_1, s_11, e_2):
    """Alignment gamma of an index; s_11: sum of s_1^2 over the indices."""
    alignment = s_1/math.sqrt(s_11 + e_2/alpha_0)
    return alignment


def bulk_variance(A, alpha_0, u, s_0, e_2, sigma_2, v_sigma):
    """Squared norm c of the bulk rows of a block with readout u."""
    bulk_variance = A*A*e_2*u*u*v_sigma/alpha_0 + (A*s_0*sigma_2*u + 1.0)**2
    return bulk_variance
