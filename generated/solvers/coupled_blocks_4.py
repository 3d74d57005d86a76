"""Saddle-point equations of any convex loss, 4 direction(s) beside the spike, any number of blocks K  [CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
    1. nonlinear in adjoint, m, Q1, T, V1, psi_1, psi_2, psi_3, psi_4, zeta; then
       Q2, slope_1, slope_2, slope_3, slope_4, V2, mean, Delta, V, avg_g, avg_gg, avg_h, avg_t_1g, avg_t_2g, avg_t_3g, avg_t_4g, zeta_hat, Q1_hat, Q2_hat, V1_hat, V2_hat, psi_hat_1, psi_hat_2, psi_hat_3, psi_hat_4, P, M, S
    avg_*: supplied by the module of the loss
Each unknown and the derivation step that fixes it (d/dX: stationarity of the free energy in X):
    S: S
    M: M
    T: dL/dT
    adjoint: adjoint
    V1_hat: d/dQ1
    V2_hat: d/dQ2
    V1: d/dQ1_hat
    V2: d/dQ2_hat
    psi_hat_1: d/dpsi_1
    psi_1: d/dpsi_hat_1
    psi_hat_2: d/dpsi_2
    psi_2: d/dpsi_hat_2
    psi_hat_3: d/dpsi_3
    psi_3: d/dpsi_hat_3
    psi_hat_4: d/dpsi_4
    psi_4: d/dpsi_hat_4
    zeta_hat: d/dzeta
    zeta: d/dzeta_hat
    Q1_hat: d/dV1
    Q2_hat: d/dV2
    Q1: d/dV1_hat
    Q2: d/dV2_hat
    m: d/dm
Generated; do not edit. Signature 71040a28c3f537a4.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np
from numba import njit

LOSS = "coupled"
SIGNATURE = "71040a28c3f537a45ce529e3076405264a041ceb8a090b64d073b65107122bf5"


UNKNOWNS = ('adjoint', 'm', 'Q1', 'T', 'V1', 'psi_1', 'psi_2', 'psi_3', 'psi_4', 'zeta')
AVERAGES = ('avg_M', 'avg_g', 'avg_h', 'avg_gg', 'avg_gh', 'avg_hx', 'avg_ggh', 'avg_ghx', 'avg_hxx', 'avg_t_1g', 'avg_t_2g', 'avg_t_3g', 'avg_t_4g', 'avg_t_1h', 'avg_t_2h', 'avg_t_3h', 'avg_t_4h', 'avg_t_1gh', 'avg_t_2gh', 'avg_t_3gh', 'avg_t_4gh', 'avg_t_1hx', 'avg_t_2hx', 'avg_t_3hx', 'avg_t_4hx', 'avg_t_1t_1h', 'avg_t_1t_2h', 'avg_t_1t_3h', 'avg_t_1t_4h', 'avg_t_2t_2h', 'avg_t_2t_3h', 'avg_t_2t_4h', 'avg_t_3t_3h', 'avg_t_3t_4h', 'avg_t_4t_4h')
SLOPES = ('slope_1', 'slope_2', 'slope_3', 'slope_4')


def workspace_size(K, N):
    """Length of the workspace for K blocks and N nodes."""
    return 52*K + 18*K*K + 56*N


def layout(K, N):
    """Start and shape of every unknown in the workspace."""
    return {
        "adjoint": (0, (K,)),
        "m": (K, (K,)),
        "Q1": (2*K, (K, K)),
        "T": (2*K + K*K, (K,)),
        "V1": (3*K + K*K, (K, K)),
        "psi_1": (3*K + 2*K*K, (K,)),
        "psi_2": (4*K + 2*K*K, (K,)),
        "psi_3": (5*K + 2*K*K, (K,)),
        "psi_4": (6*K + 2*K*K, (K,)),
        "zeta": (7*K + 2*K*K, (K,)),
        "d_adjoint": (8*K + 2*K*K, (K,)),
        "d_m": (9*K + 2*K*K, (K,)),
        "d_Q1": (10*K + 2*K*K, (K, K)),
        "d_T": (10*K + 3*K*K, (K,)),
        "d_V1": (11*K + 3*K*K, (K, K)),
        "d_psi_1": (11*K + 4*K*K, (K,)),
        "d_psi_2": (12*K + 4*K*K, (K,)),
        "d_psi_3": (13*K + 4*K*K, (K,)),
        "d_psi_4": (14*K + 4*K*K, (K,)),
        "d_zeta": (15*K + 4*K*K, (K,)),
        "residual_adjoint": (16*K + 4*K*K, (K,)),
        "residual_m": (17*K + 4*K*K, (K,)),
        "residual_Q1": (18*K + 4*K*K, (K, K)),
        "residual_T": (18*K + 5*K*K, (K,)),
        "residual_V1": (19*K + 5*K*K, (K, K)),
        "residual_psi_1": (19*K + 6*K*K, (K,)),
        "residual_psi_2": (20*K + 6*K*K, (K,)),
        "residual_psi_3": (21*K + 6*K*K, (K,)),
        "residual_psi_4": (22*K + 6*K*K, (K,)),
        "residual_zeta": (23*K + 6*K*K, (K,)),
        "d_residual_adjoint": (24*K + 6*K*K, (K,)),
        "d_residual_m": (25*K + 6*K*K, (K,)),
        "d_residual_Q1": (26*K + 6*K*K, (K, K)),
        "d_residual_T": (26*K + 7*K*K, (K,)),
        "d_residual_V1": (27*K + 7*K*K, (K, K)),
        "d_residual_psi_1": (27*K + 8*K*K, (K,)),
        "d_residual_psi_2": (28*K + 8*K*K, (K,)),
        "d_residual_psi_3": (29*K + 8*K*K, (K,)),
        "d_residual_psi_4": (30*K + 8*K*K, (K,)),
        "d_residual_zeta": (31*K + 8*K*K, (K,)),
        "avg_M": (32*K + 8*K*K, (N,)),
        "avg_g": (32*K + 8*K*K + N, (N,)),
        "avg_h": (32*K + 8*K*K + 2*N, (N,)),
        "avg_gg": (32*K + 8*K*K + 3*N, (N,)),
        "avg_gh": (32*K + 8*K*K + 4*N, (N,)),
        "avg_hx": (32*K + 8*K*K + 5*N, (N,)),
        "avg_ggh": (32*K + 8*K*K + 6*N, (N,)),
        "avg_ghx": (32*K + 8*K*K + 7*N, (N,)),
        "avg_hxx": (32*K + 8*K*K + 8*N, (N,)),
        "avg_t_1g": (32*K + 8*K*K + 9*N, (N,)),
        "avg_t_2g": (32*K + 8*K*K + 10*N, (N,)),
        "avg_t_3g": (32*K + 8*K*K + 11*N, (N,)),
        "avg_t_4g": (32*K + 8*K*K + 12*N, (N,)),
        "avg_t_1h": (32*K + 8*K*K + 13*N, (N,)),
        "avg_t_2h": (32*K + 8*K*K + 14*N, (N,)),
        "avg_t_3h": (32*K + 8*K*K + 15*N, (N,)),
        "avg_t_4h": (32*K + 8*K*K + 16*N, (N,)),
        "avg_t_1gh": (32*K + 8*K*K + 17*N, (N,)),
        "avg_t_2gh": (32*K + 8*K*K + 18*N, (N,)),
        "avg_t_3gh": (32*K + 8*K*K + 19*N, (N,)),
        "avg_t_4gh": (32*K + 8*K*K + 20*N, (N,)),
        "avg_t_1hx": (32*K + 8*K*K + 21*N, (N,)),
        "avg_t_2hx": (32*K + 8*K*K + 22*N, (N,)),
        "avg_t_3hx": (32*K + 8*K*K + 23*N, (N,)),
        "avg_t_4hx": (32*K + 8*K*K + 24*N, (N,)),
        "avg_t_1t_1h": (32*K + 8*K*K + 25*N, (N,)),
        "avg_t_1t_2h": (32*K + 8*K*K + 26*N, (N,)),
        "avg_t_1t_3h": (32*K + 8*K*K + 27*N, (N,)),
        "avg_t_1t_4h": (32*K + 8*K*K + 28*N, (N,)),
        "avg_t_2t_2h": (32*K + 8*K*K + 29*N, (N,)),
        "avg_t_2t_3h": (32*K + 8*K*K + 30*N, (N,)),
        "avg_t_2t_4h": (32*K + 8*K*K + 31*N, (N,)),
        "avg_t_3t_3h": (32*K + 8*K*K + 32*N, (N,)),
        "avg_t_3t_4h": (32*K + 8*K*K + 33*N, (N,)),
        "avg_t_4t_4h": (32*K + 8*K*K + 34*N, (N,)),
        "Delta": (32*K + 8*K*K + 35*N, (N,)),
        "M": (32*K + 8*K*K + 36*N, (K, K)),
        "P": (32*K + 9*K*K + 36*N, (K, K)),
        "Q1_hat": (32*K + 10*K*K + 36*N, (K, K)),
        "Q2": (32*K + 11*K*K + 36*N, (K,)),
        "Q2_hat": (33*K + 11*K*K + 36*N, (K,)),
        "S": (34*K + 11*K*K + 36*N, (K, K)),
        "V": (34*K + 12*K*K + 36*N, (N,)),
        "V1_hat": (34*K + 12*K*K + 37*N, (K, K)),
        "V2": (34*K + 13*K*K + 37*N, (K,)),
        "V2_hat": (35*K + 13*K*K + 37*N, (K,)),
        "mean": (36*K + 13*K*K + 37*N, (N,)),
        "psi_hat_1": (36*K + 13*K*K + 38*N, (K,)),
        "psi_hat_2": (37*K + 13*K*K + 38*N, (K,)),
        "psi_hat_3": (38*K + 13*K*K + 38*N, (K,)),
        "psi_hat_4": (39*K + 13*K*K + 38*N, (K,)),
        "slope_1": (40*K + 13*K*K + 38*N, (N,)),
        "slope_2": (40*K + 13*K*K + 39*N, (N,)),
        "slope_3": (40*K + 13*K*K + 40*N, (N,)),
        "slope_4": (40*K + 13*K*K + 41*N, (N,)),
        "zeta_hat": (40*K + 13*K*K + 42*N, (K,)),
        "d_Delta": (41*K + 13*K*K + 42*N, (N,)),
        "d_M": (41*K + 13*K*K + 43*N, (K, K)),
        "d_P": (41*K + 14*K*K + 43*N, (K, K)),
        "d_Q1_hat": (41*K + 15*K*K + 43*N, (K, K)),
        "d_Q2": (41*K + 16*K*K + 43*N, (K,)),
        "d_Q2_hat": (42*K + 16*K*K + 43*N, (K,)),
        "d_S": (43*K + 16*K*K + 43*N, (K, K)),
        "d_V": (43*K + 17*K*K + 43*N, (N,)),
        "d_V1_hat": (43*K + 17*K*K + 44*N, (K, K)),
        "d_V2": (43*K + 18*K*K + 44*N, (K,)),
        "d_V2_hat": (44*K + 18*K*K + 44*N, (K,)),
        "d_avg_g": (45*K + 18*K*K + 44*N, (N,)),
        "d_avg_gg": (45*K + 18*K*K + 45*N, (N,)),
        "d_avg_h": (45*K + 18*K*K + 46*N, (N,)),
        "d_avg_t_1g": (45*K + 18*K*K + 47*N, (N,)),
        "d_avg_t_2g": (45*K + 18*K*K + 48*N, (N,)),
        "d_avg_t_3g": (45*K + 18*K*K + 49*N, (N,)),
        "d_avg_t_4g": (45*K + 18*K*K + 50*N, (N,)),
        "d_mean": (45*K + 18*K*K + 51*N, (N,)),
        "d_psi_hat_1": (45*K + 18*K*K + 52*N, (K,)),
        "d_psi_hat_2": (46*K + 18*K*K + 52*N, (K,)),
        "d_psi_hat_3": (47*K + 18*K*K + 52*N, (K,)),
        "d_psi_hat_4": (48*K + 18*K*K + 52*N, (K,)),
        "d_slope_1": (49*K + 18*K*K + 52*N, (N,)),
        "d_slope_2": (49*K + 18*K*K + 53*N, (N,)),
        "d_slope_3": (49*K + 18*K*K + 54*N, (N,)),
        "d_slope_4": (49*K + 18*K*K + 55*N, (N,)),
        "d_zeta_hat": (49*K + 18*K*K + 56*N, (K,)),
        "ER_9": (50*K + 18*K*K + 56*N, (K,)),
        "EJ_9": (51*K + 18*K*K + 56*N, (K,)),
    }


@njit(cache=True, error_model="numpy", nogil=True)
def _invert(matrix, work, start):
    """work[start:] = matrix^-1, row by row; without pivoting, as it is a positive definite one times a positive diagonal."""
    n = matrix.shape[0]
    for i in range(n):
        for j in range(n):
            work[start + i*n + j] = matrix[i, j]
    for k in range(n):
        pivot = work[start + k*n + k]
        work[start + k*n + k] = 1.0
        for j in range(n):
            work[start + k*n + j] /= pivot
        for i in range(n):
            factor = work[start + i*n + k]
            if i != k:
                work[start + i*n + k] = 0.0
                for j in range(n):
                    work[start + i*n + j] -= factor*work[start + k*n + j]


@njit(cache=True, error_model="numpy", nogil=True)
def fields(table, fraction, parameters, work):
    """Everything up to the law of the output, from the unknowns in the workspace."""
    beta = parameters[1]
    K = fraction.shape[0]
    N = table.shape[0]
    o_adjoint = 0
    o_m = K
    o_Q1 = 2*K
    o_T = 2*K + K*K
    o_V1 = 3*K + K*K
    o_psi_1 = 3*K + 2*K*K
    o_psi_2 = 4*K + 2*K*K
    o_psi_3 = 5*K + 2*K*K
    o_psi_4 = 6*K + 2*K*K
    o_zeta = 7*K + 2*K*K
    o_Delta = 32*K + 8*K*K + 35*N
    o_Q2 = 32*K + 11*K*K + 36*N
    o_V = 34*K + 12*K*K + 36*N
    o_V2 = 34*K + 13*K*K + 37*N
    o_mean = 36*K + 13*K*K + 37*N
    o_slope_1 = 40*K + 13*K*K + 38*N
    o_slope_2 = 40*K + 13*K*K + 39*N
    o_slope_3 = 40*K + 13*K*K + 40*N
    o_slope_4 = 40*K + 13*K*K + 41*N
    for b in range(K):
        work[o_Q2 + b] = work[o_adjoint + b]
        work[o_V2 + b] = work[o_T + b]/beta
    for node in range(N):
        kappa_here = table[node, 0]
        sum1 = 0.0
        for b in range(K):
            sum1 += table[node, 8 + K + b]*work[o_psi_1 + b]
        slope_1_here = sum1
        work[o_slope_1 + node] = slope_1_here
        sum2 = 0.0
        for b in range(K):
            sum2 += table[node, 8 + K + b]*work[o_psi_2 + b]
        slope_2_here = sum2
        work[o_slope_2 + node] = slope_2_here
        sum3 = 0.0
        for b in range(K):
            sum3 += table[node, 8 + K + b]*work[o_psi_3 + b]
        slope_3_here = sum3
        work[o_slope_3 + node] = slope_3_here
        sum4 = 0.0
        for b in range(K):
            sum4 += table[node, 8 + K + b]*work[o_psi_4 + b]
        slope_4_here = sum4
        work[o_slope_4 + node] = slope_4_here
        sum5 = 0.0
        for b in range(K):
            sum5 += kappa_here*table[node, 8 + K + b]*work[o_zeta + b] + table[node, 8 + b]*work[o_m + b]
        mean_here = sum5
        work[o_mean + node] = mean_here
        sum6 = 0.0
        sum7 = 0.0
        for b in range(K):
            for a in range(K):
                sum7 += table[node, 8 + K + a]*table[node, 8 + K + b]*work[o_Q1 + a*K + b]
            sum6 += table[node, 8 + 2*K + b]*work[o_Q2 + b]
        Delta_here = sum6 + sum7 - (slope_1_here*slope_1_here) - (slope_2_here*slope_2_here) - (slope_3_here*slope_3_here) - (slope_4_here*slope_4_here)
        work[o_Delta + node] = Delta_here
        sum8 = 0.0
        sum9 = 0.0
        for b in range(K):
            for a in range(K):
                sum9 += table[node, 8 + K + a]*table[node, 8 + K + b]*work[o_V1 + a*K + b]
            sum8 += table[node, 8 + 2*K + b]*work[o_V2 + b]
        V_here = sum8 + sum9
        work[o_V + node] = V_here


@njit(cache=True, error_model="numpy", nogil=True)
def residual(table, fraction, parameters, work):
    """The residuals of the unknowns, given the averages over the output."""
    alpha = parameters[0]
    beta = parameters[1]
    ridge = parameters[2]
    inverse_dimension = parameters[4]
    K = fraction.shape[0]
    N = table.shape[0]
    o_adjoint = 0
    o_m = K
    o_Q1 = 2*K
    o_T = 2*K + K*K
    o_V1 = 3*K + K*K
    o_psi_1 = 3*K + 2*K*K
    o_psi_2 = 4*K + 2*K*K
    o_psi_3 = 5*K + 2*K*K
    o_psi_4 = 6*K + 2*K*K
    o_zeta = 7*K + 2*K*K
    o_residual_adjoint = 16*K + 4*K*K
    o_residual_m = 17*K + 4*K*K
    o_residual_Q1 = 18*K + 4*K*K
    o_residual_T = 18*K + 5*K*K
    o_residual_V1 = 19*K + 5*K*K
    o_residual_psi_1 = 19*K + 6*K*K
    o_residual_psi_2 = 20*K + 6*K*K
    o_residual_psi_3 = 21*K + 6*K*K
    o_residual_psi_4 = 22*K + 6*K*K
    o_residual_zeta = 23*K + 6*K*K
    o_avg_g = 32*K + 8*K*K + N
    o_avg_h = 32*K + 8*K*K + 2*N
    o_avg_gg = 32*K + 8*K*K + 3*N
    o_avg_t_1g = 32*K + 8*K*K + 9*N
    o_avg_t_2g = 32*K + 8*K*K + 10*N
    o_avg_t_3g = 32*K + 8*K*K + 11*N
    o_avg_t_4g = 32*K + 8*K*K + 12*N
    o_M = 32*K + 8*K*K + 36*N
    o_P = 32*K + 9*K*K + 36*N
    o_Q1_hat = 32*K + 10*K*K + 36*N
    o_Q2_hat = 33*K + 11*K*K + 36*N
    o_S = 34*K + 11*K*K + 36*N
    o_V1_hat = 34*K + 12*K*K + 37*N
    o_V2_hat = 35*K + 13*K*K + 37*N
    o_psi_hat_1 = 36*K + 13*K*K + 38*N
    o_psi_hat_2 = 37*K + 13*K*K + 38*N
    o_psi_hat_3 = 38*K + 13*K*K + 38*N
    o_psi_hat_4 = 39*K + 13*K*K + 38*N
    o_slope_1 = 40*K + 13*K*K + 38*N
    o_slope_2 = 40*K + 13*K*K + 39*N
    o_slope_3 = 40*K + 13*K*K + 40*N
    o_slope_4 = 40*K + 13*K*K + 41*N
    o_zeta_hat = 40*K + 13*K*K + 42*N
    o_ER_9 = 50*K + 18*K*K + 56*N
    matrix = np.empty((K, K))
    for b0 in range(K):
        work[o_zeta_hat + b0] = 0.0
        work[o_Q2_hat + b0] = 0.0
        work[o_V2_hat + b0] = 0.0
        work[o_psi_hat_1 + b0] = 0.0
        work[o_psi_hat_2 + b0] = 0.0
        work[o_psi_hat_3 + b0] = 0.0
        work[o_psi_hat_4 + b0] = 0.0
        work[o_ER_9 + b0] = 0.0
        for b1 in range(K):
            work[o_Q1_hat + b0*K + b1] = 0.0
            work[o_V1_hat + b0*K + b1] = 0.0
    factor0 = alpha/beta
    for node in range(N):
        avg_g_here = work[o_avg_g + node]
        avg_gg_here = work[o_avg_gg + node]
        avg_h_here = work[o_avg_h + node]
        avg_t_1g_here = work[o_avg_t_1g + node]
        avg_t_2g_here = work[o_avg_t_2g + node]
        avg_t_3g_here = work[o_avg_t_3g + node]
        avg_t_4g_here = work[o_avg_t_4g + node]
        slope_1_here = work[o_slope_1 + node]
        slope_2_here = work[o_slope_2 + node]
        slope_3_here = work[o_slope_3 + node]
        slope_4_here = work[o_slope_4 + node]
        kappa_here = table[node, 0]
        weight_here = table[node, 1]
        w0 = factor0*weight_here*avg_g_here*kappa_here
        w1 = factor0*weight_here*avg_gg_here
        w2 = factor0*weight_here*avg_h_here
        w3 = factor0*weight_here*(avg_h_here*slope_1_here + avg_t_1g_here)
        w4 = factor0*weight_here*(avg_h_here*slope_2_here + avg_t_2g_here)
        w5 = factor0*weight_here*(avg_h_here*slope_3_here + avg_t_3g_here)
        w6 = factor0*weight_here*(avg_h_here*slope_4_here + avg_t_4g_here)
        w7 = weight_here*avg_g_here
        for b0 in range(K):
            work[o_zeta_hat + b0] += w0*table[node, 8 + K + b0]
            work[o_Q2_hat + b0] += w1*table[node, 8 + 2*K + b0]
            work[o_V2_hat + b0] += w2*table[node, 8 + 2*K + b0]
            work[o_psi_hat_1 + b0] += w3*table[node, 8 + K + b0]
            work[o_psi_hat_2 + b0] += w4*table[node, 8 + K + b0]
            work[o_psi_hat_3 + b0] += w5*table[node, 8 + K + b0]
            work[o_psi_hat_4 + b0] += w6*table[node, 8 + K + b0]
            work[o_ER_9 + b0] += w7*table[node, 8 + b0]
            for b1 in range(K):
                work[o_Q1_hat + b0*K + b1] += w1*table[node, 8 + K + b0]*table[node, 8 + K + b1]
                work[o_V1_hat + b0*K + b1] += w2*table[node, 8 + K + b0]*table[node, 8 + K + b1]
    for b in range(K):
        for c in range(K):
            matrix[b, c] = (1.0 if b == c else 0.0) + work[o_T + c]*work[o_V1_hat + b*K + c]
    _invert(matrix, work, o_P)
    for b in range(K):
        for c in range(K):
            sum1 = 0.0
            for e in range(K):
                sum1 += work[o_P + b*K + e]*work[o_V1_hat + e*K + c]
            work[o_M + b*K + c] = work[o_P + b*K + c]*work[o_T + b]
            work[o_S + b*K + c] = sum1
    for b in range(K):
        sum2 = 0.0
        sum3 = 0.0
        sum4 = 0.0
        sum5 = 0.0
        sum6 = 0.0
        sum7 = 0.0
        sum8 = 0.0
        sum9 = 0.0
        sum10 = 0.0
        sum11 = 0.0
        for a in range(K):
            sum12 = 0.0
            for c in range(K):
                sum12 += work[o_P + b*K + c]*work[o_Q1_hat + a*K + c]
            sum2 += work[o_P + b*K + a]*work[o_psi_hat_1 + a]
            sum3 += work[o_P + b*K + a]*work[o_psi_hat_2 + a]
            sum4 += work[o_P + b*K + a]*work[o_psi_hat_3 + a]
            sum5 += work[o_P + b*K + a]*work[o_psi_hat_4 + a]
            sum6 += (work[o_S + a*K + b]*work[o_S + a*K + b])*work[o_adjoint + a]
            sum7 += sum12*work[o_P + b*K + a]
            sum8 += work[o_M + a*K + b]*work[o_psi_hat_1 + a]
            sum9 += work[o_M + a*K + b]*work[o_psi_hat_2 + a]
            sum10 += work[o_M + a*K + b]*work[o_psi_hat_3 + a]
            sum11 += work[o_M + a*K + b]*work[o_psi_hat_4 + a]
        work[o_residual_adjoint + b] = beta*work[o_adjoint + b]*fraction[b]/(work[o_T + b]*work[o_T + b]) - inverse_dimension*(work[o_m + b]*work[o_m + b])/(work[o_T + b]*work[o_T + b]) - (sum2*sum2) - (sum3*sum3) - (sum4*sum4) - (sum5*sum5) - sum6 - (work[o_zeta_hat + b]*work[o_zeta_hat + b]) - sum7/beta - work[o_Q2_hat + b]/beta
        work[o_residual_m + b] = -alpha*work[o_ER_9 + b] + beta*inverse_dimension*work[o_m + b]/work[o_T + b]
        work[o_residual_T + b] = -beta*fraction[b]/(ridge + work[o_S + b*K + b] + work[o_V2_hat + b]) + work[o_T + b]
        work[o_residual_psi_1 + b] = -sum8 + work[o_psi_1 + b]
        work[o_residual_psi_2 + b] = -sum9 + work[o_psi_2 + b]
        work[o_residual_psi_3 + b] = -sum10 + work[o_psi_3 + b]
        work[o_residual_psi_4 + b] = -sum11 + work[o_psi_4 + b]
        work[o_residual_zeta + b] = -work[o_T + b]*work[o_zeta_hat + b] + work[o_zeta + b]
        for c in range(K):
            sum13 = 0.0
            sum14 = 0.0
            sum15 = 0.0
            sum16 = 0.0
            sum17 = 0.0
            sum18 = 0.0
            sum19 = 0.0
            sum20 = 0.0
            sum21 = 0.0
            sum22 = 0.0
            for a in range(K):
                sum23 = 0.0
                for d in range(K):
                    sum23 += work[o_M + c*K + d]*work[o_Q1_hat + a*K + d]
                sum13 += work[o_P + a*K + b]*work[o_P + a*K + c]*work[o_adjoint + a]
                sum14 += sum23*work[o_M + a*K + b]
                sum15 += work[o_M + a*K + b]*work[o_psi_hat_1 + a]
                sum16 += work[o_M + a*K + c]*work[o_psi_hat_1 + a]
                sum17 += work[o_M + a*K + b]*work[o_psi_hat_2 + a]
                sum18 += work[o_M + a*K + c]*work[o_psi_hat_2 + a]
                sum19 += work[o_M + a*K + b]*work[o_psi_hat_3 + a]
                sum20 += work[o_M + a*K + c]*work[o_psi_hat_3 + a]
                sum21 += work[o_M + a*K + b]*work[o_psi_hat_4 + a]
                sum22 += work[o_M + a*K + c]*work[o_psi_hat_4 + a]
            work[o_residual_Q1 + b*K + c] = -sum13 - sum15*sum16 - sum17*sum18 - sum19*sum20 - sum21*sum22 + work[o_Q1 + b*K + c] - sum14/beta
            work[o_residual_V1 + b*K + c] = work[o_V1 + b*K + c] - work[o_M + b*K + c]/beta


@njit(cache=True, error_model="numpy", nogil=True)
def jacobian(table, fraction, parameters, work, first, second, matrix):
    """matrix[i, k] = d residual(first[i])/d unknown(first[k] and second[k]): the two members of a symmetric pair."""
    alpha = parameters[0]
    beta = parameters[1]
    ridge = parameters[2]
    inverse_dimension = parameters[4]
    K = fraction.shape[0]
    N = table.shape[0]
    o_adjoint = 0
    o_m = K
    o_T = 2*K + K*K
    o_d_adjoint = 8*K + 2*K*K
    o_d_m = 9*K + 2*K*K
    o_d_Q1 = 10*K + 2*K*K
    o_d_T = 10*K + 3*K*K
    o_d_V1 = 11*K + 3*K*K
    o_d_psi_1 = 11*K + 4*K*K
    o_d_psi_2 = 12*K + 4*K*K
    o_d_psi_3 = 13*K + 4*K*K
    o_d_psi_4 = 14*K + 4*K*K
    o_d_zeta = 15*K + 4*K*K
    o_d_residual_adjoint = 24*K + 6*K*K
    o_d_residual_m = 25*K + 6*K*K
    o_d_residual_Q1 = 26*K + 6*K*K
    o_d_residual_T = 26*K + 7*K*K
    o_d_residual_V1 = 27*K + 7*K*K
    o_d_residual_psi_1 = 27*K + 8*K*K
    o_d_residual_psi_2 = 28*K + 8*K*K
    o_d_residual_psi_3 = 29*K + 8*K*K
    o_d_residual_psi_4 = 30*K + 8*K*K
    o_d_residual_zeta = 31*K + 8*K*K
    o_avg_h = 32*K + 8*K*K + 2*N
    o_avg_gh = 32*K + 8*K*K + 4*N
    o_avg_hx = 32*K + 8*K*K + 5*N
    o_avg_ggh = 32*K + 8*K*K + 6*N
    o_avg_ghx = 32*K + 8*K*K + 7*N
    o_avg_hxx = 32*K + 8*K*K + 8*N
    o_avg_t_1h = 32*K + 8*K*K + 13*N
    o_avg_t_2h = 32*K + 8*K*K + 14*N
    o_avg_t_3h = 32*K + 8*K*K + 15*N
    o_avg_t_4h = 32*K + 8*K*K + 16*N
    o_avg_t_1gh = 32*K + 8*K*K + 17*N
    o_avg_t_2gh = 32*K + 8*K*K + 18*N
    o_avg_t_3gh = 32*K + 8*K*K + 19*N
    o_avg_t_4gh = 32*K + 8*K*K + 20*N
    o_avg_t_1hx = 32*K + 8*K*K + 21*N
    o_avg_t_2hx = 32*K + 8*K*K + 22*N
    o_avg_t_3hx = 32*K + 8*K*K + 23*N
    o_avg_t_4hx = 32*K + 8*K*K + 24*N
    o_avg_t_1t_1h = 32*K + 8*K*K + 25*N
    o_avg_t_1t_2h = 32*K + 8*K*K + 26*N
    o_avg_t_1t_3h = 32*K + 8*K*K + 27*N
    o_avg_t_1t_4h = 32*K + 8*K*K + 28*N
    o_avg_t_2t_2h = 32*K + 8*K*K + 29*N
    o_avg_t_2t_3h = 32*K + 8*K*K + 30*N
    o_avg_t_2t_4h = 32*K + 8*K*K + 31*N
    o_avg_t_3t_3h = 32*K + 8*K*K + 32*N
    o_avg_t_3t_4h = 32*K + 8*K*K + 33*N
    o_avg_t_4t_4h = 32*K + 8*K*K + 34*N
    o_M = 32*K + 8*K*K + 36*N
    o_P = 32*K + 9*K*K + 36*N
    o_Q1_hat = 32*K + 10*K*K + 36*N
    o_S = 34*K + 11*K*K + 36*N
    o_V1_hat = 34*K + 12*K*K + 37*N
    o_V2_hat = 35*K + 13*K*K + 37*N
    o_psi_hat_1 = 36*K + 13*K*K + 38*N
    o_psi_hat_2 = 37*K + 13*K*K + 38*N
    o_psi_hat_3 = 38*K + 13*K*K + 38*N
    o_psi_hat_4 = 39*K + 13*K*K + 38*N
    o_slope_1 = 40*K + 13*K*K + 38*N
    o_slope_2 = 40*K + 13*K*K + 39*N
    o_slope_3 = 40*K + 13*K*K + 40*N
    o_slope_4 = 40*K + 13*K*K + 41*N
    o_zeta_hat = 40*K + 13*K*K + 42*N
    o_d_Delta = 41*K + 13*K*K + 42*N
    o_d_M = 41*K + 13*K*K + 43*N
    o_d_P = 41*K + 14*K*K + 43*N
    o_d_Q1_hat = 41*K + 15*K*K + 43*N
    o_d_Q2 = 41*K + 16*K*K + 43*N
    o_d_Q2_hat = 42*K + 16*K*K + 43*N
    o_d_S = 43*K + 16*K*K + 43*N
    o_d_V = 43*K + 17*K*K + 43*N
    o_d_V1_hat = 43*K + 17*K*K + 44*N
    o_d_V2 = 43*K + 18*K*K + 44*N
    o_d_V2_hat = 44*K + 18*K*K + 44*N
    o_d_avg_g = 45*K + 18*K*K + 44*N
    o_d_avg_gg = 45*K + 18*K*K + 45*N
    o_d_avg_h = 45*K + 18*K*K + 46*N
    o_d_avg_t_1g = 45*K + 18*K*K + 47*N
    o_d_avg_t_2g = 45*K + 18*K*K + 48*N
    o_d_avg_t_3g = 45*K + 18*K*K + 49*N
    o_d_avg_t_4g = 45*K + 18*K*K + 50*N
    o_d_mean = 45*K + 18*K*K + 51*N
    o_d_psi_hat_1 = 45*K + 18*K*K + 52*N
    o_d_psi_hat_2 = 46*K + 18*K*K + 52*N
    o_d_psi_hat_3 = 47*K + 18*K*K + 52*N
    o_d_psi_hat_4 = 48*K + 18*K*K + 52*N
    o_d_slope_1 = 49*K + 18*K*K + 52*N
    o_d_slope_2 = 49*K + 18*K*K + 53*N
    o_d_slope_3 = 49*K + 18*K*K + 54*N
    o_d_slope_4 = 49*K + 18*K*K + 55*N
    o_d_zeta_hat = 49*K + 18*K*K + 56*N
    o_EJ_9 = 51*K + 18*K*K + 56*N
    for column in range(first.shape[0]):
        for i in range(K + K + K*K + K + K*K + K + K + K + K + K):
            work[o_d_adjoint + i] = 0.0
        work[o_d_adjoint + first[column]] = 1.0
        work[o_d_adjoint + second[column]] = 1.0
        for b in range(K):
            work[o_d_Q2 + b] = work[o_d_adjoint + b]
            work[o_d_V2 + b] = work[o_d_T + b]/beta
        for b0 in range(K):
            work[o_d_zeta_hat + b0] = 0.0
            work[o_d_Q2_hat + b0] = 0.0
            work[o_d_V2_hat + b0] = 0.0
            work[o_d_psi_hat_1 + b0] = 0.0
            work[o_d_psi_hat_2 + b0] = 0.0
            work[o_d_psi_hat_3 + b0] = 0.0
            work[o_d_psi_hat_4 + b0] = 0.0
            work[o_EJ_9 + b0] = 0.0
            for b1 in range(K):
                work[o_d_Q1_hat + b0*K + b1] = 0.0
                work[o_d_V1_hat + b0*K + b1] = 0.0
        factor0 = alpha/beta
        for node in range(N):
            avg_ggh_here = work[o_avg_ggh + node]
            avg_gh_here = work[o_avg_gh + node]
            avg_ghx_here = work[o_avg_ghx + node]
            avg_h_here = work[o_avg_h + node]
            avg_hx_here = work[o_avg_hx + node]
            avg_hxx_here = work[o_avg_hxx + node]
            avg_t_1gh_here = work[o_avg_t_1gh + node]
            avg_t_1h_here = work[o_avg_t_1h + node]
            avg_t_1hx_here = work[o_avg_t_1hx + node]
            avg_t_1t_1h_here = work[o_avg_t_1t_1h + node]
            avg_t_1t_2h_here = work[o_avg_t_1t_2h + node]
            avg_t_1t_3h_here = work[o_avg_t_1t_3h + node]
            avg_t_1t_4h_here = work[o_avg_t_1t_4h + node]
            avg_t_2gh_here = work[o_avg_t_2gh + node]
            avg_t_2h_here = work[o_avg_t_2h + node]
            avg_t_2hx_here = work[o_avg_t_2hx + node]
            avg_t_2t_2h_here = work[o_avg_t_2t_2h + node]
            avg_t_2t_3h_here = work[o_avg_t_2t_3h + node]
            avg_t_2t_4h_here = work[o_avg_t_2t_4h + node]
            avg_t_3gh_here = work[o_avg_t_3gh + node]
            avg_t_3h_here = work[o_avg_t_3h + node]
            avg_t_3hx_here = work[o_avg_t_3hx + node]
            avg_t_3t_3h_here = work[o_avg_t_3t_3h + node]
            avg_t_3t_4h_here = work[o_avg_t_3t_4h + node]
            avg_t_4gh_here = work[o_avg_t_4gh + node]
            avg_t_4h_here = work[o_avg_t_4h + node]
            avg_t_4hx_here = work[o_avg_t_4hx + node]
            avg_t_4t_4h_here = work[o_avg_t_4t_4h + node]
            slope_1_here = work[o_slope_1 + node]
            slope_2_here = work[o_slope_2 + node]
            slope_3_here = work[o_slope_3 + node]
            slope_4_here = work[o_slope_4 + node]
            kappa_here = table[node, 0]
            weight_here = table[node, 1]
            sum1 = 0.0
            for a in range(K):
                sum1 += table[node, 8 + K + a]*work[o_d_psi_1 + a]
            d_slope_1_here = sum1
            work[o_d_slope_1 + node] = d_slope_1_here
            sum2 = 0.0
            for a in range(K):
                sum2 += table[node, 8 + K + a]*work[o_d_psi_2 + a]
            d_slope_2_here = sum2
            work[o_d_slope_2 + node] = d_slope_2_here
            sum3 = 0.0
            for a in range(K):
                sum3 += table[node, 8 + K + a]*work[o_d_psi_3 + a]
            d_slope_3_here = sum3
            work[o_d_slope_3 + node] = d_slope_3_here
            sum4 = 0.0
            for a in range(K):
                sum4 += table[node, 8 + K + a]*work[o_d_psi_4 + a]
            d_slope_4_here = sum4
            work[o_d_slope_4 + node] = d_slope_4_here
            sum5 = 0.0
            sum6 = 0.0
            for a in range(K):
                sum5 += table[node, 8 + K + a]*work[o_d_zeta + a]
                sum6 += table[node, 8 + a]*work[o_d_m + a]
            d_mean_here = kappa_here*sum5 + sum6
            work[o_d_mean + node] = d_mean_here
            sum7 = 0.0
            sum8 = 0.0
            for a in range(K):
                sum9 = 0.0
                for b in range(K):
                    sum9 += table[node, 8 + K + b]*work[o_d_Q1 + a*K + b]
                sum7 += sum9*table[node, 8 + K + a]
                sum8 += table[node, 8 + 2*K + a]*work[o_d_Q2 + a]
            d_Delta_here = sum7 + sum8 - 2.0*d_slope_1_here*slope_1_here - 2.0*d_slope_2_here*slope_2_here - 2.0*d_slope_3_here*slope_3_here - 2.0*d_slope_4_here*slope_4_here
            work[o_d_Delta + node] = d_Delta_here
            sum10 = 0.0
            sum11 = 0.0
            for a in range(K):
                sum12 = 0.0
                for b in range(K):
                    sum12 += table[node, 8 + K + b]*work[o_d_V1 + a*K + b]
                sum10 += sum12*table[node, 8 + K + a]
                sum11 += table[node, 8 + 2*K + a]*work[o_d_V2 + a]
            d_V_here = sum10 + sum11
            work[o_d_V + node] = d_V_here
            d_avg_g_here = -avg_gh_here*d_V_here - avg_h_here*d_mean_here - (1.0/2.0)*avg_hx_here*d_Delta_here - avg_t_1h_here*d_slope_1_here - avg_t_2h_here*d_slope_2_here - avg_t_3h_here*d_slope_3_here - avg_t_4h_here*d_slope_4_here
            work[o_d_avg_g + node] = d_avg_g_here
            d_avg_gg_here = -2.0*avg_ggh_here*d_V_here - 2.0*avg_gh_here*d_mean_here - avg_ghx_here*d_Delta_here - 2.0*avg_t_1gh_here*d_slope_1_here - 2.0*avg_t_2gh_here*d_slope_2_here - 2.0*avg_t_3gh_here*d_slope_3_here - 2.0*avg_t_4gh_here*d_slope_4_here
            work[o_d_avg_gg + node] = d_avg_gg_here
            d_avg_h_here = avg_ghx_here*d_V_here + avg_hx_here*d_mean_here + ((1.0/2.0))*avg_hxx_here*d_Delta_here + avg_t_1hx_here*d_slope_1_here + avg_t_2hx_here*d_slope_2_here + avg_t_3hx_here*d_slope_3_here + avg_t_4hx_here*d_slope_4_here
            work[o_d_avg_h + node] = d_avg_h_here
            d_avg_t_1g_here = -avg_t_1gh_here*d_V_here - avg_t_1h_here*d_mean_here - (1.0/2.0)*avg_t_1hx_here*d_Delta_here - avg_t_1t_1h_here*d_slope_1_here - avg_t_1t_2h_here*d_slope_2_here - avg_t_1t_3h_here*d_slope_3_here - avg_t_1t_4h_here*d_slope_4_here
            work[o_d_avg_t_1g + node] = d_avg_t_1g_here
            d_avg_t_2g_here = -avg_t_1t_2h_here*d_slope_1_here - avg_t_2gh_here*d_V_here - avg_t_2h_here*d_mean_here - (1.0/2.0)*avg_t_2hx_here*d_Delta_here - avg_t_2t_2h_here*d_slope_2_here - avg_t_2t_3h_here*d_slope_3_here - avg_t_2t_4h_here*d_slope_4_here
            work[o_d_avg_t_2g + node] = d_avg_t_2g_here
            d_avg_t_3g_here = -avg_t_1t_3h_here*d_slope_1_here - avg_t_2t_3h_here*d_slope_2_here - avg_t_3gh_here*d_V_here - avg_t_3h_here*d_mean_here - (1.0/2.0)*avg_t_3hx_here*d_Delta_here - avg_t_3t_3h_here*d_slope_3_here - avg_t_3t_4h_here*d_slope_4_here
            work[o_d_avg_t_3g + node] = d_avg_t_3g_here
            d_avg_t_4g_here = -avg_t_1t_4h_here*d_slope_1_here - avg_t_2t_4h_here*d_slope_2_here - avg_t_3t_4h_here*d_slope_3_here - avg_t_4gh_here*d_V_here - avg_t_4h_here*d_mean_here - (1.0/2.0)*avg_t_4hx_here*d_Delta_here - avg_t_4t_4h_here*d_slope_4_here
            work[o_d_avg_t_4g + node] = d_avg_t_4g_here
            w0 = factor0*weight_here*d_avg_g_here*kappa_here
            w1 = factor0*weight_here*d_avg_gg_here
            w2 = factor0*weight_here*d_avg_h_here
            w3 = factor0*weight_here*(avg_h_here*d_slope_1_here + d_avg_h_here*slope_1_here + d_avg_t_1g_here)
            w4 = factor0*weight_here*(avg_h_here*d_slope_2_here + d_avg_h_here*slope_2_here + d_avg_t_2g_here)
            w5 = factor0*weight_here*(avg_h_here*d_slope_3_here + d_avg_h_here*slope_3_here + d_avg_t_3g_here)
            w6 = factor0*weight_here*(avg_h_here*d_slope_4_here + d_avg_h_here*slope_4_here + d_avg_t_4g_here)
            w7 = weight_here*d_avg_g_here
            for b0 in range(K):
                work[o_d_zeta_hat + b0] += w0*table[node, 8 + K + b0]
                work[o_d_Q2_hat + b0] += w1*table[node, 8 + 2*K + b0]
                work[o_d_V2_hat + b0] += w2*table[node, 8 + 2*K + b0]
                work[o_d_psi_hat_1 + b0] += w3*table[node, 8 + K + b0]
                work[o_d_psi_hat_2 + b0] += w4*table[node, 8 + K + b0]
                work[o_d_psi_hat_3 + b0] += w5*table[node, 8 + K + b0]
                work[o_d_psi_hat_4 + b0] += w6*table[node, 8 + K + b0]
                work[o_EJ_9 + b0] += w7*table[node, 8 + b0]
                for b1 in range(K):
                    work[o_d_Q1_hat + b0*K + b1] += w1*table[node, 8 + K + b0]*table[node, 8 + K + b1]
                    work[o_d_V1_hat + b0*K + b1] += w2*table[node, 8 + K + b0]*table[node, 8 + K + b1]
        for b in range(K):
            for c in range(K):
                sum13 = 0.0
                sum14 = 0.0
                sum15 = 0.0
                sum16 = 0.0
                sum17 = 0.0
                sum18 = 0.0
                for a in range(K):
                    sum19 = 0.0
                    sum20 = 0.0
                    sum21 = 0.0
                    for d in range(K):
                        sum19 += work[o_P + b*K + d]*work[o_V1_hat + a*K + d]
                        sum20 += work[o_P + b*K + d]*work[o_d_V1_hat + a*K + d]
                        sum21 += work[o_M + b*K + d]*work[o_d_V1_hat + a*K + d]
                    sum13 += sum19*work[o_P + a*K + c]*work[o_d_T + a]
                    sum14 += sum20*work[o_P + a*K + c]*work[o_T + a]
                    sum15 += sum21*work[o_M + a*K + c]
                    sum16 += work[o_P + a*K + b]*work[o_P + a*K + c]*work[o_d_T + a]
                    sum17 += work[o_S + a*K + b]*work[o_S + a*K + c]*work[o_d_T + a]
                    sum18 += sum20*work[o_P + c*K + a]
                work[o_d_P + b*K + c] = -sum13 - sum14
                work[o_d_M + b*K + c] = -sum15 + sum16
                work[o_d_S + b*K + c] = -sum17 + sum18
        for b in range(K):
            sum22 = 0.0
            sum23 = 0.0
            sum24 = 0.0
            sum25 = 0.0
            sum26 = 0.0
            sum27 = 0.0
            sum28 = 0.0
            sum29 = 0.0
            sum30 = 0.0
            sum31 = 0.0
            sum32 = 0.0
            sum33 = 0.0
            sum34 = 0.0
            sum35 = 0.0
            sum36 = 0.0
            sum37 = 0.0
            sum38 = 0.0
            sum39 = 0.0
            sum40 = 0.0
            sum41 = 0.0
            sum42 = 0.0
            sum43 = 0.0
            sum44 = 0.0
            sum45 = 0.0
            sum46 = 0.0
            for a in range(K):
                sum47 = 0.0
                sum48 = 0.0
                sum49 = 0.0
                for c in range(K):
                    sum47 += work[o_P + b*K + c]*work[o_Q1_hat + a*K + c]
                    sum48 += work[o_P + b*K + c]*work[o_d_Q1_hat + a*K + c]
                    sum49 += work[o_Q1_hat + a*K + c]*work[o_d_P + b*K + c]
                sum22 += (work[o_S + a*K + b]*work[o_S + a*K + b])*work[o_d_adjoint + a]
                sum23 += work[o_S + a*K + b]*work[o_adjoint + a]*work[o_d_S + a*K + b]
                sum24 += sum47*work[o_d_P + b*K + a]
                sum25 += sum48*work[o_P + b*K + a]
                sum26 += sum49*work[o_P + b*K + a]
                sum27 += work[o_P + b*K + a]*work[o_d_psi_hat_1 + a]
                sum28 += work[o_d_P + b*K + a]*work[o_psi_hat_1 + a]
                sum29 += work[o_P + b*K + a]*work[o_psi_hat_1 + a]
                sum30 += work[o_P + b*K + a]*work[o_d_psi_hat_2 + a]
                sum31 += work[o_d_P + b*K + a]*work[o_psi_hat_2 + a]
                sum32 += work[o_P + b*K + a]*work[o_psi_hat_2 + a]
                sum33 += work[o_P + b*K + a]*work[o_d_psi_hat_3 + a]
                sum34 += work[o_d_P + b*K + a]*work[o_psi_hat_3 + a]
                sum35 += work[o_P + b*K + a]*work[o_psi_hat_3 + a]
                sum36 += work[o_P + b*K + a]*work[o_d_psi_hat_4 + a]
                sum37 += work[o_d_P + b*K + a]*work[o_psi_hat_4 + a]
                sum38 += work[o_P + b*K + a]*work[o_psi_hat_4 + a]
                sum39 += work[o_M + a*K + b]*work[o_d_psi_hat_1 + a]
                sum40 += work[o_d_M + a*K + b]*work[o_psi_hat_1 + a]
                sum41 += work[o_M + a*K + b]*work[o_d_psi_hat_2 + a]
                sum42 += work[o_d_M + a*K + b]*work[o_psi_hat_2 + a]
                sum43 += work[o_M + a*K + b]*work[o_d_psi_hat_3 + a]
                sum44 += work[o_d_M + a*K + b]*work[o_psi_hat_3 + a]
                sum45 += work[o_M + a*K + b]*work[o_d_psi_hat_4 + a]
                sum46 += work[o_d_M + a*K + b]*work[o_psi_hat_4 + a]
            work[o_d_residual_adjoint + b] = beta*work[o_d_adjoint + b]*fraction[b]/(work[o_T + b]*work[o_T + b]) - 2.0*beta*work[o_adjoint + b]*work[o_d_T + b]*fraction[b]/(work[o_T + b]*work[o_T + b]*work[o_T + b]) - 2.0*inverse_dimension*work[o_d_m + b]*work[o_m + b]/(work[o_T + b]*work[o_T + b]) + 2.0*inverse_dimension*work[o_d_T + b]*(work[o_m + b]*work[o_m + b])/(work[o_T + b]*work[o_T + b]*work[o_T + b]) - sum22 - 2.0*sum23 - 2.0*sum29*(sum27 + sum28) - 2.0*sum32*(sum30 + sum31) - 2.0*sum35*(sum33 + sum34) - 2.0*sum38*(sum36 + sum37) - 2.0*work[o_d_zeta_hat + b]*work[o_zeta_hat + b] - (sum24 + sum25 + sum26)/beta - work[o_d_Q2_hat + b]/beta
            work[o_d_residual_m + b] = -alpha*work[o_EJ_9 + b] + beta*inverse_dimension*work[o_d_m + b]/work[o_T + b] - beta*inverse_dimension*work[o_d_T + b]*work[o_m + b]/(work[o_T + b]*work[o_T + b])
            work[o_d_residual_T + b] = beta*(work[o_d_S + b*K + b] + work[o_d_V2_hat + b])*fraction[b]/((ridge + work[o_S + b*K + b] + work[o_V2_hat + b])*(ridge + work[o_S + b*K + b] + work[o_V2_hat + b])) + work[o_d_T + b]
            work[o_d_residual_psi_1 + b] = -sum39 - sum40 + work[o_d_psi_1 + b]
            work[o_d_residual_psi_2 + b] = -sum41 - sum42 + work[o_d_psi_2 + b]
            work[o_d_residual_psi_3 + b] = -sum43 - sum44 + work[o_d_psi_3 + b]
            work[o_d_residual_psi_4 + b] = -sum45 - sum46 + work[o_d_psi_4 + b]
            work[o_d_residual_zeta + b] = -work[o_T + b]*work[o_d_zeta_hat + b] - work[o_d_T + b]*work[o_zeta_hat + b] + work[o_d_zeta + b]
            for c in range(K):
                sum50 = 0.0
                sum51 = 0.0
                sum52 = 0.0
                sum53 = 0.0
                sum54 = 0.0
                sum55 = 0.0
                sum56 = 0.0
                sum57 = 0.0
                sum58 = 0.0
                sum59 = 0.0
                sum60 = 0.0
                sum61 = 0.0
                sum62 = 0.0
                sum63 = 0.0
                sum64 = 0.0
                sum65 = 0.0
                sum66 = 0.0
                sum67 = 0.0
                sum68 = 0.0
                sum69 = 0.0
                sum70 = 0.0
                sum71 = 0.0
                sum72 = 0.0
                sum73 = 0.0
                sum74 = 0.0
                sum75 = 0.0
                sum76 = 0.0
                sum77 = 0.0
                sum78 = 0.0
                sum79 = 0.0
                for a in range(K):
                    sum80 = 0.0
                    sum81 = 0.0
                    sum82 = 0.0
                    for d in range(K):
                        sum80 += work[o_M + c*K + d]*work[o_Q1_hat + a*K + d]
                        sum81 += work[o_M + c*K + d]*work[o_d_Q1_hat + a*K + d]
                        sum82 += work[o_Q1_hat + a*K + d]*work[o_d_M + c*K + d]
                    sum50 += work[o_P + a*K + b]*work[o_adjoint + a]*work[o_d_P + a*K + c]
                    sum51 += work[o_P + a*K + c]*work[o_adjoint + a]*work[o_d_P + a*K + b]
                    sum52 += work[o_P + a*K + b]*work[o_P + a*K + c]*work[o_d_adjoint + a]
                    sum53 += sum80*work[o_d_M + a*K + b]
                    sum54 += sum81*work[o_M + a*K + b]
                    sum55 += sum82*work[o_M + a*K + b]
                    sum56 += work[o_M + a*K + b]*work[o_d_psi_hat_1 + a]
                    sum57 += work[o_d_M + a*K + b]*work[o_psi_hat_1 + a]
                    sum58 += work[o_M + a*K + c]*work[o_psi_hat_1 + a]
                    sum59 += work[o_M + a*K + c]*work[o_d_psi_hat_1 + a]
                    sum60 += work[o_d_M + a*K + c]*work[o_psi_hat_1 + a]
                    sum61 += work[o_M + a*K + b]*work[o_psi_hat_1 + a]
                    sum62 += work[o_M + a*K + b]*work[o_d_psi_hat_2 + a]
                    sum63 += work[o_d_M + a*K + b]*work[o_psi_hat_2 + a]
                    sum64 += work[o_M + a*K + c]*work[o_psi_hat_2 + a]
                    sum65 += work[o_M + a*K + c]*work[o_d_psi_hat_2 + a]
                    sum66 += work[o_d_M + a*K + c]*work[o_psi_hat_2 + a]
                    sum67 += work[o_M + a*K + b]*work[o_psi_hat_2 + a]
                    sum68 += work[o_M + a*K + b]*work[o_d_psi_hat_3 + a]
                    sum69 += work[o_d_M + a*K + b]*work[o_psi_hat_3 + a]
                    sum70 += work[o_M + a*K + c]*work[o_psi_hat_3 + a]
                    sum71 += work[o_M + a*K + c]*work[o_d_psi_hat_3 + a]
                    sum72 += work[o_d_M + a*K + c]*work[o_psi_hat_3 + a]
                    sum73 += work[o_M + a*K + b]*work[o_psi_hat_3 + a]
                    sum74 += work[o_M + a*K + b]*work[o_d_psi_hat_4 + a]
                    sum75 += work[o_d_M + a*K + b]*work[o_psi_hat_4 + a]
                    sum76 += work[o_M + a*K + c]*work[o_psi_hat_4 + a]
                    sum77 += work[o_M + a*K + c]*work[o_d_psi_hat_4 + a]
                    sum78 += work[o_d_M + a*K + c]*work[o_psi_hat_4 + a]
                    sum79 += work[o_M + a*K + b]*work[o_psi_hat_4 + a]
                work[o_d_residual_Q1 + b*K + c] = -sum50 - sum51 - sum52 - sum58*(sum56 + sum57) - sum61*(sum59 + sum60) - sum64*(sum62 + sum63) - sum67*(sum65 + sum66) - sum70*(sum68 + sum69) - sum73*(sum71 + sum72) - sum76*(sum74 + sum75) - sum79*(sum77 + sum78) + work[o_d_Q1 + b*K + c] - (sum53 + sum54 + sum55)/beta
                work[o_d_residual_V1 + b*K + c] = work[o_d_V1 + b*K + c] - work[o_d_M + b*K + c]/beta
        for row in range(first.shape[0]):
            matrix[row, column] = work[o_d_residual_adjoint + first[row]]


@njit(cache=True, error_model="numpy", nogil=True)
def observables(table, fraction, parameters, work, out):
    """out = (test error, training error, free energy)."""
    alpha = parameters[0]
    beta = parameters[1]
    inverse_dimension = parameters[4]
    K = fraction.shape[0]
    N = table.shape[0]
    o_m = K
    o_Q1 = 2*K
    o_T = 2*K + K*K
    o_V1 = 3*K + K*K
    o_psi_1 = 3*K + 2*K*K
    o_psi_2 = 4*K + 2*K*K
    o_psi_3 = 5*K + 2*K*K
    o_psi_4 = 6*K + 2*K*K
    o_zeta = 7*K + 2*K*K
    o_avg_M = 32*K + 8*K*K
    o_avg_gg = 32*K + 8*K*K + 3*N
    o_Delta = 32*K + 8*K*K + 35*N
    o_M = 32*K + 8*K*K + 36*N
    o_Q1_hat = 32*K + 10*K*K + 36*N
    o_Q2 = 32*K + 11*K*K + 36*N
    o_Q2_hat = 33*K + 11*K*K + 36*N
    o_V = 34*K + 12*K*K + 36*N
    o_V1_hat = 34*K + 12*K*K + 37*N
    o_V2 = 34*K + 13*K*K + 37*N
    o_V2_hat = 35*K + 13*K*K + 37*N
    o_mean = 36*K + 13*K*K + 37*N
    o_psi_hat_1 = 36*K + 13*K*K + 38*N
    o_psi_hat_2 = 37*K + 13*K*K + 38*N
    o_psi_hat_3 = 38*K + 13*K*K + 38*N
    o_psi_hat_4 = 39*K + 13*K*K + 38*N
    o_slope_1 = 40*K + 13*K*K + 38*N
    o_slope_2 = 40*K + 13*K*K + 39*N
    o_slope_3 = 40*K + 13*K*K + 40*N
    o_slope_4 = 40*K + 13*K*K + 41*N
    o_zeta_hat = 40*K + 13*K*K + 42*N
    EO_0 = 0.0
    EO_1 = 0.0
    EO_2 = 0.0
    for node in range(N):
        Delta_here = work[o_Delta + node]
        V_here = work[o_V + node]
        avg_M_here = work[o_avg_M + node]
        avg_gg_here = work[o_avg_gg + node]
        mean_here = work[o_mean + node]
        nu0_here = table[node, 2]
        nu1_1_here = table[node, 3]
        nu1_2_here = table[node, 4]
        nu1_3_here = table[node, 5]
        nu1_4_here = table[node, 6]
        nu2sq_here = table[node, 7]
        slope_1_here = work[o_slope_1 + node]
        slope_2_here = work[o_slope_2 + node]
        slope_3_here = work[o_slope_3 + node]
        slope_4_here = work[o_slope_4 + node]
        weight_here = table[node, 1]
        w0 = weight_here*(Delta_here + nu2sq_here + ((-mean_here + nu0_here)*(-mean_here + nu0_here)) + ((nu1_1_here - slope_1_here)*(nu1_1_here - slope_1_here)) + ((nu1_2_here - slope_2_here)*(nu1_2_here - slope_2_here)) + ((nu1_3_here - slope_3_here)*(nu1_3_here - slope_3_here)) + ((nu1_4_here - slope_4_here)*(nu1_4_here - slope_4_here)))
        w1 = weight_here*(-(1.0/2.0)*V_here*avg_gg_here + avg_M_here)
        w2 = weight_here*avg_M_here
        EO_0 += w0
        EO_1 += w1
        EO_2 += w2
    out[0] = EO_0
    out[1] = EO_1
    sum1 = 0.0
    sum2 = 0.0
    sum3 = 0.0
    sum4 = 0.0
    sum5 = 0.0
    sum6 = 0.0
    sum7 = 0.0
    sum8 = 0.0
    sum9 = 0.0
    sum10 = 0.0
    sum11 = 0.0
    for b in range(K):
        sum12 = 0.0
        sum13 = 0.0
        sum14 = 0.0
        sum15 = 0.0
        for a in range(K):
            sum2 += -work[o_Q1 + a*K + b]*work[o_V1_hat + a*K + b] + work[o_Q1_hat + a*K + b]*work[o_V1 + a*K + b]
            sum9 += work[o_M + b*K + a]*work[o_Q1_hat + b*K + a]
            sum12 += work[o_M + b*K + a]*work[o_psi_hat_1 + a]
            sum13 += work[o_M + b*K + a]*work[o_psi_hat_2 + a]
            sum14 += work[o_M + b*K + a]*work[o_psi_hat_3 + a]
            sum15 += work[o_M + b*K + a]*work[o_psi_hat_4 + a]
        sum1 += -work[o_Q2 + b]*work[o_V2_hat + b] + work[o_Q2_hat + b]*work[o_V2 + b]
        sum3 += work[o_T + b]*(work[o_zeta_hat + b]*work[o_zeta_hat + b])
        sum4 += sum12*work[o_psi_hat_1 + b]
        sum5 += sum13*work[o_psi_hat_2 + b]
        sum6 += sum14*work[o_psi_hat_3 + b]
        sum7 += sum15*work[o_psi_hat_4 + b]
        sum8 += work[o_Q2_hat + b]*work[o_T + b]
        sum10 += work[o_psi_1 + b]*work[o_psi_hat_1 + b] + work[o_psi_2 + b]*work[o_psi_hat_2 + b] + work[o_psi_3 + b]*work[o_psi_hat_3 + b] + work[o_psi_4 + b]*work[o_psi_hat_4 + b] + work[o_zeta + b]*work[o_zeta_hat + b]
        sum11 += ((1.0/2.0))*(work[o_m + b]*work[o_m + b])/work[o_T + b]
    out[2] = alpha*EO_2 + beta*inverse_dimension*sum11 + beta*(((1.0/2.0))*sum1 + sum10 + ((1.0/2.0))*sum2 - (1.0/2.0)*sum3 - (1.0/2.0)*sum4 - (1.0/2.0)*sum5 - (1.0/2.0)*sum6 - (1.0/2.0)*sum7 - (1.0/2.0)*(sum8 + sum9)/beta)


def _worse(worst, difference, scale):
    """The larger of worst and this residual relative to its scale; infinite for nan."""
    difference, scale = np.max(np.abs(difference)), np.max(scale)
    if not np.isfinite(difference):
        return np.inf
    return worst if difference == 0.0 else max(worst, float(difference/scale))


def check(table, fraction, parameters, work):
    """Worst residual over all equations, each relative to the sum of its terms in absolute value."""
    N, K = table.shape[0], fraction.shape[0]
    alpha, beta, ridge, noise, inverse_dimension = parameters.tolist()
    identity = np.eye(K)
    columns = np.ascontiguousarray(table.T)
    kappa = columns[0]
    weight = columns[1]
    nu0 = columns[2]
    nu1_1 = columns[3]
    nu1_2 = columns[4]
    nu1_3 = columns[5]
    nu1_4 = columns[6]
    nu2sq = columns[7]
    mu0 = columns[8 + 0*K:8 + 0*K + K]
    mu1 = columns[8 + 1*K:8 + 1*K + K]
    mu2sq = columns[8 + 2*K:8 + 2*K + K]
    Q2 = work[32*K + 11*K*K + 36*N:32*K + 11*K*K + 36*N + K]
    V2 = work[34*K + 13*K*K + 37*N:34*K + 13*K*K + 37*N + K]
    zeta_hat = work[40*K + 13*K*K + 42*N:40*K + 13*K*K + 42*N + K]
    Q1_hat = work[32*K + 10*K*K + 36*N:32*K + 10*K*K + 36*N + K*K].reshape(K, K)
    Q2_hat = work[33*K + 11*K*K + 36*N:33*K + 11*K*K + 36*N + K]
    V1_hat = work[34*K + 12*K*K + 37*N:34*K + 12*K*K + 37*N + K*K].reshape(K, K)
    V2_hat = work[35*K + 13*K*K + 37*N:35*K + 13*K*K + 37*N + K]
    psi_hat_1 = work[36*K + 13*K*K + 38*N:36*K + 13*K*K + 38*N + K]
    psi_hat_2 = work[37*K + 13*K*K + 38*N:37*K + 13*K*K + 38*N + K]
    psi_hat_3 = work[38*K + 13*K*K + 38*N:38*K + 13*K*K + 38*N + K]
    psi_hat_4 = work[39*K + 13*K*K + 38*N:39*K + 13*K*K + 38*N + K]
    P = work[32*K + 9*K*K + 36*N:32*K + 9*K*K + 36*N + K*K].reshape(K, K)
    M = work[32*K + 8*K*K + 36*N:32*K + 8*K*K + 36*N + K*K].reshape(K, K)
    S = work[34*K + 11*K*K + 36*N:34*K + 11*K*K + 36*N + K*K].reshape(K, K)
    adjoint = work[0:0 + K]
    m = work[K:K + K]
    Q1 = work[2*K:2*K + K*K].reshape(K, K)
    T = work[2*K + K*K:2*K + K*K + K]
    V1 = work[3*K + K*K:3*K + K*K + K*K].reshape(K, K)
    psi_1 = work[3*K + 2*K*K:3*K + 2*K*K + K]
    psi_2 = work[4*K + 2*K*K:4*K + 2*K*K + K]
    psi_3 = work[5*K + 2*K*K:5*K + 2*K*K + K]
    psi_4 = work[6*K + 2*K*K:6*K + 2*K*K + K]
    zeta = work[7*K + 2*K*K:7*K + 2*K*K + K]
    avg_M = work[32*K + 8*K*K:32*K + 8*K*K + N]
    avg_g = work[32*K + 8*K*K + N:32*K + 8*K*K + N + N]
    avg_gg = work[32*K + 8*K*K + 3*N:32*K + 8*K*K + 3*N + N]
    avg_h = work[32*K + 8*K*K + 2*N:32*K + 8*K*K + 2*N + N]
    avg_t_1g = work[32*K + 8*K*K + 9*N:32*K + 8*K*K + 9*N + N]
    avg_t_2g = work[32*K + 8*K*K + 10*N:32*K + 8*K*K + 10*N + N]
    avg_t_3g = work[32*K + 8*K*K + 11*N:32*K + 8*K*K + 11*N + N]
    avg_t_4g = work[32*K + 8*K*K + 12*N:32*K + 8*K*K + 12*N + N]
    V = np.einsum('b,bn->n', V2, mu2sq) + np.einsum('cn->n', np.einsum('bc,bn,cn->cn', V1, mu1, mu1))
    slope_1 = np.einsum('b,bn->n', psi_1, mu1)
    slope_2 = np.einsum('b,bn->n', psi_2, mu1)
    slope_3 = np.einsum('b,bn->n', psi_3, mu1)
    slope_4 = np.einsum('b,bn->n', psi_4, mu1)
    mean = np.einsum('bn->n', np.einsum('b,bn->bn', m, mu0) + np.einsum('n,b,bn->bn', kappa, zeta, mu1))
    Delta = np.einsum('b,bn->n', Q2, mu2sq) + np.einsum('cn->n', np.einsum('bc,bn,cn->cn', Q1, mu1, mu1)) - slope_1**2 - slope_2**2 - slope_3**2 - slope_4**2
    worst = 0.0
    scale_Q2 = abs(adjoint)
    worst = _worse(worst, Q2 - adjoint, scale_Q2)
    scale_V2 = abs(1.0/beta)*abs(T)
    worst = _worse(worst, V2 - 1.0/beta*T, scale_V2)
    scale_zeta_hat = alpha*abs(1.0/beta)*np.einsum('n,n,n,bn->b', weight, avg_gg**0.5, abs(kappa), abs(mu1))
    worst = _worse(worst, zeta_hat - alpha/beta*np.einsum('n,n,n,bn->b', weight, kappa, avg_g, mu1), scale_zeta_hat)
    scale_Q1_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn,cn->bc', weight, abs(avg_gg), abs(mu1), abs(mu1))
    worst = _worse(worst, Q1_hat - alpha/beta*np.einsum('n,n,bn,cn->bc', weight, avg_gg, mu1, mu1), scale_Q1_hat)
    scale_Q2_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn->b', weight, abs(avg_gg), abs(mu2sq))
    worst = _worse(worst, Q2_hat - alpha/beta*np.einsum('n,n,bn->b', weight, avg_gg, mu2sq), scale_Q2_hat)
    scale_V1_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn,cn->bc', weight, abs(avg_h), abs(mu1), abs(mu1))
    worst = _worse(worst, V1_hat - alpha/beta*np.einsum('n,n,bn,cn->bc', weight, avg_h, mu1, mu1), scale_V1_hat)
    scale_V2_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn->b', weight, abs(avg_h), abs(mu2sq))
    worst = _worse(worst, V2_hat - alpha/beta*np.einsum('n,n,bn->b', weight, avg_h, mu2sq), scale_V2_hat)
    scale_psi_hat_1 = alpha*abs(1.0/beta)*np.einsum('n,n,bn->b', weight, avg_gg**0.5 + abs(avg_h)*abs(slope_1), abs(mu1))
    worst = _worse(worst, psi_hat_1 - alpha/beta*np.einsum('n,n,bn->b', weight, avg_h*slope_1 + avg_t_1g, mu1), scale_psi_hat_1)
    scale_psi_hat_2 = alpha*abs(1.0/beta)*np.einsum('n,n,bn->b', weight, avg_gg**0.5 + abs(avg_h)*abs(slope_2), abs(mu1))
    worst = _worse(worst, psi_hat_2 - alpha/beta*np.einsum('n,n,bn->b', weight, avg_h*slope_2 + avg_t_2g, mu1), scale_psi_hat_2)
    scale_psi_hat_3 = alpha*abs(1.0/beta)*np.einsum('n,n,bn->b', weight, avg_gg**0.5 + abs(avg_h)*abs(slope_3), abs(mu1))
    worst = _worse(worst, psi_hat_3 - alpha/beta*np.einsum('n,n,bn->b', weight, avg_h*slope_3 + avg_t_3g, mu1), scale_psi_hat_3)
    scale_psi_hat_4 = alpha*abs(1.0/beta)*np.einsum('n,n,bn->b', weight, avg_gg**0.5 + abs(avg_h)*abs(slope_4), abs(mu1))
    worst = _worse(worst, psi_hat_4 - alpha/beta*np.einsum('n,n,bn->b', weight, avg_h*slope_4 + avg_t_4g, mu1), scale_psi_hat_4)
    scale_P = np.einsum('ce,be->bc', np.einsum('c,ce->ce', abs(T), np.einsum('ec->ce', scale_V1_hat)) + identity, abs(P)) + identity
    worst = _worse(worst, np.einsum('ce,be->bc', np.einsum('c,ce->ce', T, np.einsum('ec->ce', V1_hat)) + identity, P) - identity, scale_P)
    scale_M = np.einsum('b,bc->bc', abs(T), abs(P))
    worst = _worse(worst, M - np.einsum('b,bc->bc', T, P), scale_M)
    scale_S = np.einsum('be,ce->bc', abs(P), np.einsum('ec->ce', scale_V1_hat))
    worst = _worse(worst, S - np.einsum('be,ce->bc', P, np.einsum('ec->ce', V1_hat)), scale_S)
    scale_adjoint = np.einsum('ab,a->b', abs(np.einsum('ba->ab', P)), scale_psi_hat_1)**2 + np.einsum('ab,a->b', abs(np.einsum('ba->ab', P)), scale_psi_hat_2)**2 + np.einsum('ab,a->b', abs(np.einsum('ba->ab', P)), scale_psi_hat_3)**2 + np.einsum('ab,a->b', abs(np.einsum('ba->ab', P)), scale_psi_hat_4)**2 + zeta_hat**2 + abs(1.0/beta)*np.einsum('ab,ab->b', abs(np.einsum('ba->ab', P)), np.einsum('bc,ac->ab', abs(P), scale_Q1_hat)) + abs(1.0/beta)*scale_Q2_hat + inverse_dimension*(m**2)*abs(1.0/T**2) + beta*abs(1.0/T**2)*abs(adjoint)*abs(fraction) + np.einsum('ab,a->b', S**2, abs(adjoint))
    worst = _worse(worst, beta*adjoint*fraction/T**2 - np.einsum('a,ab->b', psi_hat_1, np.einsum('ba->ab', P))**2 - np.einsum('a,ab->b', psi_hat_2, np.einsum('ba->ab', P))**2 - np.einsum('a,ab->b', psi_hat_3, np.einsum('ba->ab', P))**2 - np.einsum('a,ab->b', psi_hat_4, np.einsum('ba->ab', P))**2 - zeta_hat**2 - np.einsum('ab,a->b', S**2, adjoint) - 1.0/beta*np.einsum('ab,ab->b', np.einsum('bc,ac->ab', P, Q1_hat), np.einsum('ba->ab', P)) - 1.0/beta*Q2_hat - inverse_dimension*(m**2)/T**2, scale_adjoint)
    scale_m = alpha*np.einsum('n,n,bn->b', weight, avg_gg**0.5, abs(mu0)) + inverse_dimension*beta*abs(1.0/T)*abs(m)
    worst = _worse(worst, inverse_dimension*beta*m/T - alpha*np.einsum('n,n,bn->b', weight, avg_g, mu0), scale_m)
    scale_Q1 = abs(1.0/beta)*np.einsum('ac,ab->bc', np.einsum('cd,ad->ac', scale_M, scale_Q1_hat), scale_M) + np.einsum('b,c->bc', np.einsum('a,ab->b', scale_psi_hat_1, scale_M), np.einsum('a,ac->c', scale_psi_hat_1, scale_M)) + np.einsum('b,c->bc', np.einsum('a,ab->b', scale_psi_hat_2, scale_M), np.einsum('a,ac->c', scale_psi_hat_2, scale_M)) + np.einsum('b,c->bc', np.einsum('a,ab->b', scale_psi_hat_3, scale_M), np.einsum('a,ac->c', scale_psi_hat_3, scale_M)) + np.einsum('b,c->bc', np.einsum('a,ab->b', scale_psi_hat_4, scale_M), np.einsum('a,ac->c', scale_psi_hat_4, scale_M)) + np.einsum('a,ab,ac->bc', abs(adjoint), abs(P), abs(P))
    worst = _worse(worst, Q1 - np.einsum('a,ab,ac->bc', adjoint, P, P) - 1.0/beta*np.einsum('ac,ab->bc', np.einsum('cd,ad->ac', M, Q1_hat), M) - np.einsum('b,c->bc', np.einsum('a,ab->b', psi_hat_1, M), np.einsum('a,ac->c', psi_hat_1, M)) - np.einsum('b,c->bc', np.einsum('a,ab->b', psi_hat_2, M), np.einsum('a,ac->c', psi_hat_2, M)) - np.einsum('b,c->bc', np.einsum('a,ab->b', psi_hat_3, M), np.einsum('a,ac->c', psi_hat_3, M)) - np.einsum('b,c->bc', np.einsum('a,ab->b', psi_hat_4, M), np.einsum('a,ac->c', psi_hat_4, M)), scale_Q1)
    scale_T = beta*abs(1.0/(ridge + V2_hat + np.einsum('bb->b', S)))*abs(fraction)
    worst = _worse(worst, T - beta*fraction/(ridge + V2_hat + np.einsum('bb->b', S)), scale_T)
    scale_V1 = abs(1.0/beta)*scale_M
    worst = _worse(worst, V1 - 1.0/beta*M, scale_V1)
    scale_psi_1 = np.einsum('a,ab->b', scale_psi_hat_1, scale_M)
    worst = _worse(worst, psi_1 - np.einsum('a,ab->b', psi_hat_1, M), scale_psi_1)
    scale_psi_2 = np.einsum('a,ab->b', scale_psi_hat_2, scale_M)
    worst = _worse(worst, psi_2 - np.einsum('a,ab->b', psi_hat_2, M), scale_psi_2)
    scale_psi_3 = np.einsum('a,ab->b', scale_psi_hat_3, scale_M)
    worst = _worse(worst, psi_3 - np.einsum('a,ab->b', psi_hat_3, M), scale_psi_3)
    scale_psi_4 = np.einsum('a,ab->b', scale_psi_hat_4, scale_M)
    worst = _worse(worst, psi_4 - np.einsum('a,ab->b', psi_hat_4, M), scale_psi_4)
    scale_zeta = scale_T*scale_zeta_hat
    worst = _worse(worst, zeta - T*zeta_hat, scale_zeta)
    return worst
