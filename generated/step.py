"""The map of one giant gradient step to spiked random features  [CUI24, Result 3.1; THEORY section 2].

Generated; do not edit. Signature 169bf593a8747563, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate

The moments of the link f are those of f(sqrt(1 + probit) g), g standard normal.
"""

# fmt: off
import math

SIGNATURE = "169bf593a87475630d0d0a90f389610b1628bc57b286141d5069cdfcca325b38"


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


def cost_exponent(k, e):
    """Exponent of d in the cost of kappa^k as a feature after a step d^(1/2 + e)  [MON23]; free where negative."""
    cost_exponent = -2.0*e*k + k - 1.0
    return cost_exponent


ORDERS = 6


def mean_features(rho, drift, spread, moments):
    """Coefficients in kappa of the orders 0 ... ORDERS of the mean features in readout times rate, lowest power first.

    rho: strength per rate; (1 + w drift)^2 + w^2 spread: bulk variance at w = readout times rate; moments:
    E[He_n sigma] for n = 0 ... 2 ORDERS.
    """
    h_0, h_1, h_2, h_3, h_4, h_5, h_6, h_7, h_8, h_9, h_10, h_11, h_12 = moments
    x0 = 0.5*h_2
    x1 = drift*drift
    x2 = 0.5*h_4
    x3 = h_3*rho
    x4 = rho*rho
    x5 = drift*x2
    x6 = drift**3
    x7 = 0.16666666666666666*x6
    x8 = 0.5*x3
    x9 = h_5*rho
    x10 = 0.5*x9
    x11 = rho**3
    x12 = 0.16666666666666666*x11
    x13 = drift**4
    x14 = 0.125*h_4
    x15 = 0.25*h_6
    x16 = 0.041666666666666664*x13
    x17 = spread*spread
    x18 = spread*x1
    x19 = 0.25*h_4
    x20 = drift*spread
    x21 = h_7*rho
    x22 = x19*x4
    x23 = x15*x4
    x24 = rho**4
    x25 = 0.041666666666666664*x24
    x26 = drift**5
    x27 = 0.008333333333333333*x26
    x28 = 0.125*h_6
    x29 = 0.08333333333333333*h_8
    x30 = drift*x17
    x31 = spread*x6
    x32 = 0.125*x9
    x33 = 0.25*x21
    x34 = h_9*rho
    x35 = 0.08333333333333333*x11
    x36 = h_5*x35
    x37 = h_7*x35
    x38 = 0.008333333333333333*rho**5
    x39 = drift**6
    x40 = 0.020833333333333332*x39
    x41 = 0.0625*h_8
    x42 = 0.020833333333333332*h_6
    x43 = spread*x13
    x44 = 0.020833333333333332*h_10
    x45 = 0.0625*h_6
    x46 = 0.125*h_8
    x47 = x1*x17
    x48 = 0.125*x21
    x49 = 0.08333333333333333*x34
    x50 = x13*x4
    x51 = x18*x4
    x52 = x24*x42
    p_0_0 = h_0
    p_1_0 = drift*h_2
    p_1_1 = h_1*rho
    p_2_0 = spread*x0 + x0*x1 + x1*x2
    p_2_1 = drift*x3
    p_2_2 = x0*x4
    p_3_0 = h_6*x7 + spread*x5 + x2*x6
    p_3_1 = spread*x8 + x1*x10 + x1*x8
    p_3_2 = x4*x5
    p_3_3 = h_3*x12
    p_4_0 = h_8*x16 + x13*x14 + x13*x15 + x14*x17 + x15*x18 + x18*x19
    p_4_1 = x10*x20 + x10*x6 + x21*x7
    p_4_2 = spread*x22 + x1*x22 + x1*x23
    p_4_3 = drift*h_5*x12
    p_4_4 = h_4*x25
    p_5_0 = h_10*x27 + x15*x31 + x26*x28 + x26*x29 + x28*x30 + x29*x31
    p_5_1 = x13*x32 + x13*x33 + x16*x34 + x17*x32 + x18*x33 + 0.25*x18*x9
    p_5_2 = x20*x23 + x23*x6 + x29*x4*x6
    p_5_3 = spread*x36 + x1*x36 + x1*x37
    p_5_4 = drift*h_6*x25
    p_5_5 = h_5*x38
    p_6_0 = (
        h_10*x40 + 0.001388888888888889*h_12*x39 + h_6*x40 + spread**3*x42 + x39*x41 + x41*x47 + x43*x44 + x43*x45 +
        x43*x46 + x45*x47
    )
    p_6_1 = h_11*rho*x27 + x26*x48 + x26*x49 + x30*x48 + x31*x33 + x31*x49
    p_6_2 = x17*x4*x45 + x28*x51 + x44*x50 + x45*x50 + x46*x50 + x46*x51
    p_6_3 = 0.027777777777777776*h_9*x11*x6 + x20*x37 + x37*x6
    p_6_4 = 0.020833333333333332*h_8*x1*x24 + spread*x52 + x1*x52
    p_6_5 = drift*h_7*x38
    p_6_6 = 0.001388888888888889*h_6*rho**6
    return (
        (p_0_0,), (p_1_0, p_1_1,), (p_2_0, p_2_1, p_2_2,), (p_3_0, p_3_1, p_3_2, p_3_3,), (p_4_0, p_4_1, p_4_2, p_4_3,
        p_4_4,), (p_5_0, p_5_1, p_5_2, p_5_3, p_5_4, p_5_5,), (p_6_0, p_6_1, p_6_2, p_6_3, p_6_4, p_6_5, p_6_6,)
    )
