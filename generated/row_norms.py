"""The covariance and the norms of the rows after a gradient step [THEORY section 5].

chi: d times the variance of their squared norms. d times the covariance of norm and row is
(1/n0) sum_i (psi_1(e_i) M + tau(e_i)) x_i, M = 1 + a_2 B. r_ij: E[rho^i z^j] of the rest rho of
sigma' beside its parts along 1 and z, (i, j) in MOMENTS; radial: 1 for rows Gaussian at initialisation,
0 on the unit sphere; e, weight, weight_t: nodes of the law of the residual of the step, with weights for
means of functions of e [N], and of those times t = theta.x [m, N]; r_3: the strength of the spike with
E sigma''' in the place of E sigma'.

Generated; do not edit. Signature b5904589a70f828c.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "b5904589a70f828cff01dd0928118b7f5a3738ee429152d1e2a9fd65efdb3f59"


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


def norms(A, alpha_0, u, a_2, a, radial, e, weight, weight_t, r):
    """(chi, psi_1, tau) of bulk rows of readout u after a step of rate A."""
    r_12, r_13, r_20, r_21, r_22, r_30, r_31, r_40 = r
    x0 = np.dot(weight, e)
    e_1 = x0
    p_1 = 2.0*A*u/alpha_0*(alpha_0 + a_2*e + a_2*e_1*alpha_0)*e
    p_2 = (A**2)*(u**2)/alpha_0*(e**2)
    psi_1 = r_12*p_1 + r_21*p_2
    psi_2 = r_13*p_1 + r_22*p_2 - r_20*p_2
    x1 = np.dot(weight_t, psi_1)
    x2 = np.dot(weight, psi_2)
    x3 = np.dot(weight, (p_1**2))
    x4 = np.dot(weight, (p_2**2))
    x5 = np.dot(weight, p_1*p_2)
    x6 = np.dot(weight, (psi_1**2))
    x7 = np.dot(weight, (psi_2**2))
    x8 = np.dot(weight, (e**2))
    x9 = np.dot(weight, (e**4))
    x10 = np.dot(weight, (e**3))
    x11 = np.dot(weight, (e**2)*psi_2)
    x12 = np.dot(weight, psi_2*e)
    chi = (
        np.einsum('d,d->', x1, x1) + 0.5*(x2**2) + (r_22*x3 + r_40*x4 + 2.0*r_31*x5 - x6 - 0.5*x7 -
        (r_20**2)*x4)/alpha_0 + x6/alpha_0 + 0.5*x7/alpha_0 + 2.0*radial*((1.0 + 0.5*x2 + (a_2**2)*(x0**2 + x8/alpha_0)
        + 2.0*a_2*x0)**2) + 2.0*(a_2**4)*(x0**4 + x9/alpha_0**3 + 2.0*(x8**2)/alpha_0**2 + 4.0*x10*x0/alpha_0**2 +
        6.0*(x0**2)*x8/alpha_0) + 2.0*(a**2)*(x8**2) + 4.0*(a_2**2)*(0.5*x11/alpha_0**2 + 0.5*(x0**2)*x2 +
        x12*x0/alpha_0 + 0.5*x8*x2/alpha_0) + 8.0*a_2*(0.5*x12/alpha_0 + 0.5*x2*x0) + 8.0*(a_2**2)*(x0**2 + x8/alpha_0)
        + 8.0*(a_2**3)*(x0**3 + x10/alpha_0**2 + 3.0*x8*x0/alpha_0) + 4.0*a*(a_2**2)*(x8**2)/alpha_0 - 2.0*((0.5*x2 +
        (a_2**2)*(x0**2 + x8/alpha_0) + 2.0*a_2*x0)**2)
    )
    tau = (
        A*u*(r_12*(radial*(1.0 + 0.5*x2 + (a_2**2)*(x0**2 + x8/alpha_0) + 2.0*a_2*x0) + (a_2**2)*(1.0/alpha_0**2*(e**2)
        + 2.0*e_1/alpha_0*e) + 0.5/alpha_0*psi_2 + 2.0*a_2/alpha_0*e) + 1.0/alpha_0*(r_21*p_1 + r_30*p_2 -
        0.5*r_12*psi_2))*e
    )
    return chi, psi_1, tau


def norms_rates(A, alpha_0, u, a_2, a, radial, d_a_2, d_a, e, weight, weight_t, r):
    """Their rates where A moves by 1, a_2 and a by d_a_2 and d_a."""
    r_12, r_13, r_20, r_21, r_22, r_30, r_31, r_40 = r
    x0 = np.dot(weight, e)
    e_1 = x0
    p_1 = 2.0*A*u/alpha_0*(alpha_0 + a_2*e + a_2*e_1*alpha_0)*e
    p_2 = (A**2)*(u**2)/alpha_0*(e**2)
    psi_1 = r_12*p_1 + r_21*p_2
    psi_2 = r_13*p_1 + r_22*p_2 - r_20*p_2
    d_p_1 = 2.0*u/alpha_0*(alpha_0 + a_2*e + a_2*e_1*alpha_0)*e + 2.0*A*u/alpha_0*(d_a_2*e + d_a_2*e_1*alpha_0)*e
    d_p_2 = 2.0*A*(u**2)/alpha_0*(e**2)
    d_psi_1 = r_12*d_p_1 + r_21*d_p_2
    d_psi_2 = r_13*d_p_1 + r_22*d_p_2 - r_20*d_p_2
    x1 = np.dot(weight, d_psi_2*e)
    x2 = np.dot(weight, psi_2)
    x3 = np.dot(weight, (e**2))
    x4 = np.dot(weight, d_psi_2)
    x5 = np.dot(weight_t, d_psi_1)
    x6 = np.dot(weight_t, psi_1)
    x7 = np.dot(weight, psi_2*e)
    x8 = np.dot(weight, d_p_1*p_1)
    x9 = np.dot(weight, d_p_1*p_2)
    x10 = np.dot(weight, d_p_2*p_1)
    x11 = np.dot(weight, (e**2)*d_psi_2)
    x12 = np.dot(weight, d_p_2*p_2)
    x13 = np.dot(weight, (e**2)*psi_2)
    x14 = np.dot(weight, (e**4))
    x15 = np.dot(weight, (e**3))
    d_chi = (
        (4.0*a_2/alpha_0 + 4.0*(a_2**2)*x0/alpha_0)*x1 + (2.0*radial*(1.0 + 0.5*x2 + (a_2**2)*(x0**2 + x3/alpha_0) +
        2.0*a_2*x0) + 4.0*(a_2**2)*(0.5*(x0**2) + 0.5*x3/alpha_0) - 2.0*(a_2**2)*(x0**2 + x3/alpha_0))*x4 +
        2.0*np.einsum('d,d->', x5, x6) + 8.0*d_a_2*(0.5*x7/alpha_0 + 0.5*x2*x0) + 2.0*r_22*x8/alpha_0 + 2.0*r_31*(x9 +
        x10)/alpha_0 + 2.0*radial*(4.0*d_a_2*x0 + 4.0*d_a_2*a_2*(x0**2 + x3/alpha_0))*(1.0 + 0.5*x2 + (a_2**2)*(x0**2 +
        x3/alpha_0) + 2.0*a_2*x0) + 2.0*(a_2**2)*x11/alpha_0**2 + 2.0*(r_40 - r_20**2)*x12/alpha_0 + 4.0*d_a*a*(x3**2) +
        8.0*d_a_2*a_2*(0.5*x13/alpha_0**2 + 0.5*(x0**2)*x2 + x7*x0/alpha_0 + 0.5*x3*x2/alpha_0) +
        8.0*d_a_2*(a_2**3)*(x0**4 + x14/alpha_0**3 + 2.0*(x3**2)/alpha_0**2 + 4.0*x15*x0/alpha_0**2 +
        6.0*(x0**2)*x3/alpha_0) + 16.0*d_a_2*a_2*(x0**2 + x3/alpha_0) + 24.0*d_a_2*(a_2**2)*(x0**3 + x15/alpha_0**2 +
        3.0*x3*x0/alpha_0) + 4.0*d_a*(a_2**2)*(x3**2)/alpha_0 + 8.0*d_a_2*a_2*a*(x3**2)/alpha_0 - 2.0*(4.0*d_a_2*x0 +
        4.0*d_a_2*a_2*(x0**2 + x3/alpha_0))*(0.5*x2 + (a_2**2)*(x0**2 + x3/alpha_0) + 2.0*a_2*x0)
    )
    d_tau = (
        u*(r_12*(radial*(1.0 + 0.5*x2 + (a_2**2)*(x0**2 + x3/alpha_0) + 2.0*a_2*x0) + (a_2**2)*(1.0/alpha_0**2*(e**2) +
        2.0*e_1/alpha_0*e) + 0.5/alpha_0*psi_2 + 2.0*a_2/alpha_0*e) + 1.0/alpha_0*(r_21*p_1 + r_30*p_2 -
        0.5*r_12*psi_2))*e + A*u*(r_12*(radial*(2.0*d_a_2*x0 + 2.0*d_a_2*a_2*(x0**2 + x3/alpha_0)) + 0.5/alpha_0*d_psi_2
        + 2.0*d_a_2*a_2*(1.0/alpha_0**2*(e**2) + 2.0*e_1/alpha_0*e) + 2.0*d_a_2/alpha_0*e) + 1.0/alpha_0*(r_21*d_p_1 +
        r_30*d_p_2 - 0.5*r_12*d_psi_2))*e + 0.5*A*r_12*u*radial*x4*e
    )
    return d_chi, d_psi_1, d_tau


def spread(u, r_3, radial):
    """d times the variance of bulk rows of readout u along the spike, by unequal norms of initial rows."""
    s_r = 0.5*radial*(r_3**2)*(u**2)
    return s_r


def spread_rate(u, r_3, radial, d_r_3):
    """Its rate where r_3 moves at the rate d_r_3."""
    d_s_r = d_r_3*r_3*radial*(u**2)
    return d_s_r
