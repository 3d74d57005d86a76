"""The resolvent of the matrix C that the covariance of the trained bulk depends on  [THEORY section 5].

e, weight, weight_t, weight_tt: nodes of the law of the residual e of the step, with weights for means of
functions of e, of those times t = theta.x, and times t^2.

Generated; do not edit. Signature 077255ef6879b50b.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "077255ef6879b50b3c336cbaffc1d20168d5448f2f59b626aad206d41bf4bd69"


def equation(w, S, alpha_0, e, weight, weight_t, weight_tt):
    """What vanishes at the trace S of the resolvent at the shift w, and its derivative in S."""
    average0 = alpha_0*np.dot(weight, (e**2)/(alpha_0 + S*(e**2)))
    value = -1.0 + average0*S + S*w
    average0 = (-1.0)*alpha_0*np.dot(weight, (e**4)/(alpha_0 + S*(e**2))**2)
    average1 = alpha_0*np.dot(weight, (e**2)/(alpha_0 + S*(e**2)))
    slope = average1 + w + average0*S
    return value, slope


def projections(w, S, n, alpha_0, e, weight, weight_t, weight_tt):
    """(theta.Res.theta, v.Res.theta, v.Res.v) at the shift w, n the length of v before it is normalised."""
    average0 = alpha_0*np.dot(weight_tt, (e**2)/(alpha_0 + S*(e**2)))
    S_theta = 1.0/(average0 + w)
    average0 = alpha_0*np.dot(weight_t, e/(alpha_0 + S*(e**2)))
    S_v = average0
    cross = S_v*S_theta/n
    average0 = alpha_0*np.dot(weight, (e**2)/(alpha_0 + S*(e**2)))
    own = (S_theta*(S_v**2) + average0*S/alpha_0)/n**2
    return S_theta, cross, own
