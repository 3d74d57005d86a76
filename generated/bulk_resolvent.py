"""The resolvent of the matrix C that the covariance of the trained bulk depends on  [THEORY section 5].

e, weight, weight_t, weight_tt: nodes of the law of the residual e of the step, with weights for means of
functions of e, of those times t = theta.x, and times t^2.

Generated; do not edit. Signature 45e1fc9b1dd75df7.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "45e1fc9b1dd75df7307a308144536253b6e6e82c65b03d6516b735c747e66807"


def equation(w, S, alpha_0, e, weight, weight_t, weight_tt):
    """What vanishes at the trace S of the resolvent at the shift w, and its derivative in S."""
    x0 = alpha_0*np.dot(weight, (e**2)/(alpha_0 + S*(e**2)))
    value = -1.0 + S*w + S*x0
    x1 = (-1.0)*alpha_0*np.dot(weight, (e**4)/(alpha_0 + S*(e**2))**2)
    slope = w + S*x1 + x0
    return value, slope


def projections(w, S, n, alpha_0, e, weight, weight_t, weight_tt):
    """(theta.Res.theta, v.Res.theta, v.Res.v) at the shift w, n the length of v before it is normalised."""
    x0 = alpha_0*np.dot(weight_tt, (e**2)/(alpha_0 + S*(e**2)))
    S_theta = 1.0/(w + x0)
    x1 = alpha_0*np.dot(weight_t, e/(alpha_0 + S*(e**2)))
    S_v = x1
    cross = S_v*S_theta/n
    x2 = alpha_0*np.dot(weight, (e**2)/(alpha_0 + S*(e**2)))
    own = (S_theta*(S_v**2) + S*x2/alpha_0)/n**2
    return S_theta, cross, own
