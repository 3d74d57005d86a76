"""The resolvent of the covariance of the trained bulk, Sigma = (1 + a_2 B)^2 + a C  [THEORY section 5].

e, weight, weight_t, weight_tt: nodes of the law of the residual e of the step, with weights for means of
functions of e, of those times t = theta.x, and times t^2. x_F = (1/n0) sum_i (f_1 - B' f_2)(e_i) x_i, B' = a_2 B.

Generated; do not edit. Signature ebad55171c0ba1a4.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "ebad55171c0ba1a4cd70e7089cc52881d33bf60ea92e8e025cf168bf743f9c84"


def covariance(A, alpha_0, u, sigma_2, v_sigma):
    """(a_2, a) of a block with readout u after a step of rate A."""
    a_2 = A*sigma_2*u
    a = (A**2)*(u**2)*(v_sigma - sigma_2**2)/alpha_0
    return a_2, a


def covariance_rates(A, alpha_0, u, sigma_2, v_sigma):
    """Their derivatives in A."""
    d_a_2 = sigma_2*u
    d_a = 2.0*A*(u**2)*(v_sigma - sigma_2**2)/alpha_0
    return d_a_2, d_a


def equations(w, S, S_12, S_22, a_2, a, alpha_0, e, weight, weight_t, weight_tt):
    """What vanishes at the mean resolvent (S, S_12, S_22) at the shift w, [3], and its derivatives, [3, 3]."""
    D = (
        1.0 + S*a/alpha_0*(e**2) + (S_12**2)*(a_2**2)/alpha_0**2*(e**2) + 2.0*S*a_2/alpha_0*e - 2.0*S_12*a_2/alpha_0*e -
        S*S_22*(a_2**2)/alpha_0**2*(e**2)
    )
    x0 = np.dot(weight, (e**2)/D)
    x1 = np.dot(weight, e/D)
    value_1 = w + a*x0 + 2.0*a_2*x1 - S_22/(S*S_22 - S_12**2) - S_22*(a_2**2)*x0/alpha_0
    value_2 = S_12/(S*S_22 - S_12**2) + S_12*(a_2**2)*x0/alpha_0 - a_2*x1
    value_3 = -1.0 - S/(S*S_22 - S_12**2) - S*(a_2**2)*x0/alpha_0
    x2 = np.dot(weight, (e**4)/D**2)
    x3 = np.dot(weight, (e**3)/D**2)
    x4 = np.dot(weight, (e**2)/D**2)
    value_1_S = (
        (S_22**2)/(S*S_22 - S_12**2)**2 + (a - S_22*(a_2**2)/alpha_0)*(S_22*(a_2**2)*x2/alpha_0**2 - a*x2/alpha_0 -
        2.0*a_2*x3/alpha_0) + 2.0*a_2*(S_22*(a_2**2)*x3/alpha_0**2 - a*x3/alpha_0 - 2.0*a_2*x4/alpha_0)
    )
    value_1_S_12 = (
        (a - S_22*(a_2**2)/alpha_0)*(2.0*a_2*x3/alpha_0 - 2.0*S_12*(a_2**2)*x2/alpha_0**2) + 2.0*a_2*(2.0*a_2*x4/alpha_0
        - 2.0*S_12*(a_2**2)*x3/alpha_0**2) - 2.0*S_12*S_22/(S*S_22 - S_12**2)**2
    )
    value_1_S_22 = (
        S*S_22/(S*S_22 - S_12**2)**2 + 2.0*S*(a_2**3)*x3/alpha_0**2 + S*(a_2**2)*(a -
        S_22*(a_2**2)/alpha_0)*x2/alpha_0**2 - 1.0/(S*S_22 - S_12**2) - (a_2**2)*x0/alpha_0
    )
    value_2_S = (
        S_12*(a_2**2)*(S_22*(a_2**2)*x2/alpha_0**2 - a*x2/alpha_0 - 2.0*a_2*x3/alpha_0)/alpha_0 -
        a_2*(S_22*(a_2**2)*x3/alpha_0**2 - a*x3/alpha_0 - 2.0*a_2*x4/alpha_0) - S_12*S_22/(S*S_22 - S_12**2)**2
    )
    value_2_S_12 = (
        1.0/(S*S_22 - S_12**2) + 2.0*(S_12**2)/(S*S_22 - S_12**2)**2 + (a_2**2)*x0/alpha_0 +
        S_12*(a_2**2)*(2.0*a_2*x3/alpha_0 - 2.0*S_12*(a_2**2)*x2/alpha_0**2)/alpha_0 - a_2*(2.0*a_2*x4/alpha_0 -
        2.0*S_12*(a_2**2)*x3/alpha_0**2)
    )
    value_2_S_22 = S*S_12*(a_2**4)*x2/alpha_0**3 - S*S_12/(S*S_22 - S_12**2)**2 - S*(a_2**3)*x3/alpha_0**2
    value_3_S = (
        S*S_22/(S*S_22 - S_12**2)**2 - 1.0/(S*S_22 - S_12**2) - (a_2**2)*x0/alpha_0 -
        S*(a_2**2)*(S_22*(a_2**2)*x2/alpha_0**2 - a*x2/alpha_0 - 2.0*a_2*x3/alpha_0)/alpha_0
    )
    value_3_S_12 = (
        -2.0*S*S_12/(S*S_22 - S_12**2)**2 - S*(a_2**2)*(2.0*a_2*x3/alpha_0 - 2.0*S_12*(a_2**2)*x2/alpha_0**2)/alpha_0
    )
    value_3_S_22 = (S**2)/(S*S_22 - S_12**2)**2 - (S**2)*(a_2**4)*x2/alpha_0**3
    return (
        np.array([value_1, value_2, value_3]), np.array([[value_1_S, value_1_S_12, value_1_S_22], [value_2_S,
        value_2_S_12, value_2_S_22], [value_3_S, value_3_S_12, value_3_S_22]])
    )


def rates(w, S, S_12, S_22, a_2, a, alpha_0, e, weight, weight_t, weight_tt):
    """Derivatives of the same in a_2 and a, [3, 2]."""
    D = (
        1.0 + S*a/alpha_0*(e**2) + (S_12**2)*(a_2**2)/alpha_0**2*(e**2) + 2.0*S*a_2/alpha_0*e - 2.0*S_12*a_2/alpha_0*e -
        S*S_22*(a_2**2)/alpha_0**2*(e**2)
    )
    x0 = np.dot(weight, e/D)
    x1 = np.dot(weight, (e**3)/D**2)
    x2 = np.dot(weight, (e**4)/D**2)
    x3 = np.dot(weight, (e**2)/D**2)
    x4 = np.dot(weight, (e**2)/D)
    value_1_a_2 = (
        2.0*x0 + (a - S_22*(a_2**2)/alpha_0)*(2.0*S_12*x1/alpha_0 + 2.0*S*S_22*a_2*x2/alpha_0**2 - 2.0*S*x1/alpha_0 -
        2.0*a_2*(S_12**2)*x2/alpha_0**2) + 2.0*a_2*(2.0*S_12*x3/alpha_0 + 2.0*S*S_22*a_2*x1/alpha_0**2 -
        2.0*S*x3/alpha_0 - 2.0*a_2*(S_12**2)*x1/alpha_0**2) - 2.0*S_22*a_2*x4/alpha_0
    )
    value_1_a = x4 - S*(a - S_22*(a_2**2)/alpha_0)*x2/alpha_0 - 2.0*S*a_2*x1/alpha_0
    value_2_a_2 = (
        S_12*(a_2**2)*(2.0*S_12*x1/alpha_0 + 2.0*S*S_22*a_2*x2/alpha_0**2 - 2.0*S*x1/alpha_0 -
        2.0*a_2*(S_12**2)*x2/alpha_0**2)/alpha_0 + 2.0*S_12*a_2*x4/alpha_0 - x0 - a_2*(2.0*S_12*x3/alpha_0 +
        2.0*S*S_22*a_2*x1/alpha_0**2 - 2.0*S*x3/alpha_0 - 2.0*a_2*(S_12**2)*x1/alpha_0**2)
    )
    value_2_a = S*a_2*x1/alpha_0 - S*S_12*(a_2**2)*x2/alpha_0**2
    value_3_a_2 = (
        -S*(a_2**2)*(2.0*S_12*x1/alpha_0 + 2.0*S*S_22*a_2*x2/alpha_0**2 - 2.0*S*x1/alpha_0 -
        2.0*a_2*(S_12**2)*x2/alpha_0**2)/alpha_0 - 2.0*S*a_2*x4/alpha_0
    )
    value_3_a = (S**2)*(a_2**2)*x2/alpha_0**2
    return np.array([[value_1_a_2, value_1_a], [value_2_a_2, value_2_a], [value_3_a_2, value_3_a]])


def projections(w, S, S_12, S_22, a_2, a, f_1, f_2, g_1, g_2, alpha_0, e, weight, weight_t, weight_tt):
    """(theta.Res.theta, x_F.Res.theta, x_F.Res.x_G) at the shift w; vectors by their coefficients at the nodes."""
    D = (
        1.0 + S*a/alpha_0*(e**2) + (S_12**2)*(a_2**2)/alpha_0**2*(e**2) + 2.0*S*a_2/alpha_0*e - 2.0*S_12*a_2/alpha_0*e -
        S*S_22*(a_2**2)/alpha_0**2*(e**2)
    )
    x0 = np.dot(weight_tt, (e**2)/D)
    x1 = np.dot(weight_tt, e/D)
    k_theta = a*x0 + 2.0*a_2*x1 - S_22*(a_2**2)*x0/alpha_0
    k_theta12 = S_12*(a_2**2)*x0/alpha_0 - a_2*x1
    k_theta22 = (-1.0)*S*(a_2**2)*x0/alpha_0
    S_theta = (-1.0 + k_theta22)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)
    S_theta12 = (-1.0)*k_theta12/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)
    S_theta22 = (k_theta + w)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)
    x2 = np.dot(weight_t, f_2*e/D)
    x3 = np.dot(weight_t, f_1/D)
    x4 = np.dot(weight_t, f_1*e/D)
    x5 = np.dot(weight_t, (e**2)*f_2/D)
    S_f1 = S_22*a_2*x2/alpha_0 + x3 - S_12*a_2*x4/alpha_0 - S_12*a*x5/alpha_0 - 2.0*S_12*a_2*x2/alpha_0
    x6 = np.dot(weight_t, f_2/D)
    S_f2 = S*a_2*x4/alpha_0 + S*a*x5/alpha_0 + 2.0*S*a_2*x2/alpha_0 + x6 - S_12*a_2*x2/alpha_0
    x7 = np.dot(weight_t, g_2*e/D)
    x8 = np.dot(weight_t, g_1/D)
    x9 = np.dot(weight_t, g_1*e/D)
    x10 = np.dot(weight_t, (e**2)*g_2/D)
    S_g1 = S_22*a_2*x7/alpha_0 + x8 - S_12*a_2*x9/alpha_0 - S_12*a*x10/alpha_0 - 2.0*S_12*a_2*x7/alpha_0
    x11 = np.dot(weight_t, g_2/D)
    S_g2 = S*a_2*x9/alpha_0 + S*a*x10/alpha_0 + 2.0*S*a_2*x7/alpha_0 + x11 - S_12*a_2*x7/alpha_0
    cross = S_f1*S_theta + S_f2*S_theta12
    x12 = np.dot(weight, f_1*g_1/D)
    x13 = np.dot(weight, f_1*g_2/D)
    x14 = np.dot(weight, f_2*g_1/D)
    x15 = np.dot(weight, f_2*g_2/D)
    x16 = np.dot(weight, f_1*g_2*e/D)
    x17 = np.dot(weight, f_2*g_1*e/D)
    x18 = np.dot(weight, (e**2)*f_2*g_2/D)
    x19 = np.dot(weight, f_2*g_2*e/D)
    between = (
        S*x12/alpha_0 + S_12*x13/alpha_0 + S_12*x14/alpha_0 + S_22*x15/alpha_0 + S_f1*S_g1*S_theta + S_f1*S_g2*S_theta12
        + S_f2*S_g1*S_theta12 + S_f2*S_g2*S_theta22 + S*S_22*a_2*x16/alpha_0**2 + S*S_22*a_2*x17/alpha_0**2 +
        S*S_22*a*x18/alpha_0**2 + 2.0*S*S_22*a_2*x19/alpha_0**2 - a_2*(S_12**2)*x16/alpha_0**2 -
        a_2*(S_12**2)*x17/alpha_0**2 - a*(S_12**2)*x18/alpha_0**2 - 2.0*a_2*(S_12**2)*x19/alpha_0**2
    )
    return S_theta, cross, between


def projection_rates(w, S, S_12, S_22, a_2, a, d_S, d_S_12, d_S_22, d_a_2, d_a, f_1, f_2, g_1, g_2, alpha_0, e, weight,
    weight_t, weight_tt):
    """Their rates along those of S, S_12, S_22, a_2 and a, of vectors that stay."""
    D = (
        1.0 + S*a/alpha_0*(e**2) + (S_12**2)*(a_2**2)/alpha_0**2*(e**2) + 2.0*S*a_2/alpha_0*e - 2.0*S_12*a_2/alpha_0*e -
        S*S_22*(a_2**2)/alpha_0**2*(e**2)
    )
    x0 = np.dot(weight_tt, (e**2)/D)
    x1 = np.dot(weight_tt, e/D)
    k_theta = a*x0 + 2.0*a_2*x1 - S_22*(a_2**2)*x0/alpha_0
    x2 = np.dot(weight_tt, (e**4)/D**2)
    x3 = np.dot(weight_tt, (e**3)/D**2)
    x4 = np.dot(weight_tt, (e**2)/D**2)
    d_k_theta = (
        d_S*((a - S_22*(a_2**2)/alpha_0)*(S_22*(a_2**2)*x2/alpha_0**2 - a*x2/alpha_0 - 2.0*a_2*x3/alpha_0) +
        2.0*a_2*(S_22*(a_2**2)*x3/alpha_0**2 - a*x3/alpha_0 - 2.0*a_2*x4/alpha_0)) + d_S_12*((a -
        S_22*(a_2**2)/alpha_0)*(2.0*a_2*x3/alpha_0 - 2.0*S_12*(a_2**2)*x2/alpha_0**2) + 2.0*a_2*(2.0*a_2*x4/alpha_0 -
        2.0*S_12*(a_2**2)*x3/alpha_0**2)) + d_S_22*(2.0*S*(a_2**3)*x3/alpha_0**2 + S*(a_2**2)*(a -
        S_22*(a_2**2)/alpha_0)*x2/alpha_0**2 - (a_2**2)*x0/alpha_0) + d_a*(x0 - S*(a - S_22*(a_2**2)/alpha_0)*x2/alpha_0
        - 2.0*S*a_2*x3/alpha_0) + d_a_2*(2.0*x1 + (a - S_22*(a_2**2)/alpha_0)*(2.0*S_12*x3/alpha_0 +
        2.0*S*S_22*a_2*x2/alpha_0**2 - 2.0*S*x3/alpha_0 - 2.0*a_2*(S_12**2)*x2/alpha_0**2) +
        2.0*a_2*(2.0*S_12*x4/alpha_0 + 2.0*S*S_22*a_2*x3/alpha_0**2 - 2.0*S*x4/alpha_0 -
        2.0*a_2*(S_12**2)*x3/alpha_0**2) - 2.0*S_22*a_2*x0/alpha_0)
    )
    k_theta12 = S_12*(a_2**2)*x0/alpha_0 - a_2*x1
    d_k_theta12 = (
        d_S*(S_12*(a_2**2)*(S_22*(a_2**2)*x2/alpha_0**2 - a*x2/alpha_0 - 2.0*a_2*x3/alpha_0)/alpha_0 -
        a_2*(S_22*(a_2**2)*x3/alpha_0**2 - a*x3/alpha_0 - 2.0*a_2*x4/alpha_0)) + d_S_12*((a_2**2)*x0/alpha_0 +
        S_12*(a_2**2)*(2.0*a_2*x3/alpha_0 - 2.0*S_12*(a_2**2)*x2/alpha_0**2)/alpha_0 - a_2*(2.0*a_2*x4/alpha_0 -
        2.0*S_12*(a_2**2)*x3/alpha_0**2)) + d_S_22*(S*S_12*(a_2**4)*x2/alpha_0**3 - S*(a_2**3)*x3/alpha_0**2) +
        d_a*(S*a_2*x3/alpha_0 - S*S_12*(a_2**2)*x2/alpha_0**2) + d_a_2*(S_12*(a_2**2)*(2.0*S_12*x3/alpha_0 +
        2.0*S*S_22*a_2*x2/alpha_0**2 - 2.0*S*x3/alpha_0 - 2.0*a_2*(S_12**2)*x2/alpha_0**2)/alpha_0 +
        2.0*S_12*a_2*x0/alpha_0 - x1 - a_2*(2.0*S_12*x4/alpha_0 + 2.0*S*S_22*a_2*x3/alpha_0**2 - 2.0*S*x4/alpha_0 -
        2.0*a_2*(S_12**2)*x3/alpha_0**2))
    )
    k_theta22 = (-1.0)*S*(a_2**2)*x0/alpha_0
    d_k_theta22 = (
        d_S*(-(a_2**2)*x0/alpha_0 - S*(a_2**2)*(S_22*(a_2**2)*x2/alpha_0**2 - a*x2/alpha_0 -
        2.0*a_2*x3/alpha_0)/alpha_0) + d_a_2*(-S*(a_2**2)*(2.0*S_12*x3/alpha_0 + 2.0*S*S_22*a_2*x2/alpha_0**2 -
        2.0*S*x3/alpha_0 - 2.0*a_2*(S_12**2)*x2/alpha_0**2)/alpha_0 - 2.0*S*a_2*x0/alpha_0) +
        d_a*(S**2)*(a_2**2)*x2/alpha_0**2 - d_S_12*S*(a_2**2)*(2.0*a_2*x3/alpha_0 -
        2.0*S_12*(a_2**2)*x2/alpha_0**2)/alpha_0 - d_S_22*(S**2)*(a_2**4)*x2/alpha_0**3
    )
    S_theta = (-1.0 + k_theta22)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)
    d_S_theta = (
        d_k_theta22*(1.0/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2) + (-1.0 + k_theta22)*(-k_theta -
        w)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)**2) + d_k_theta*(1.0 - k_theta22)*(-1.0 +
        k_theta22)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)**2 + 2.0*d_k_theta12*k_theta12*(-1.0 +
        k_theta22)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)**2
    )
    S_theta12 = (-1.0)*k_theta12/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)
    d_S_theta12 = (
        d_k_theta12*(-1.0/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2) -
        2.0*(k_theta12**2)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)**2) - d_k_theta*k_theta12*(1.0
        - k_theta22)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)**2 - d_k_theta22*k_theta12*(-k_theta
        - w)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)**2
    )
    S_theta22 = (k_theta + w)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)
    d_S_theta22 = (
        d_k_theta*(1.0/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2) + (1.0 - k_theta22)*(k_theta +
        w)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)**2) + d_k_theta22*(k_theta + w)*(-k_theta -
        w)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)**2 + 2.0*d_k_theta12*k_theta12*(k_theta +
        w)/(k_theta*k_theta22 + k_theta22*w - k_theta - w - k_theta12**2)**2
    )
    x5 = np.dot(weight_t, f_2*e/D)
    x6 = np.dot(weight_t, f_1/D)
    x7 = np.dot(weight_t, f_1*e/D)
    x8 = np.dot(weight_t, (e**2)*f_2/D)
    S_f1 = S_22*a_2*x5/alpha_0 + x6 - S_12*a_2*x7/alpha_0 - S_12*a*x8/alpha_0 - 2.0*S_12*a_2*x5/alpha_0
    x9 = np.dot(weight_t, (e**3)*f_2/D**2)
    x10 = np.dot(weight_t, (e**2)*f_2/D**2)
    x11 = np.dot(weight_t, (e**2)*f_1/D**2)
    x12 = np.dot(weight_t, f_1*e/D**2)
    x13 = np.dot(weight_t, (e**3)*f_1/D**2)
    x14 = np.dot(weight_t, (e**4)*f_2/D**2)
    d_S_f1 = (
        d_S*((S_22*a_2/alpha_0 - 2.0*S_12*a_2/alpha_0)*(S_22*(a_2**2)*x9/alpha_0**2 - a*x9/alpha_0 -
        2.0*a_2*x10/alpha_0) + S_22*(a_2**2)*x11/alpha_0**2 - a*x11/alpha_0 - 2.0*a_2*x12/alpha_0 -
        S_12*a_2*(S_22*(a_2**2)*x13/alpha_0**2 - a*x13/alpha_0 - 2.0*a_2*x11/alpha_0)/alpha_0 -
        S_12*a*(S_22*(a_2**2)*x14/alpha_0**2 - a*x14/alpha_0 - 2.0*a_2*x9/alpha_0)/alpha_0) + d_S_12*((S_22*a_2/alpha_0
        - 2.0*S_12*a_2/alpha_0)*(2.0*a_2*x10/alpha_0 - 2.0*S_12*(a_2**2)*x9/alpha_0**2) + 2.0*a_2*x12/alpha_0 -
        a_2*x7/alpha_0 - a*x8/alpha_0 - 2.0*a_2*x5/alpha_0 - S_12*a_2*(2.0*a_2*x11/alpha_0 -
        2.0*S_12*(a_2**2)*x13/alpha_0**2)/alpha_0 - S_12*a*(2.0*a_2*x9/alpha_0 -
        2.0*S_12*(a_2**2)*x14/alpha_0**2)/alpha_0 - 2.0*S_12*(a_2**2)*x11/alpha_0**2) + d_S_22*(a_2*x5/alpha_0 +
        S*(a_2**2)*x11/alpha_0**2 + S*(a_2**2)*(S_22*a_2/alpha_0 - 2.0*S_12*a_2/alpha_0)*x9/alpha_0**2 -
        S*S_12*(a_2**3)*x13/alpha_0**3 - S*S_12*a*(a_2**2)*x14/alpha_0**3) + d_a*(S*S_12*a_2*x13/alpha_0**2 +
        S*S_12*a*x14/alpha_0**2 - S*x11/alpha_0 - S_12*x8/alpha_0 - S*(S_22*a_2/alpha_0 -
        2.0*S_12*a_2/alpha_0)*x9/alpha_0) + d_a_2*((S_22*a_2/alpha_0 - 2.0*S_12*a_2/alpha_0)*(2.0*S_12*x10/alpha_0 +
        2.0*S*S_22*a_2*x9/alpha_0**2 - 2.0*S*x10/alpha_0 - 2.0*a_2*(S_12**2)*x9/alpha_0**2) + S_22*x5/alpha_0 +
        2.0*S_12*x12/alpha_0 + 2.0*S*S_22*a_2*x11/alpha_0**2 - S_12*x7/alpha_0 - 2.0*S*x12/alpha_0 - 2.0*S_12*x5/alpha_0
        - S_12*a_2*(2.0*S_12*x11/alpha_0 + 2.0*S*S_22*a_2*x13/alpha_0**2 - 2.0*S*x11/alpha_0 -
        2.0*a_2*(S_12**2)*x13/alpha_0**2)/alpha_0 - S_12*a*(2.0*S_12*x9/alpha_0 + 2.0*S*S_22*a_2*x14/alpha_0**2 -
        2.0*S*x9/alpha_0 - 2.0*a_2*(S_12**2)*x14/alpha_0**2)/alpha_0 - 2.0*a_2*(S_12**2)*x11/alpha_0**2)
    )
    x15 = np.dot(weight_t, f_2/D)
    S_f2 = S*a_2*x7/alpha_0 + S*a*x8/alpha_0 + 2.0*S*a_2*x5/alpha_0 + x15 - S_12*a_2*x5/alpha_0
    x16 = np.dot(weight_t, f_2*e/D**2)
    d_S_f2 = (
        d_S*((2.0*S*a_2/alpha_0 - S_12*a_2/alpha_0)*(S_22*(a_2**2)*x9/alpha_0**2 - a*x9/alpha_0 - 2.0*a_2*x10/alpha_0) +
        a_2*x7/alpha_0 + a*x8/alpha_0 + 2.0*a_2*x5/alpha_0 + S*a_2*(S_22*(a_2**2)*x13/alpha_0**2 - a*x13/alpha_0 -
        2.0*a_2*x11/alpha_0)/alpha_0 + S*a*(S_22*(a_2**2)*x14/alpha_0**2 - a*x14/alpha_0 - 2.0*a_2*x9/alpha_0)/alpha_0 +
        S_22*(a_2**2)*x10/alpha_0**2 - a*x10/alpha_0 - 2.0*a_2*x16/alpha_0) + d_S_12*((2.0*S*a_2/alpha_0 -
        S_12*a_2/alpha_0)*(2.0*a_2*x10/alpha_0 - 2.0*S_12*(a_2**2)*x9/alpha_0**2) + 2.0*a_2*x16/alpha_0 +
        S*a_2*(2.0*a_2*x11/alpha_0 - 2.0*S_12*(a_2**2)*x13/alpha_0**2)/alpha_0 + S*a*(2.0*a_2*x9/alpha_0 -
        2.0*S_12*(a_2**2)*x14/alpha_0**2)/alpha_0 - a_2*x5/alpha_0 - 2.0*S_12*(a_2**2)*x10/alpha_0**2) +
        d_S_22*(S*(a_2**2)*x10/alpha_0**2 + (S**2)*(a_2**3)*x13/alpha_0**3 + S*(a_2**2)*(2.0*S*a_2/alpha_0 -
        S_12*a_2/alpha_0)*x9/alpha_0**2 + a*(S**2)*(a_2**2)*x14/alpha_0**3) + d_a*(S*x8/alpha_0 - S*x10/alpha_0 -
        S*(2.0*S*a_2/alpha_0 - S_12*a_2/alpha_0)*x9/alpha_0 - a_2*(S**2)*x13/alpha_0**2 - a*(S**2)*x14/alpha_0**2) +
        d_a_2*((2.0*S*a_2/alpha_0 - S_12*a_2/alpha_0)*(2.0*S_12*x10/alpha_0 + 2.0*S*S_22*a_2*x9/alpha_0**2 -
        2.0*S*x10/alpha_0 - 2.0*a_2*(S_12**2)*x9/alpha_0**2) + S*x7/alpha_0 + 2.0*S*x5/alpha_0 + 2.0*S_12*x16/alpha_0 +
        S*a_2*(2.0*S_12*x11/alpha_0 + 2.0*S*S_22*a_2*x13/alpha_0**2 - 2.0*S*x11/alpha_0 -
        2.0*a_2*(S_12**2)*x13/alpha_0**2)/alpha_0 + S*a*(2.0*S_12*x9/alpha_0 + 2.0*S*S_22*a_2*x14/alpha_0**2 -
        2.0*S*x9/alpha_0 - 2.0*a_2*(S_12**2)*x14/alpha_0**2)/alpha_0 + 2.0*S*S_22*a_2*x10/alpha_0**2 - S_12*x5/alpha_0 -
        2.0*S*x16/alpha_0 - 2.0*a_2*(S_12**2)*x10/alpha_0**2)
    )
    x17 = np.dot(weight_t, g_2*e/D)
    x18 = np.dot(weight_t, g_1/D)
    x19 = np.dot(weight_t, g_1*e/D)
    x20 = np.dot(weight_t, (e**2)*g_2/D)
    S_g1 = S_22*a_2*x17/alpha_0 + x18 - S_12*a_2*x19/alpha_0 - S_12*a*x20/alpha_0 - 2.0*S_12*a_2*x17/alpha_0
    x21 = np.dot(weight_t, (e**3)*g_2/D**2)
    x22 = np.dot(weight_t, (e**2)*g_2/D**2)
    x23 = np.dot(weight_t, (e**2)*g_1/D**2)
    x24 = np.dot(weight_t, g_1*e/D**2)
    x25 = np.dot(weight_t, (e**3)*g_1/D**2)
    x26 = np.dot(weight_t, (e**4)*g_2/D**2)
    d_S_g1 = (
        d_S*((S_22*a_2/alpha_0 - 2.0*S_12*a_2/alpha_0)*(S_22*(a_2**2)*x21/alpha_0**2 - a*x21/alpha_0 -
        2.0*a_2*x22/alpha_0) + S_22*(a_2**2)*x23/alpha_0**2 - a*x23/alpha_0 - 2.0*a_2*x24/alpha_0 -
        S_12*a_2*(S_22*(a_2**2)*x25/alpha_0**2 - a*x25/alpha_0 - 2.0*a_2*x23/alpha_0)/alpha_0 -
        S_12*a*(S_22*(a_2**2)*x26/alpha_0**2 - a*x26/alpha_0 - 2.0*a_2*x21/alpha_0)/alpha_0) + d_S_12*((S_22*a_2/alpha_0
        - 2.0*S_12*a_2/alpha_0)*(2.0*a_2*x22/alpha_0 - 2.0*S_12*(a_2**2)*x21/alpha_0**2) + 2.0*a_2*x24/alpha_0 -
        a_2*x19/alpha_0 - a*x20/alpha_0 - 2.0*a_2*x17/alpha_0 - S_12*a_2*(2.0*a_2*x23/alpha_0 -
        2.0*S_12*(a_2**2)*x25/alpha_0**2)/alpha_0 - S_12*a*(2.0*a_2*x21/alpha_0 -
        2.0*S_12*(a_2**2)*x26/alpha_0**2)/alpha_0 - 2.0*S_12*(a_2**2)*x23/alpha_0**2) + d_S_22*(a_2*x17/alpha_0 +
        S*(a_2**2)*x23/alpha_0**2 + S*(a_2**2)*(S_22*a_2/alpha_0 - 2.0*S_12*a_2/alpha_0)*x21/alpha_0**2 -
        S*S_12*(a_2**3)*x25/alpha_0**3 - S*S_12*a*(a_2**2)*x26/alpha_0**3) + d_a*(S*S_12*a_2*x25/alpha_0**2 +
        S*S_12*a*x26/alpha_0**2 - S*x23/alpha_0 - S_12*x20/alpha_0 - S*(S_22*a_2/alpha_0 -
        2.0*S_12*a_2/alpha_0)*x21/alpha_0) + d_a_2*((S_22*a_2/alpha_0 - 2.0*S_12*a_2/alpha_0)*(2.0*S_12*x22/alpha_0 +
        2.0*S*S_22*a_2*x21/alpha_0**2 - 2.0*S*x22/alpha_0 - 2.0*a_2*(S_12**2)*x21/alpha_0**2) + S_22*x17/alpha_0 +
        2.0*S_12*x24/alpha_0 + 2.0*S*S_22*a_2*x23/alpha_0**2 - S_12*x19/alpha_0 - 2.0*S*x24/alpha_0 -
        2.0*S_12*x17/alpha_0 - S_12*a_2*(2.0*S_12*x23/alpha_0 + 2.0*S*S_22*a_2*x25/alpha_0**2 - 2.0*S*x23/alpha_0 -
        2.0*a_2*(S_12**2)*x25/alpha_0**2)/alpha_0 - S_12*a*(2.0*S_12*x21/alpha_0 + 2.0*S*S_22*a_2*x26/alpha_0**2 -
        2.0*S*x21/alpha_0 - 2.0*a_2*(S_12**2)*x26/alpha_0**2)/alpha_0 - 2.0*a_2*(S_12**2)*x23/alpha_0**2)
    )
    x27 = np.dot(weight_t, g_2/D)
    S_g2 = S*a_2*x19/alpha_0 + S*a*x20/alpha_0 + 2.0*S*a_2*x17/alpha_0 + x27 - S_12*a_2*x17/alpha_0
    x28 = np.dot(weight_t, g_2*e/D**2)
    d_S_g2 = (
        d_S*((2.0*S*a_2/alpha_0 - S_12*a_2/alpha_0)*(S_22*(a_2**2)*x21/alpha_0**2 - a*x21/alpha_0 - 2.0*a_2*x22/alpha_0)
        + a_2*x19/alpha_0 + a*x20/alpha_0 + 2.0*a_2*x17/alpha_0 + S*a_2*(S_22*(a_2**2)*x25/alpha_0**2 - a*x25/alpha_0 -
        2.0*a_2*x23/alpha_0)/alpha_0 + S*a*(S_22*(a_2**2)*x26/alpha_0**2 - a*x26/alpha_0 - 2.0*a_2*x21/alpha_0)/alpha_0
        + S_22*(a_2**2)*x22/alpha_0**2 - a*x22/alpha_0 - 2.0*a_2*x28/alpha_0) + d_S_12*((2.0*S*a_2/alpha_0 -
        S_12*a_2/alpha_0)*(2.0*a_2*x22/alpha_0 - 2.0*S_12*(a_2**2)*x21/alpha_0**2) + 2.0*a_2*x28/alpha_0 +
        S*a_2*(2.0*a_2*x23/alpha_0 - 2.0*S_12*(a_2**2)*x25/alpha_0**2)/alpha_0 + S*a*(2.0*a_2*x21/alpha_0 -
        2.0*S_12*(a_2**2)*x26/alpha_0**2)/alpha_0 - a_2*x17/alpha_0 - 2.0*S_12*(a_2**2)*x22/alpha_0**2) +
        d_S_22*(S*(a_2**2)*x22/alpha_0**2 + (S**2)*(a_2**3)*x25/alpha_0**3 + S*(a_2**2)*(2.0*S*a_2/alpha_0 -
        S_12*a_2/alpha_0)*x21/alpha_0**2 + a*(S**2)*(a_2**2)*x26/alpha_0**3) + d_a*(S*x20/alpha_0 - S*x22/alpha_0 -
        S*(2.0*S*a_2/alpha_0 - S_12*a_2/alpha_0)*x21/alpha_0 - a_2*(S**2)*x25/alpha_0**2 - a*(S**2)*x26/alpha_0**2) +
        d_a_2*((2.0*S*a_2/alpha_0 - S_12*a_2/alpha_0)*(2.0*S_12*x22/alpha_0 + 2.0*S*S_22*a_2*x21/alpha_0**2 -
        2.0*S*x22/alpha_0 - 2.0*a_2*(S_12**2)*x21/alpha_0**2) + S*x19/alpha_0 + 2.0*S*x17/alpha_0 + 2.0*S_12*x28/alpha_0
        + S*a_2*(2.0*S_12*x23/alpha_0 + 2.0*S*S_22*a_2*x25/alpha_0**2 - 2.0*S*x23/alpha_0 -
        2.0*a_2*(S_12**2)*x25/alpha_0**2)/alpha_0 + S*a*(2.0*S_12*x21/alpha_0 + 2.0*S*S_22*a_2*x26/alpha_0**2 -
        2.0*S*x21/alpha_0 - 2.0*a_2*(S_12**2)*x26/alpha_0**2)/alpha_0 + 2.0*S*S_22*a_2*x22/alpha_0**2 - S_12*x17/alpha_0
        - 2.0*S*x28/alpha_0 - 2.0*a_2*(S_12**2)*x22/alpha_0**2)
    )
    cross = S_f1*S_theta + S_f2*S_theta12
    d_cross = d_S_f1*S_theta + d_S_f2*S_theta12 + d_S_theta*S_f1 + d_S_theta12*S_f2
    x29 = np.dot(weight, f_1*g_1/D)
    x30 = np.dot(weight, f_1*g_2/D)
    x31 = np.dot(weight, f_2*g_1/D)
    x32 = np.dot(weight, f_2*g_2/D)
    x33 = np.dot(weight, f_1*g_2*e/D)
    x34 = np.dot(weight, f_2*g_1*e/D)
    x35 = np.dot(weight, (e**2)*f_2*g_2/D)
    x36 = np.dot(weight, f_2*g_2*e/D)
    between = (
        S*x29/alpha_0 + S_12*x30/alpha_0 + S_12*x31/alpha_0 + S_22*x32/alpha_0 + S_f1*S_g1*S_theta + S_f1*S_g2*S_theta12
        + S_f2*S_g1*S_theta12 + S_f2*S_g2*S_theta22 + S*S_22*a_2*x33/alpha_0**2 + S*S_22*a_2*x34/alpha_0**2 +
        S*S_22*a*x35/alpha_0**2 + 2.0*S*S_22*a_2*x36/alpha_0**2 - a_2*(S_12**2)*x33/alpha_0**2 -
        a_2*(S_12**2)*x34/alpha_0**2 - a*(S_12**2)*x35/alpha_0**2 - 2.0*a_2*(S_12**2)*x36/alpha_0**2
    )
    x37 = np.dot(weight, (e**3)*f_1*g_2/D**2)
    x38 = np.dot(weight, (e**2)*f_1*g_2/D**2)
    x39 = np.dot(weight, (e**3)*f_2*g_1/D**2)
    x40 = np.dot(weight, (e**2)*f_2*g_1/D**2)
    x41 = np.dot(weight, (e**4)*f_2*g_2/D**2)
    x42 = np.dot(weight, (e**3)*f_2*g_2/D**2)
    x43 = np.dot(weight, (e**2)*f_2*g_2/D**2)
    x44 = np.dot(weight, (e**2)*f_1*g_1/D**2)
    x45 = np.dot(weight, f_1*g_1*e/D**2)
    x46 = np.dot(weight, f_1*g_2*e/D**2)
    x47 = np.dot(weight, f_2*g_1*e/D**2)
    x48 = np.dot(weight, f_2*g_2*e/D**2)
    d_between = (
        d_S*(x29/alpha_0 + (S*S_22*a_2/alpha_0**2 - a_2*(S_12**2)/alpha_0**2)*(S_22*(a_2**2)*x37/alpha_0**2 -
        a*x37/alpha_0 - 2.0*a_2*x38/alpha_0) + (S*S_22*a_2/alpha_0**2 -
        a_2*(S_12**2)/alpha_0**2)*(S_22*(a_2**2)*x39/alpha_0**2 - a*x39/alpha_0 - 2.0*a_2*x40/alpha_0) +
        (S*S_22*a/alpha_0**2 - a*(S_12**2)/alpha_0**2)*(S_22*(a_2**2)*x41/alpha_0**2 - a*x41/alpha_0 -
        2.0*a_2*x42/alpha_0) + (2.0*S*S_22*a_2/alpha_0**2 - 2.0*a_2*(S_12**2)/alpha_0**2)*(S_22*(a_2**2)*x42/alpha_0**2
        - a*x42/alpha_0 - 2.0*a_2*x43/alpha_0) + S*(S_22*(a_2**2)*x44/alpha_0**2 - a*x44/alpha_0 -
        2.0*a_2*x45/alpha_0)/alpha_0 + S_12*(S_22*(a_2**2)*x38/alpha_0**2 - a*x38/alpha_0 - 2.0*a_2*x46/alpha_0)/alpha_0
        + S_12*(S_22*(a_2**2)*x40/alpha_0**2 - a*x40/alpha_0 - 2.0*a_2*x47/alpha_0)/alpha_0 +
        S_22*(S_22*(a_2**2)*x43/alpha_0**2 - a*x43/alpha_0 - 2.0*a_2*x48/alpha_0)/alpha_0 + S_22*a_2*x33/alpha_0**2 +
        S_22*a_2*x34/alpha_0**2 + S_22*a*x35/alpha_0**2 + 2.0*S_22*a_2*x36/alpha_0**2) + d_S_12*(x30/alpha_0 +
        x31/alpha_0 + (S*S_22*a_2/alpha_0**2 - a_2*(S_12**2)/alpha_0**2)*(2.0*a_2*x38/alpha_0 -
        2.0*S_12*(a_2**2)*x37/alpha_0**2) + (S*S_22*a_2/alpha_0**2 - a_2*(S_12**2)/alpha_0**2)*(2.0*a_2*x40/alpha_0 -
        2.0*S_12*(a_2**2)*x39/alpha_0**2) + (S*S_22*a/alpha_0**2 - a*(S_12**2)/alpha_0**2)*(2.0*a_2*x42/alpha_0 -
        2.0*S_12*(a_2**2)*x41/alpha_0**2) + (2.0*S*S_22*a_2/alpha_0**2 -
        2.0*a_2*(S_12**2)/alpha_0**2)*(2.0*a_2*x43/alpha_0 - 2.0*S_12*(a_2**2)*x42/alpha_0**2) + S*(2.0*a_2*x45/alpha_0
        - 2.0*S_12*(a_2**2)*x44/alpha_0**2)/alpha_0 + S_12*(2.0*a_2*x46/alpha_0 -
        2.0*S_12*(a_2**2)*x38/alpha_0**2)/alpha_0 + S_12*(2.0*a_2*x47/alpha_0 -
        2.0*S_12*(a_2**2)*x40/alpha_0**2)/alpha_0 + S_22*(2.0*a_2*x48/alpha_0 -
        2.0*S_12*(a_2**2)*x43/alpha_0**2)/alpha_0 - 4.0*S_12*a_2*x36/alpha_0**2 - 2.0*S_12*a_2*x33/alpha_0**2 -
        2.0*S_12*a_2*x34/alpha_0**2 - 2.0*S_12*a*x35/alpha_0**2) + d_S_22*(x32/alpha_0 + S*a_2*x33/alpha_0**2 +
        S*a_2*x34/alpha_0**2 + S*a*x35/alpha_0**2 + (S**2)*(a_2**2)*x44/alpha_0**3 + 2.0*S*a_2*x36/alpha_0**2 +
        S*S_12*(a_2**2)*x38/alpha_0**3 + S*S_12*(a_2**2)*x40/alpha_0**3 + S*S_22*(a_2**2)*x43/alpha_0**3 +
        S*(a_2**2)*(S*S_22*a_2/alpha_0**2 - a_2*(S_12**2)/alpha_0**2)*x37/alpha_0**2 + S*(a_2**2)*(S*S_22*a_2/alpha_0**2
        - a_2*(S_12**2)/alpha_0**2)*x39/alpha_0**2 + S*(a_2**2)*(S*S_22*a/alpha_0**2 -
        a*(S_12**2)/alpha_0**2)*x41/alpha_0**2 + S*(a_2**2)*(2.0*S*S_22*a_2/alpha_0**2 -
        2.0*a_2*(S_12**2)/alpha_0**2)*x42/alpha_0**2) + d_S_f1*(S_g1*S_theta + S_g2*S_theta12) + d_S_f2*(S_g1*S_theta12
        + S_g2*S_theta22) + d_S_g1*(S_f1*S_theta + S_f2*S_theta12) + d_S_g2*(S_f1*S_theta12 + S_f2*S_theta22) +
        d_S_theta12*(S_f1*S_g2 + S_f2*S_g1) + d_a*(S*S_22*x35/alpha_0**2 - (S**2)*x44/alpha_0**2 -
        (S_12**2)*x35/alpha_0**2 - S*S_12*x38/alpha_0**2 - S*S_12*x40/alpha_0**2 - S*S_22*x43/alpha_0**2 -
        S*(S*S_22*a_2/alpha_0**2 - a_2*(S_12**2)/alpha_0**2)*x37/alpha_0 - S*(S*S_22*a_2/alpha_0**2 -
        a_2*(S_12**2)/alpha_0**2)*x39/alpha_0 - S*(S*S_22*a/alpha_0**2 - a*(S_12**2)/alpha_0**2)*x41/alpha_0 -
        S*(2.0*S*S_22*a_2/alpha_0**2 - 2.0*a_2*(S_12**2)/alpha_0**2)*x42/alpha_0) + d_a_2*((S*S_22*a_2/alpha_0**2 -
        a_2*(S_12**2)/alpha_0**2)*(2.0*S_12*x38/alpha_0 + 2.0*S*S_22*a_2*x37/alpha_0**2 - 2.0*S*x38/alpha_0 -
        2.0*a_2*(S_12**2)*x37/alpha_0**2) + (S*S_22*a_2/alpha_0**2 - a_2*(S_12**2)/alpha_0**2)*(2.0*S_12*x40/alpha_0 +
        2.0*S*S_22*a_2*x39/alpha_0**2 - 2.0*S*x40/alpha_0 - 2.0*a_2*(S_12**2)*x39/alpha_0**2) + (S*S_22*a/alpha_0**2 -
        a*(S_12**2)/alpha_0**2)*(2.0*S_12*x42/alpha_0 + 2.0*S*S_22*a_2*x41/alpha_0**2 - 2.0*S*x42/alpha_0 -
        2.0*a_2*(S_12**2)*x41/alpha_0**2) + (2.0*S*S_22*a_2/alpha_0**2 -
        2.0*a_2*(S_12**2)/alpha_0**2)*(2.0*S_12*x43/alpha_0 + 2.0*S*S_22*a_2*x42/alpha_0**2 - 2.0*S*x43/alpha_0 -
        2.0*a_2*(S_12**2)*x42/alpha_0**2) + S*(2.0*S_12*x45/alpha_0 + 2.0*S*S_22*a_2*x44/alpha_0**2 - 2.0*S*x45/alpha_0
        - 2.0*a_2*(S_12**2)*x44/alpha_0**2)/alpha_0 + S_12*(2.0*S_12*x46/alpha_0 + 2.0*S*S_22*a_2*x38/alpha_0**2 -
        2.0*S*x46/alpha_0 - 2.0*a_2*(S_12**2)*x38/alpha_0**2)/alpha_0 + S_12*(2.0*S_12*x47/alpha_0 +
        2.0*S*S_22*a_2*x40/alpha_0**2 - 2.0*S*x47/alpha_0 - 2.0*a_2*(S_12**2)*x40/alpha_0**2)/alpha_0 +
        S_22*(2.0*S_12*x48/alpha_0 + 2.0*S*S_22*a_2*x43/alpha_0**2 - 2.0*S*x48/alpha_0 -
        2.0*a_2*(S_12**2)*x43/alpha_0**2)/alpha_0 + S*S_22*x33/alpha_0**2 + S*S_22*x34/alpha_0**2 +
        2.0*S*S_22*x36/alpha_0**2 - (S_12**2)*x33/alpha_0**2 - (S_12**2)*x34/alpha_0**2 - 2.0*(S_12**2)*x36/alpha_0**2)
        + d_S_theta*S_f1*S_g1 + d_S_theta22*S_f2*S_g2
    )
    return d_S_theta, d_cross, d_between
