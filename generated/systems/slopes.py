"""Slopes of the conditional coefficients in s and c, and of the step's map in A  [THEORY sections 2, 3].

Generated; do not edit. Signature 547eea11f157eb29.
Regenerate with: giantstep generate
"""

# fmt: off
import math

SIGNATURE = "547eea11f157eb29c9675acf39bf33a99a66e9fc496a517ce185f990bd4f6136"


def coefficient_slopes(g, weight, phi, rest, c):
    """(mu0_s, mu1_s, mu2sq_s, mu0_c, mu1_c, mu2sq_c).

    From nodes g and weights of a standard normal, the last axis of all;
    phi = f(s + sqrt(c) g), rest = (phi - mu0 - mu1 g)^2.
    """
    x0 = 1.0/math.sqrt(c)
    x1 = ((weight*(phi*(g*g - 1.0))).sum(axis=-1))
    x2 = 0.5/c
    mu0_s = x0*((weight*(g*phi)).sum(axis=-1))
    mu1_s = x0*x1
    mu2sq_s = x0*((weight*(g*rest)).sum(axis=-1))
    mu0_c = x1*x2
    mu1_c = x2*((weight*(phi*(g**3 - 2.0*g))).sum(axis=-1))
    mu2sq_c = x2*((weight*(rest*(g*g - 1.0))).sum(axis=-1))
    return mu0_s, mu1_s, mu2sq_s, mu0_c, mu1_c, mu2sq_c


def strength_slope(A, alpha_0, mu_1, s_11, e_2):
    """d strength/dA."""
    strength_slope = mu_1*math.sqrt(alpha_0*s_11 + e_2)/math.sqrt(alpha_0)
    return strength_slope


def bulk_variance_slope(A, alpha_0, u, s_0, e_2, sigma_2, v_sigma):
    """d bulk_variance/dA."""
    x0 = s_0*sigma_2*u
    bulk_variance_slope = 2.0*A*e_2*u*u*v_sigma/alpha_0 + 2.0*x0*(A*x0 + 1.0)
    return bulk_variance_slope
