"""The resolvent of the covariance of the trained bulk, Sigma = (1 + a_2 B)^2 + a C  [THEORY section 5].

e, weight, weight_t, weight_tt: nodes of the law of the residual e of the step, with weights for means of
functions of e, of those times t = theta.x, and times t^2.

Generated; do not edit. Signature 2cd5d4dbb8ba49df.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "2cd5d4dbb8ba49dfe9a56b638c70f81e11f3cfd040da97c096e9c54907dbd476"


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


def projections(w, S, S_12, S_22, a_2, a, n, alpha_0, e, weight, weight_t, weight_tt):
    """(theta.Res.theta, v.Res.theta, v.Res.v) at the shift w, n the length of v before it is normalised."""
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
    x2 = np.dot(weight_t, e/D)
    x3 = np.dot(weight_t, (e**2)/D)
    S_v = x2 - S_12*a_2*x3/alpha_0
    S_v2 = S*a_2*x3/alpha_0
    cross = (S_theta*S_v + S_theta12*S_v2)/n
    x4 = np.dot(weight, (e**2)/D)
    own = (S_theta*(S_v**2) + S_theta22*(S_v2**2) + S*x4/alpha_0 + 2.0*S_theta12*S_v*S_v2)/n**2
    return S_theta, cross, own


def projection_rates(w, S, S_12, S_22, a_2, a, d_S, d_S_12, d_S_22, d_a_2, d_a, n, alpha_0, e, weight, weight_t,
    weight_tt):
    """Their rates along those of S, S_12, S_22, a_2 and a."""
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
    x5 = np.dot(weight_t, e/D)
    x6 = np.dot(weight_t, (e**2)/D)
    S_v = x5 - S_12*a_2*x6/alpha_0
    x7 = np.dot(weight_t, (e**3)/D**2)
    x8 = np.dot(weight_t, (e**2)/D**2)
    x9 = np.dot(weight_t, (e**4)/D**2)
    d_S_v = (
        d_S*(S_22*(a_2**2)*x7/alpha_0**2 - a*x7/alpha_0 - 2.0*a_2*x8/alpha_0 - S_12*a_2*(S_22*(a_2**2)*x9/alpha_0**2 -
        a*x9/alpha_0 - 2.0*a_2*x7/alpha_0)/alpha_0) + d_S_12*(2.0*a_2*x8/alpha_0 - a_2*x6/alpha_0 -
        S_12*a_2*(2.0*a_2*x7/alpha_0 - 2.0*S_12*(a_2**2)*x9/alpha_0**2)/alpha_0 - 2.0*S_12*(a_2**2)*x7/alpha_0**2) +
        d_S_22*(S*(a_2**2)*x7/alpha_0**2 - S*S_12*(a_2**3)*x9/alpha_0**3) + d_a*(S*S_12*a_2*x9/alpha_0**2 -
        S*x7/alpha_0) + d_a_2*(2.0*S_12*x8/alpha_0 + 2.0*S*S_22*a_2*x7/alpha_0**2 - S_12*x6/alpha_0 - 2.0*S*x8/alpha_0 -
        S_12*a_2*(2.0*S_12*x7/alpha_0 + 2.0*S*S_22*a_2*x9/alpha_0**2 - 2.0*S*x7/alpha_0 -
        2.0*a_2*(S_12**2)*x9/alpha_0**2)/alpha_0 - 2.0*a_2*(S_12**2)*x7/alpha_0**2)
    )
    S_v2 = S*a_2*x6/alpha_0
    d_S_v2 = (
        d_S*(a_2*x6/alpha_0 + S*a_2*(S_22*(a_2**2)*x9/alpha_0**2 - a*x9/alpha_0 - 2.0*a_2*x7/alpha_0)/alpha_0) +
        d_a_2*(S*x6/alpha_0 + S*a_2*(2.0*S_12*x7/alpha_0 + 2.0*S*S_22*a_2*x9/alpha_0**2 - 2.0*S*x7/alpha_0 -
        2.0*a_2*(S_12**2)*x9/alpha_0**2)/alpha_0) + d_S_12*S*a_2*(2.0*a_2*x7/alpha_0 -
        2.0*S_12*(a_2**2)*x9/alpha_0**2)/alpha_0 + d_S_22*(S**2)*(a_2**3)*x9/alpha_0**3 - d_a*a_2*(S**2)*x9/alpha_0**2
    )
    cross = (S_theta*S_v + S_theta12*S_v2)/n
    d_cross = d_S_theta*S_v/n + d_S_theta12*S_v2/n + d_S_v*S_theta/n + d_S_v2*S_theta12/n
    x10 = np.dot(weight, (e**2)/D)
    own = (S_theta*(S_v**2) + S_theta22*(S_v2**2) + S*x10/alpha_0 + 2.0*S_theta12*S_v*S_v2)/n**2
    x11 = np.dot(weight, (e**4)/D**2)
    x12 = np.dot(weight, (e**3)/D**2)
    d_own = (
        d_S*(x10/alpha_0/n**2 + S*(S_22*(a_2**2)*x11/alpha_0**2 - a*x11/alpha_0 - 2.0*a_2*x12/alpha_0)/alpha_0/n**2) +
        d_S_theta*(S_v**2)/n**2 + d_S_theta22*(S_v2**2)/n**2 + d_S_v*(2.0*S_theta*S_v + 2.0*S_theta12*S_v2)/n**2 +
        d_S_v2*(2.0*S_theta12*S_v + 2.0*S_theta22*S_v2)/n**2 + 2.0*d_S_theta12*S_v*S_v2/n**2 +
        d_S_12*S*(2.0*a_2*x12/alpha_0 - 2.0*S_12*(a_2**2)*x11/alpha_0**2)/alpha_0/n**2 + d_a_2*S*(2.0*S_12*x12/alpha_0 +
        2.0*S*S_22*a_2*x11/alpha_0**2 - 2.0*S*x12/alpha_0 - 2.0*a_2*(S_12**2)*x11/alpha_0**2)/alpha_0/n**2 +
        d_S_22*(S**2)*(a_2**2)*x11/alpha_0**3/n**2 - d_a*(S**2)*x11/alpha_0**2/n**2
    )
    return d_S_theta, d_cross, d_own
