"""How much the test error of a fit varies between draws  [THEORY section 14].

d_mean, d_Delta, d_V: derivatives of the law of the output given kappa and t along a source on the test error; d_square:
the squared one of its slope. g1, g2, g3, g4: averages of powers of g over the output; with _x, _xx their derivatives in
its mean. Matrices are over blocks, V_1 that of the first fit; q: Q1_hat_12, t: T_12, Q: beta Q1_12, N: beta times
shares; J: beta times sums of products j_2 j_1^T of sources, of m over the dimension.

Generated; do not edit. Signature e99494308fb9fdb1, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "e99494308fb9fdb19aec905ded6ca23362589fbd9105693a69fb265d479f8604"


def sample(d_mean, d_square, d_Delta, d_V, g1, g1_x, g2, g2_x, g2_xx, g3, g3_x, g4):
    """(what a source adds to the envelope, what two sources add to the product of two envelopes), on average."""
    moved = -d_mean*g1 - 0.5*d_Delta*g1_x - 0.5*d_V*g2
    product = (
        g2*(d_mean**2) + 0.25*g2_xx*(d_Delta**2) + 0.25*g4*(d_V**2) + d_Delta*d_mean*g2_x + d_V*d_mean*g3 +
        0.5*d_Delta*d_V*g3_x - d_square*g2
    )
    return moved, product


def readouts(V_1, V_2, T_1, T_2, q, t, Q, N, J_target, J_spike, J_m):
    """The matrix whose trace has the rest of the variance as its derivative in both sources."""
    found = (
        0.5*(np.linalg.inv(V_1 @ T_1 + np.eye(len(T_1))) @ q @ t) + 0.5*(np.linalg.inv(V_2 @ T_2 + np.eye(len(T_1))) @ q
        @ t) + 0.5*(np.linalg.inv(V_1 @ T_1 + np.eye(len(T_1))) @ (V_1 @ t - q @ T_2) @ np.linalg.inv(V_2 @ T_2 +
        np.eye(len(T_1))) @ (V_2 @ t - q @ T_1)) + T_1 @ np.linalg.inv(V_1 @ T_1 + np.eye(len(T_1))) @
        (np.linalg.inv(T_1) @ t @ np.linalg.inv(T_2) + q) @ T_2 @ np.linalg.inv(V_2 @ T_2 + np.eye(len(T_1))) @ J_target
        + t @ J_spike + np.linalg.inv(T_1) @ t @ np.linalg.inv(T_2) @ J_m - 0.5*(t @ np.linalg.inv(T_2) @
        np.linalg.inv(T_1) @ N @ t) - q @ Q
    )
    return found
