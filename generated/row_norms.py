"""The covariance and the norms of the rows after a gradient step [THEORY section 5].

A step multiplies rows w of squared norm c by M = 1 + (1/n) sum_i b_i x_i x_i^T and adds noise: r_jk is
E[r^j z^k] of r = A u e rho, rho the rest of sigma' beside its parts along 1 and z = w.x/sqrt(c), (j, k)
in MOMENTS; weight: of the samples, at whose nodes b and r are given. h_1: what squared norms change by
with those before; chi: d times their variance beside that and w.y, y = (1/n) sum_i psi_1 x_i/sqrt(c).
(1/n) sum_i tau x_i: d times the covariance of that rest with the noise of the row; (1/n) sum_i change x_i:
what a row gains with a relative excess of its squared norm.

Generated; do not edit. Signature 0ce7049aeacb4bb2.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "0ce7049aeacb4bb2eb308656bafe126bf0b791b9cc3ee9d9a3f95e7c808329fa"


MOMENTS = ((1, 2), (1, 3), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (4, 0))


def covariance(A, alpha_0, u, sigma_2, v_sigma):
    """(a_2, a) of the covariance (1 + a_2 B)^2 + a C of bulk rows of readout u after a step of rate A."""
    a_2 = A*sigma_2*u
    a = (A**2)*(u**2)*(v_sigma - sigma_2**2)/alpha_0
    return a_2, a


def covariance_rates(A, alpha_0, u, sigma_2, v_sigma):
    """Their derivatives in A."""
    d_a_2 = sigma_2*u
    d_a = 2.0*A*(u**2)*(v_sigma - sigma_2**2)/alpha_0
    return d_a_2, d_a


def norms(alpha_0, c, weight, b, r):
    """(h_1, chi, psi_1, tau, change) of bulk rows after a step."""
    r_12, r_13, r_20, r_21, r_22, r_30, r_31, r_40 = r
    x0 = np.dot(weight, b)
    b_1 = x0
    p_1 = 2.0*(c**0.5)/alpha_0*(alpha_0 + b_1*alpha_0 + b)
    p_2 = 1.0/alpha_0
    psi_1 = p_1*r_12 + p_2*r_21
    psi_2 = p_1*r_13 + p_2*r_22 - p_2*r_20
    x1 = np.dot(weight, (b**2))
    x2 = np.dot(weight, psi_2)
    h_1 = 1.0 + x0**2 + 2.0*x0 + x1/alpha_0 + 0.5*x2/c
    x3 = np.dot(weight, p_1*p_2*r_31)
    x4 = np.dot(weight, (p_1**2)*r_22)
    x5 = np.dot(weight, (p_2**2)*r_40)
    x6 = np.dot(weight, (psi_1**2))
    x7 = np.dot(weight, (p_2**2)*(r_20**2))
    x8 = np.dot(weight, (psi_2**2))
    x9 = np.dot(weight, r_20)
    x10 = np.dot(weight, (b**4))
    x11 = np.dot(weight, (b**3))
    x12 = np.dot(weight, (b**2)*psi_2)
    x13 = np.dot(weight, b*psi_2)
    chi = (
        (2.0*x3 + x4 + x5 - x6 - x7 - 0.5*x8)/alpha_0 + 2.0*(x9**2)/alpha_0**2 + 2.0*(c**2)*(x0**4 + 4.0*(x0**2) +
        4.0*(x0**3) + x10/alpha_0**3 + 2.0*(x1**2)/alpha_0**2 + 4.0*x1/alpha_0 + 4.0*x11/alpha_0**2 + 0.25*(x2**2)/c**2
        + x12/alpha_0**2/c + (x0**2)*x2/c + 2.0*x13/alpha_0/c + 2.0*x0*x2/c + 4.0*x11*x0/alpha_0**2 +
        6.0*(x0**2)*x1/alpha_0 + 12.0*x1*x0/alpha_0 + 0.25*x8/alpha_0/c**2 + x1*x2/alpha_0/c + 2.0*x13*x0/alpha_0/c -
        (x0**2 + 2.0*x0 + x1/alpha_0 + 0.5*x2/c)**2) + 4.0*c*x1*x9/alpha_0**2
    )
    tau = (
        1.0/alpha_0*(p_1*r_21 + p_2*r_30 - 0.5*psi_2*r_12) + (c*(1.0/alpha_0**2*(b**2) + 2.0/alpha_0*b +
        2.0*b_1/alpha_0*b) + 0.5/alpha_0*psi_2)*r_12
    )
    change = 0.5*r_12
    return h_1, chi, psi_1, tau, change


def norms_rates(alpha_0, c, weight, b, d_b, r):
    """Their rates where b moves by d_b, and the moments by as many more in r."""
    r_12, r_13, r_20, r_21, r_22, r_30, r_31, r_40, d_r_12, d_r_13, d_r_20, d_r_21, d_r_22, d_r_30, d_r_31, d_r_40 = r
    x0 = np.dot(weight, b)
    b_1 = x0
    p_1 = 2.0*(c**0.5)/alpha_0*(alpha_0 + b_1*alpha_0 + b)
    p_2 = 1.0/alpha_0
    psi_1 = p_1*r_12 + p_2*r_21
    psi_2 = p_1*r_13 + p_2*r_22 - p_2*r_20
    x1 = np.dot(weight, (b**2))
    x2 = np.dot(weight, psi_2)
    h_1 = 1.0 + x0**2 + 2.0*x0 + x1/alpha_0 + 0.5*x2/c
    x3 = np.dot(weight, p_1*p_2*r_31)
    x4 = np.dot(weight, (p_1**2)*r_22)
    x5 = np.dot(weight, (p_2**2)*r_40)
    x6 = np.dot(weight, (psi_1**2))
    x7 = np.dot(weight, (p_2**2)*(r_20**2))
    x8 = np.dot(weight, (psi_2**2))
    x9 = np.dot(weight, r_20)
    x10 = np.dot(weight, (b**4))
    x11 = np.dot(weight, (b**3))
    x12 = np.dot(weight, (b**2)*psi_2)
    x13 = np.dot(weight, b*psi_2)
    chi = (
        (2.0*x3 + x4 + x5 - x6 - x7 - 0.5*x8)/alpha_0 + 2.0*(x9**2)/alpha_0**2 + 2.0*(c**2)*(x0**4 + 4.0*(x0**2) +
        4.0*(x0**3) + x10/alpha_0**3 + 2.0*(x1**2)/alpha_0**2 + 4.0*x1/alpha_0 + 4.0*x11/alpha_0**2 + 0.25*(x2**2)/c**2
        + x12/alpha_0**2/c + (x0**2)*x2/c + 2.0*x13/alpha_0/c + 2.0*x0*x2/c + 4.0*x11*x0/alpha_0**2 +
        6.0*(x0**2)*x1/alpha_0 + 12.0*x1*x0/alpha_0 + 0.25*x8/alpha_0/c**2 + x1*x2/alpha_0/c + 2.0*x13*x0/alpha_0/c -
        (x0**2 + 2.0*x0 + x1/alpha_0 + 0.5*x2/c)**2) + 4.0*c*x1*x9/alpha_0**2
    )
    tau = (
        1.0/alpha_0*(p_1*r_21 + p_2*r_30 - 0.5*psi_2*r_12) + (c*(1.0/alpha_0**2*(b**2) + 2.0/alpha_0*b +
        2.0*b_1/alpha_0*b) + 0.5/alpha_0*psi_2)*r_12
    )
    change = 0.5*r_12
    x14 = np.dot(weight, d_b)
    d_b_1 = x14
    d_p_1 = 2.0*(c**0.5)/alpha_0*(d_b_1*alpha_0 + d_b)
    d_p_2 = 0.0
    d_psi_1 = d_p_1*r_12 + d_p_2*r_21 + d_r_12*p_1 + d_r_21*p_2
    d_psi_2 = d_p_1*r_13 + d_p_2*r_22 + d_r_13*p_1 + d_r_22*p_2 - d_p_2*r_20 - d_r_20*p_2
    x15 = np.dot(weight, d_psi_2)
    x16 = np.dot(weight, b*d_b)
    d_h_1 = (2.0 + 2.0*x0)*x14 + 0.5*x15/c + 2.0*x16/alpha_0
    x17 = np.dot(weight, d_p_1*p_1*r_22)
    x18 = np.dot(weight, (p_1**2)*d_r_22)
    x19 = np.dot(weight, d_p_2*p_2*r_40)
    x20 = np.dot(weight, (p_2**2)*d_r_40)
    x21 = np.dot(weight, d_r_20)
    x22 = np.dot(weight, d_p_1*p_2*r_31)
    x23 = np.dot(weight, d_p_2*p_1*r_31)
    x24 = np.dot(weight, d_r_31*p_1*p_2)
    x25 = np.dot(weight, b*d_b*psi_2)
    x26 = np.dot(weight, (b**2)*d_psi_2)
    x27 = np.dot(weight, b*d_psi_2)
    x28 = np.dot(weight, d_b*psi_2)
    x29 = np.dot(weight, (b**2)*d_b)
    x30 = np.dot(weight, (b**3)*d_b)
    x31 = np.dot(weight, (p_2**2)*d_r_20*r_20)
    x32 = np.dot(weight, (r_20**2)*d_p_2*p_2)
    x33 = np.dot(weight, d_psi_1*psi_1)
    d_chi = (
        (2.0*x17 + x18)/alpha_0 + (2.0*x19 + x20)/alpha_0 + (4.0*x9/alpha_0**2 + 4.0*c*x1/alpha_0**2)*x21 + 2.0*(x22 +
        x23 + x24)/alpha_0 + 2.0*(2.0*(c**2)*(4.0/alpha_0 + 4.0*x1/alpha_0**2 + 6.0*(x0**2)/alpha_0 + 12.0*x0/alpha_0 +
        x2/alpha_0/c - 2.0*(x0**2 + 2.0*x0 + x1/alpha_0 + 0.5*x2/c)/alpha_0) + 4.0*c*x9/alpha_0**2)*x16 + 2.0*c*(2.0*x25
        + x26)/alpha_0**2 + 2.0*(c**2)*(2.0/alpha_0/c + 2.0*x0/alpha_0/c)*(x27 + x28) + 2.0*(c**2)*((x0**2)/c +
        0.5*x2/c**2 + 2.0*x0/c + x1/alpha_0/c - (x0**2 + 2.0*x0 + x1/alpha_0 + 0.5*x2/c)/c)*x15 +
        2.0*(c**2)*(4.0*(x0**3) + 8.0*x0 + 12.0*(x0**2) + 2.0*x2/c + 4.0*x11/alpha_0**2 + 12.0*x1/alpha_0 +
        2.0*x13/alpha_0/c + 2.0*x0*x2/c + 12.0*x1*x0/alpha_0 - (4.0 + 4.0*x0)*(x0**2 + 2.0*x0 + x1/alpha_0 +
        0.5*x2/c))*x14 + 6.0*(c**2)*(4.0/alpha_0**2 + 4.0*x0/alpha_0**2)*x29 + 8.0*(c**2)*x30/alpha_0**3 - (2.0*x31 +
        2.0*x32)/alpha_0 - 2.0*x33/alpha_0
    )
    d_tau = (
        1.0/alpha_0*(d_p_1*r_21 + d_p_2*r_30 + d_r_21*p_1 + d_r_30*p_2 - 0.5*d_psi_2*r_12 - 0.5*d_r_12*psi_2) +
        (c*(1.0/alpha_0**2*(b**2) + 2.0/alpha_0*b + 2.0*b_1/alpha_0*b) + 0.5/alpha_0*psi_2)*d_r_12 + (c*(2.0/alpha_0*d_b
        + 2.0*d_b_1/alpha_0*b + 2.0*b_1/alpha_0*d_b + 2.0/alpha_0**2*b*d_b) + 0.5/alpha_0*d_psi_2)*r_12
    )
    d_change = 0.5*d_r_12
    return d_h_1, d_chi, d_psi_1, d_tau, d_change
