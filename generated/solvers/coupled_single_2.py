"""Saddle-point equations of any convex loss, 2 direction(s) beside the spike, one block, K = 1  [CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
    1. nonlinear in adjoint, m, Q1, T, V1, psi_1, psi_2, zeta; then
       Q2, slope_1, slope_2, V2, mean, Delta, V, avg_g, avg_gg, avg_h, avg_t_1g, avg_t_2g, zeta_hat, Q1_hat, Q2_hat, V1_hat, V2_hat, psi_hat_1, psi_hat_2, P, M, S
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
    zeta_hat: d/dzeta
    zeta: d/dzeta_hat
    Q1_hat: d/dV1
    Q2_hat: d/dV2
    Q1: d/dV1_hat
    Q2: d/dV2_hat
    m: d/dm
Generated; do not edit. Signature 3fe97bd73767485e.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np
from numba import njit

LOSS = "coupled"
SIGNATURE = "3fe97bd73767485e2f78beb9e19fc5a3a42f9eb0d0d15c5daa1512bfc810801c"


UNKNOWNS = ('adjoint', 'm', 'Q1', 'T', 'V1', 'psi_1', 'psi_2', 'zeta')
AVERAGES = ('avg_M', 'avg_g', 'avg_h', 'avg_gg', 'avg_gh', 'avg_hx', 'avg_ggh', 'avg_ghx', 'avg_hxx', 'avg_t_1g', 'avg_t_2g', 'avg_t_1h', 'avg_t_2h', 'avg_t_1gh', 'avg_t_2gh', 'avg_t_1hx', 'avg_t_2hx', 'avg_t_1t_1h', 'avg_t_1t_2h', 'avg_t_2t_2h')
SLOPES = ('slope_1', 'slope_2')


def workspace_size(K, N):
    """Length of the workspace for K blocks and N nodes."""
    return 56 + 35*N


def layout(K, N):
    """Start and shape of every unknown in the workspace."""
    return {
        "adjoint": (0, (K,)),
        "m": (1, (K,)),
        "Q1": (2, (K, K)),
        "T": (3, (K,)),
        "V1": (4, (K, K)),
        "psi_1": (5, (K,)),
        "psi_2": (6, (K,)),
        "zeta": (7, (K,)),
        "d_adjoint": (8, (K,)),
        "d_m": (9, (K,)),
        "d_Q1": (10, (K, K)),
        "d_T": (11, (K,)),
        "d_V1": (12, (K, K)),
        "d_psi_1": (13, (K,)),
        "d_psi_2": (14, (K,)),
        "d_zeta": (15, (K,)),
        "residual_adjoint": (16, (K,)),
        "residual_m": (17, (K,)),
        "residual_Q1": (18, (K, K)),
        "residual_T": (19, (K,)),
        "residual_V1": (20, (K, K)),
        "residual_psi_1": (21, (K,)),
        "residual_psi_2": (22, (K,)),
        "residual_zeta": (23, (K,)),
        "d_residual_adjoint": (24, (K,)),
        "d_residual_m": (25, (K,)),
        "d_residual_Q1": (26, (K, K)),
        "d_residual_T": (27, (K,)),
        "d_residual_V1": (28, (K, K)),
        "d_residual_psi_1": (29, (K,)),
        "d_residual_psi_2": (30, (K,)),
        "d_residual_zeta": (31, (K,)),
        "avg_M": (32, (N,)),
        "avg_g": (32 + N, (N,)),
        "avg_h": (32 + 2*N, (N,)),
        "avg_gg": (32 + 3*N, (N,)),
        "avg_gh": (32 + 4*N, (N,)),
        "avg_hx": (32 + 5*N, (N,)),
        "avg_ggh": (32 + 6*N, (N,)),
        "avg_ghx": (32 + 7*N, (N,)),
        "avg_hxx": (32 + 8*N, (N,)),
        "avg_t_1g": (32 + 9*N, (N,)),
        "avg_t_2g": (32 + 10*N, (N,)),
        "avg_t_1h": (32 + 11*N, (N,)),
        "avg_t_2h": (32 + 12*N, (N,)),
        "avg_t_1gh": (32 + 13*N, (N,)),
        "avg_t_2gh": (32 + 14*N, (N,)),
        "avg_t_1hx": (32 + 15*N, (N,)),
        "avg_t_2hx": (32 + 16*N, (N,)),
        "avg_t_1t_1h": (32 + 17*N, (N,)),
        "avg_t_1t_2h": (32 + 18*N, (N,)),
        "avg_t_2t_2h": (32 + 19*N, (N,)),
        "Delta": (32 + 20*N, (N,)),
        "M": (32 + 21*N, (K, K)),
        "P": (33 + 21*N, (K, K)),
        "Q1_hat": (34 + 21*N, (K, K)),
        "Q2": (35 + 21*N, (K,)),
        "Q2_hat": (36 + 21*N, (K,)),
        "S": (37 + 21*N, (K, K)),
        "V": (38 + 21*N, (N,)),
        "V1_hat": (38 + 22*N, (K, K)),
        "V2": (39 + 22*N, (K,)),
        "V2_hat": (40 + 22*N, (K,)),
        "mean": (41 + 22*N, (N,)),
        "psi_hat_1": (41 + 23*N, (K,)),
        "psi_hat_2": (42 + 23*N, (K,)),
        "slope_1": (43 + 23*N, (N,)),
        "slope_2": (43 + 24*N, (N,)),
        "zeta_hat": (43 + 25*N, (K,)),
        "d_Delta": (44 + 25*N, (N,)),
        "d_M": (44 + 26*N, (K, K)),
        "d_P": (45 + 26*N, (K, K)),
        "d_Q1_hat": (46 + 26*N, (K, K)),
        "d_Q2": (47 + 26*N, (K,)),
        "d_Q2_hat": (48 + 26*N, (K,)),
        "d_S": (49 + 26*N, (K, K)),
        "d_V": (50 + 26*N, (N,)),
        "d_V1_hat": (50 + 27*N, (K, K)),
        "d_V2": (51 + 27*N, (K,)),
        "d_V2_hat": (52 + 27*N, (K,)),
        "d_avg_g": (53 + 27*N, (N,)),
        "d_avg_gg": (53 + 28*N, (N,)),
        "d_avg_h": (53 + 29*N, (N,)),
        "d_avg_t_1g": (53 + 30*N, (N,)),
        "d_avg_t_2g": (53 + 31*N, (N,)),
        "d_mean": (53 + 32*N, (N,)),
        "d_psi_hat_1": (53 + 33*N, (K,)),
        "d_psi_hat_2": (54 + 33*N, (K,)),
        "d_slope_1": (55 + 33*N, (N,)),
        "d_slope_2": (55 + 34*N, (N,)),
        "d_zeta_hat": (55 + 35*N, (K,)),
    }


@njit(cache=True, error_model="numpy", nogil=True)
def fields(table, fraction, parameters, work):
    """Everything up to the law of the output, from the unknowns in the workspace."""
    beta = parameters[1]
    K = 1
    N = table.shape[0]
    o_adjoint = 0
    o_m = 1
    o_Q1 = 2
    o_T = 3
    o_V1 = 4
    o_psi_1 = 5
    o_psi_2 = 6
    o_zeta = 7
    o_Delta = 32 + 20*N
    o_Q2 = 35 + 21*N
    o_V = 38 + 21*N
    o_V2 = 39 + 22*N
    o_mean = 41 + 22*N
    o_slope_1 = 43 + 23*N
    o_slope_2 = 43 + 24*N
    work[o_Q2] = work[o_adjoint]
    work[o_V2] = work[o_T]/beta
    for node in range(N):
        mu0_here = table[node, 6]
        mu1_here = table[node, 7]
        mu2sq_here = table[node, 8]
        kappa_here = table[node, 0]
        slope_1_here = mu1_here*work[o_psi_1]
        work[o_slope_1 + node] = slope_1_here
        slope_2_here = mu1_here*work[o_psi_2]
        work[o_slope_2 + node] = slope_2_here
        mean_here = kappa_here*mu1_here*work[o_zeta] + mu0_here*work[o_m]
        work[o_mean + node] = mean_here
        Delta_here = (mu1_here*mu1_here)*work[o_Q1] + mu2sq_here*work[o_Q2] - (slope_1_here*slope_1_here) - (slope_2_here*slope_2_here)
        work[o_Delta + node] = Delta_here
        V_here = (mu1_here*mu1_here)*work[o_V1] + mu2sq_here*work[o_V2]
        work[o_V + node] = V_here


@njit(cache=True, error_model="numpy", nogil=True)
def residual(table, fraction, parameters, work):
    """The residuals of the unknowns, given the averages over the output."""
    alpha = parameters[0]
    beta = parameters[1]
    ridge = parameters[2]
    inverse_dimension = parameters[4]
    K = 1
    N = table.shape[0]
    o_adjoint = 0
    o_m = 1
    o_Q1 = 2
    o_T = 3
    o_V1 = 4
    o_psi_1 = 5
    o_psi_2 = 6
    o_zeta = 7
    o_residual_adjoint = 16
    o_residual_m = 17
    o_residual_Q1 = 18
    o_residual_T = 19
    o_residual_V1 = 20
    o_residual_psi_1 = 21
    o_residual_psi_2 = 22
    o_residual_zeta = 23
    o_avg_g = 32 + N
    o_avg_h = 32 + 2*N
    o_avg_gg = 32 + 3*N
    o_avg_t_1g = 32 + 9*N
    o_avg_t_2g = 32 + 10*N
    o_M = 32 + 21*N
    o_P = 33 + 21*N
    o_Q1_hat = 34 + 21*N
    o_Q2_hat = 36 + 21*N
    o_S = 37 + 21*N
    o_V1_hat = 38 + 22*N
    o_V2_hat = 40 + 22*N
    o_psi_hat_1 = 41 + 23*N
    o_psi_hat_2 = 42 + 23*N
    o_slope_1 = 43 + 23*N
    o_slope_2 = 43 + 24*N
    o_zeta_hat = 43 + 25*N
    ER_0 = 0.0
    ER_1 = 0.0
    ER_2 = 0.0
    ER_3 = 0.0
    ER_4 = 0.0
    ER_5 = 0.0
    ER_6 = 0.0
    ER_7 = 0.0
    for node in range(N):
        avg_g_here = work[o_avg_g + node]
        avg_gg_here = work[o_avg_gg + node]
        avg_h_here = work[o_avg_h + node]
        avg_t_1g_here = work[o_avg_t_1g + node]
        avg_t_2g_here = work[o_avg_t_2g + node]
        mu0_here = table[node, 6]
        mu1_here = table[node, 7]
        mu2sq_here = table[node, 8]
        slope_1_here = work[o_slope_1 + node]
        slope_2_here = work[o_slope_2 + node]
        kappa_here = table[node, 0]
        weight_here = table[node, 1]
        x0 = (mu1_here*mu1_here)
        w0 = weight_here*avg_g_here*kappa_here*mu1_here
        w1 = weight_here*avg_gg_here*x0
        w2 = weight_here*avg_gg_here*mu2sq_here
        w3 = weight_here*avg_h_here*x0
        w4 = weight_here*avg_h_here*mu2sq_here
        w5 = weight_here*mu1_here*(avg_h_here*slope_1_here + avg_t_1g_here)
        w6 = weight_here*mu1_here*(avg_h_here*slope_2_here + avg_t_2g_here)
        w7 = weight_here*avg_g_here*mu0_here
        ER_0 += w0
        ER_1 += w1
        ER_2 += w2
        ER_3 += w3
        ER_4 += w4
        ER_5 += w5
        ER_6 += w6
        ER_7 += w7
    work[o_zeta_hat] = alpha*ER_0/beta
    work[o_Q1_hat] = alpha*ER_1/beta
    work[o_Q2_hat] = alpha*ER_2/beta
    work[o_V1_hat] = alpha*ER_3/beta
    work[o_V2_hat] = alpha*ER_4/beta
    work[o_psi_hat_1] = alpha*ER_5/beta
    work[o_psi_hat_2] = alpha*ER_6/beta
    work[o_P] = 1.0/(work[o_T]*work[o_V1_hat] + 1.0)
    work[o_M] = work[o_P]*work[o_T]
    work[o_S] = work[o_P]*work[o_V1_hat]
    work[o_residual_adjoint] = beta*work[o_adjoint]*fraction[0]/(work[o_T]*work[o_T]) - inverse_dimension*(work[o_m]*work[o_m])/(work[o_T]*work[o_T]) - (work[o_P]*work[o_P])*(work[o_psi_hat_1]*work[o_psi_hat_1]) - (work[o_P]*work[o_P])*(work[o_psi_hat_2]*work[o_psi_hat_2]) - (work[o_S]*work[o_S])*work[o_adjoint] - (work[o_zeta_hat]*work[o_zeta_hat]) - (work[o_P]*work[o_P])*work[o_Q1_hat]/beta - work[o_Q2_hat]/beta
    work[o_residual_m] = -alpha*ER_7 + beta*inverse_dimension*work[o_m]/work[o_T]
    work[o_residual_Q1] = -(work[o_M]*work[o_M])*(work[o_psi_hat_1]*work[o_psi_hat_1]) - (work[o_M]*work[o_M])*(work[o_psi_hat_2]*work[o_psi_hat_2]) - (work[o_P]*work[o_P])*work[o_adjoint] + work[o_Q1] - (work[o_M]*work[o_M])*work[o_Q1_hat]/beta
    work[o_residual_T] = -beta*fraction[0]/(ridge + work[o_S] + work[o_V2_hat]) + work[o_T]
    work[o_residual_V1] = work[o_V1] - work[o_M]/beta
    work[o_residual_psi_1] = -work[o_M]*work[o_psi_hat_1] + work[o_psi_1]
    work[o_residual_psi_2] = -work[o_M]*work[o_psi_hat_2] + work[o_psi_2]
    work[o_residual_zeta] = -work[o_T]*work[o_zeta_hat] + work[o_zeta]


@njit(cache=True, error_model="numpy", nogil=True)
def jacobian(table, fraction, parameters, work, first, second, matrix):
    """matrix[i, k] = d residual(first[i])/d unknown(first[k] and second[k]): the two members of a symmetric pair."""
    alpha = parameters[0]
    beta = parameters[1]
    ridge = parameters[2]
    inverse_dimension = parameters[4]
    K = 1
    N = table.shape[0]
    o_adjoint = 0
    o_m = 1
    o_T = 3
    o_d_adjoint = 8
    o_d_m = 9
    o_d_Q1 = 10
    o_d_T = 11
    o_d_V1 = 12
    o_d_psi_1 = 13
    o_d_psi_2 = 14
    o_d_zeta = 15
    o_d_residual_adjoint = 24
    o_d_residual_m = 25
    o_d_residual_Q1 = 26
    o_d_residual_T = 27
    o_d_residual_V1 = 28
    o_d_residual_psi_1 = 29
    o_d_residual_psi_2 = 30
    o_d_residual_zeta = 31
    o_avg_h = 32 + 2*N
    o_avg_gh = 32 + 4*N
    o_avg_hx = 32 + 5*N
    o_avg_ggh = 32 + 6*N
    o_avg_ghx = 32 + 7*N
    o_avg_hxx = 32 + 8*N
    o_avg_t_1h = 32 + 11*N
    o_avg_t_2h = 32 + 12*N
    o_avg_t_1gh = 32 + 13*N
    o_avg_t_2gh = 32 + 14*N
    o_avg_t_1hx = 32 + 15*N
    o_avg_t_2hx = 32 + 16*N
    o_avg_t_1t_1h = 32 + 17*N
    o_avg_t_1t_2h = 32 + 18*N
    o_avg_t_2t_2h = 32 + 19*N
    o_M = 32 + 21*N
    o_P = 33 + 21*N
    o_Q1_hat = 34 + 21*N
    o_S = 37 + 21*N
    o_V1_hat = 38 + 22*N
    o_V2_hat = 40 + 22*N
    o_psi_hat_1 = 41 + 23*N
    o_psi_hat_2 = 42 + 23*N
    o_slope_1 = 43 + 23*N
    o_slope_2 = 43 + 24*N
    o_zeta_hat = 43 + 25*N
    o_d_Delta = 44 + 25*N
    o_d_M = 44 + 26*N
    o_d_P = 45 + 26*N
    o_d_Q1_hat = 46 + 26*N
    o_d_Q2 = 47 + 26*N
    o_d_Q2_hat = 48 + 26*N
    o_d_S = 49 + 26*N
    o_d_V = 50 + 26*N
    o_d_V1_hat = 50 + 27*N
    o_d_V2 = 51 + 27*N
    o_d_V2_hat = 52 + 27*N
    o_d_avg_g = 53 + 27*N
    o_d_avg_gg = 53 + 28*N
    o_d_avg_h = 53 + 29*N
    o_d_avg_t_1g = 53 + 30*N
    o_d_avg_t_2g = 53 + 31*N
    o_d_mean = 53 + 32*N
    o_d_psi_hat_1 = 53 + 33*N
    o_d_psi_hat_2 = 54 + 33*N
    o_d_slope_1 = 55 + 33*N
    o_d_slope_2 = 55 + 34*N
    o_d_zeta_hat = 55 + 35*N
    for column in range(first.shape[0]):
        for i in range(K + K + K*K + K + K*K + K + K + K):
            work[o_d_adjoint + i] = 0.0
        work[o_d_adjoint + first[column]] = 1.0
        work[o_d_adjoint + second[column]] = 1.0
        work[o_d_Q2] = work[o_d_adjoint]
        work[o_d_V2] = work[o_d_T]/beta
        EJ_0 = 0.0
        EJ_1 = 0.0
        EJ_2 = 0.0
        EJ_3 = 0.0
        EJ_4 = 0.0
        EJ_5 = 0.0
        EJ_6 = 0.0
        EJ_7 = 0.0
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
            avg_t_2gh_here = work[o_avg_t_2gh + node]
            avg_t_2h_here = work[o_avg_t_2h + node]
            avg_t_2hx_here = work[o_avg_t_2hx + node]
            avg_t_2t_2h_here = work[o_avg_t_2t_2h + node]
            mu0_here = table[node, 6]
            mu1_here = table[node, 7]
            mu2sq_here = table[node, 8]
            slope_1_here = work[o_slope_1 + node]
            slope_2_here = work[o_slope_2 + node]
            kappa_here = table[node, 0]
            weight_here = table[node, 1]
            d_slope_1_here = mu1_here*work[o_d_psi_1]
            work[o_d_slope_1 + node] = d_slope_1_here
            d_slope_2_here = mu1_here*work[o_d_psi_2]
            work[o_d_slope_2 + node] = d_slope_2_here
            d_mean_here = kappa_here*mu1_here*work[o_d_zeta] + mu0_here*work[o_d_m]
            work[o_d_mean + node] = d_mean_here
            d_Delta_here = -2.0*d_slope_1_here*slope_1_here - 2.0*d_slope_2_here*slope_2_here + (mu1_here*mu1_here)*work[o_d_Q1] + mu2sq_here*work[o_d_Q2]
            work[o_d_Delta + node] = d_Delta_here
            d_V_here = (mu1_here*mu1_here)*work[o_d_V1] + mu2sq_here*work[o_d_V2]
            work[o_d_V + node] = d_V_here
            d_avg_g_here = -avg_gh_here*d_V_here - avg_h_here*d_mean_here - (1.0/2.0)*avg_hx_here*d_Delta_here - avg_t_1h_here*d_slope_1_here - avg_t_2h_here*d_slope_2_here
            work[o_d_avg_g + node] = d_avg_g_here
            d_avg_gg_here = -2.0*avg_ggh_here*d_V_here - 2.0*avg_gh_here*d_mean_here - avg_ghx_here*d_Delta_here - 2.0*avg_t_1gh_here*d_slope_1_here - 2.0*avg_t_2gh_here*d_slope_2_here
            work[o_d_avg_gg + node] = d_avg_gg_here
            d_avg_h_here = avg_ghx_here*d_V_here + avg_hx_here*d_mean_here + ((1.0/2.0))*avg_hxx_here*d_Delta_here + avg_t_1hx_here*d_slope_1_here + avg_t_2hx_here*d_slope_2_here
            work[o_d_avg_h + node] = d_avg_h_here
            d_avg_t_1g_here = -avg_t_1gh_here*d_V_here - avg_t_1h_here*d_mean_here - (1.0/2.0)*avg_t_1hx_here*d_Delta_here - avg_t_1t_1h_here*d_slope_1_here - avg_t_1t_2h_here*d_slope_2_here
            work[o_d_avg_t_1g + node] = d_avg_t_1g_here
            d_avg_t_2g_here = -avg_t_1t_2h_here*d_slope_1_here - avg_t_2gh_here*d_V_here - avg_t_2h_here*d_mean_here - (1.0/2.0)*avg_t_2hx_here*d_Delta_here - avg_t_2t_2h_here*d_slope_2_here
            work[o_d_avg_t_2g + node] = d_avg_t_2g_here
            x0 = (mu1_here*mu1_here)
            w0 = weight_here*d_avg_g_here*kappa_here*mu1_here
            w1 = weight_here*d_avg_gg_here*x0
            w2 = weight_here*d_avg_gg_here*mu2sq_here
            w3 = weight_here*d_avg_h_here*x0
            w4 = weight_here*d_avg_h_here*mu2sq_here
            w5 = weight_here*mu1_here*(avg_h_here*d_slope_1_here + d_avg_h_here*slope_1_here + d_avg_t_1g_here)
            w6 = weight_here*mu1_here*(avg_h_here*d_slope_2_here + d_avg_h_here*slope_2_here + d_avg_t_2g_here)
            w7 = weight_here*d_avg_g_here*mu0_here
            EJ_0 += w0
            EJ_1 += w1
            EJ_2 += w2
            EJ_3 += w3
            EJ_4 += w4
            EJ_5 += w5
            EJ_6 += w6
            EJ_7 += w7
        work[o_d_zeta_hat] = alpha*EJ_0/beta
        work[o_d_Q1_hat] = alpha*EJ_1/beta
        work[o_d_Q2_hat] = alpha*EJ_2/beta
        work[o_d_V1_hat] = alpha*EJ_3/beta
        work[o_d_V2_hat] = alpha*EJ_4/beta
        work[o_d_psi_hat_1] = alpha*EJ_5/beta
        work[o_d_psi_hat_2] = alpha*EJ_6/beta
        work[o_d_P] = -(work[o_P]*work[o_P])*work[o_T]*work[o_d_V1_hat] - (work[o_P]*work[o_P])*work[o_V1_hat]*work[o_d_T]
        work[o_d_M] = -(work[o_M]*work[o_M])*work[o_d_V1_hat] + (work[o_P]*work[o_P])*work[o_d_T]
        work[o_d_S] = (work[o_P]*work[o_P])*work[o_d_V1_hat] - (work[o_S]*work[o_S])*work[o_d_T]
        work[o_d_residual_adjoint] = beta*work[o_d_adjoint]*fraction[0]/(work[o_T]*work[o_T]) - 2.0*beta*work[o_adjoint]*work[o_d_T]*fraction[0]/(work[o_T]*work[o_T]*work[o_T]) - 2.0*inverse_dimension*work[o_d_m]*work[o_m]/(work[o_T]*work[o_T]) + 2.0*inverse_dimension*work[o_d_T]*(work[o_m]*work[o_m])/(work[o_T]*work[o_T]*work[o_T]) - 2.0*(work[o_P]*work[o_d_psi_hat_1] + work[o_d_P]*work[o_psi_hat_1])*work[o_P]*work[o_psi_hat_1] - 2.0*(work[o_P]*work[o_d_psi_hat_2] + work[o_d_P]*work[o_psi_hat_2])*work[o_P]*work[o_psi_hat_2] - (work[o_S]*work[o_S])*work[o_d_adjoint] - 2.0*work[o_S]*work[o_adjoint]*work[o_d_S] - 2.0*work[o_d_zeta_hat]*work[o_zeta_hat] - ((work[o_P]*work[o_P])*work[o_d_Q1_hat] + 2.0*work[o_P]*work[o_Q1_hat]*work[o_d_P])/beta - work[o_d_Q2_hat]/beta
        work[o_d_residual_m] = -alpha*EJ_7 + beta*inverse_dimension*work[o_d_m]/work[o_T] - beta*inverse_dimension*work[o_d_T]*work[o_m]/(work[o_T]*work[o_T])
        work[o_d_residual_Q1] = -2.0*(work[o_M]*work[o_d_psi_hat_1] + work[o_d_M]*work[o_psi_hat_1])*work[o_M]*work[o_psi_hat_1] - 2.0*(work[o_M]*work[o_d_psi_hat_2] + work[o_d_M]*work[o_psi_hat_2])*work[o_M]*work[o_psi_hat_2] - (work[o_P]*work[o_P])*work[o_d_adjoint] - 2.0*work[o_P]*work[o_adjoint]*work[o_d_P] + work[o_d_Q1] - ((work[o_M]*work[o_M])*work[o_d_Q1_hat] + 2.0*work[o_M]*work[o_Q1_hat]*work[o_d_M])/beta
        work[o_d_residual_T] = beta*(work[o_d_S] + work[o_d_V2_hat])*fraction[0]/((ridge + work[o_S] + work[o_V2_hat])*(ridge + work[o_S] + work[o_V2_hat])) + work[o_d_T]
        work[o_d_residual_V1] = work[o_d_V1] - work[o_d_M]/beta
        work[o_d_residual_psi_1] = -work[o_M]*work[o_d_psi_hat_1] - work[o_d_M]*work[o_psi_hat_1] + work[o_d_psi_1]
        work[o_d_residual_psi_2] = -work[o_M]*work[o_d_psi_hat_2] - work[o_d_M]*work[o_psi_hat_2] + work[o_d_psi_2]
        work[o_d_residual_zeta] = -work[o_T]*work[o_d_zeta_hat] - work[o_d_T]*work[o_zeta_hat] + work[o_d_zeta]
        for row in range(first.shape[0]):
            matrix[row, column] = work[o_d_residual_adjoint + first[row]]


@njit(cache=True, error_model="numpy", nogil=True)
def observables(table, fraction, parameters, work, out):
    """out = (test error, training error, free energy)."""
    alpha = parameters[0]
    beta = parameters[1]
    inverse_dimension = parameters[4]
    K = 1
    N = table.shape[0]
    o_m = 1
    o_Q1 = 2
    o_T = 3
    o_V1 = 4
    o_psi_1 = 5
    o_psi_2 = 6
    o_zeta = 7
    o_avg_M = 32
    o_avg_gg = 32 + 3*N
    o_Delta = 32 + 20*N
    o_M = 32 + 21*N
    o_Q1_hat = 34 + 21*N
    o_Q2 = 35 + 21*N
    o_Q2_hat = 36 + 21*N
    o_V = 38 + 21*N
    o_V1_hat = 38 + 22*N
    o_V2 = 39 + 22*N
    o_V2_hat = 40 + 22*N
    o_mean = 41 + 22*N
    o_psi_hat_1 = 41 + 23*N
    o_psi_hat_2 = 42 + 23*N
    o_slope_1 = 43 + 23*N
    o_slope_2 = 43 + 24*N
    o_zeta_hat = 43 + 25*N
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
        nu2sq_here = table[node, 5]
        slope_1_here = work[o_slope_1 + node]
        slope_2_here = work[o_slope_2 + node]
        weight_here = table[node, 1]
        w0 = weight_here*(Delta_here + nu2sq_here + ((-mean_here + nu0_here)*(-mean_here + nu0_here)) + ((nu1_1_here - slope_1_here)*(nu1_1_here - slope_1_here)) + ((nu1_2_here - slope_2_here)*(nu1_2_here - slope_2_here)))
        w1 = weight_here*(-(1.0/2.0)*V_here*avg_gg_here + avg_M_here)
        w2 = weight_here*avg_M_here
        EO_0 += w0
        EO_1 += w1
        EO_2 += w2
    out[0] = EO_0
    out[1] = EO_1
    out[2] = alpha*EO_2 + ((1.0/2.0))*beta*inverse_dimension*(work[o_m]*work[o_m])/work[o_T] + beta*(-(1.0/2.0)*work[o_M]*(work[o_psi_hat_1]*work[o_psi_hat_1]) - (1.0/2.0)*work[o_M]*(work[o_psi_hat_2]*work[o_psi_hat_2]) - (1.0/2.0)*work[o_Q1]*work[o_V1_hat] + ((1.0/2.0))*work[o_Q1_hat]*work[o_V1] - (1.0/2.0)*work[o_Q2]*work[o_V2_hat] + ((1.0/2.0))*work[o_Q2_hat]*work[o_V2] - (1.0/2.0)*work[o_T]*(work[o_zeta_hat]*work[o_zeta_hat]) + work[o_psi_1]*work[o_psi_hat_1] + work[o_psi_2]*work[o_psi_hat_2] + work[o_zeta]*work[o_zeta_hat] - (1.0/2.0)*(work[o_M]*work[o_Q1_hat] + work[o_Q2_hat]*work[o_T])/beta)


def _worse(worst, difference, scale):
    """The larger of worst and this residual relative to its scale; infinite for nan."""
    difference = abs(difference)
    if not difference < np.inf:
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
    nu2sq = columns[5]
    mu0 = columns[6 + 0*K]
    mu1 = columns[6 + 1*K]
    mu2sq = columns[6 + 2*K]
    Q2 = float(work[35 + 21*N])
    V2 = float(work[39 + 22*N])
    zeta_hat = float(work[43 + 25*N])
    Q1_hat = float(work[34 + 21*N])
    Q2_hat = float(work[36 + 21*N])
    V1_hat = float(work[38 + 22*N])
    V2_hat = float(work[40 + 22*N])
    psi_hat_1 = float(work[41 + 23*N])
    psi_hat_2 = float(work[42 + 23*N])
    P = float(work[33 + 21*N])
    M = float(work[32 + 21*N])
    S = float(work[37 + 21*N])
    adjoint = float(work[0])
    m = float(work[1])
    Q1 = float(work[2])
    T = float(work[3])
    V1 = float(work[4])
    psi_1 = float(work[5])
    psi_2 = float(work[6])
    zeta = float(work[7])
    avg_M = work[32:32 + N]
    avg_g = work[32 + N:32 + N + N]
    avg_gg = work[32 + 3*N:32 + 3*N + N]
    avg_h = work[32 + 2*N:32 + 2*N + N]
    avg_t_1g = work[32 + 9*N:32 + 9*N + N]
    avg_t_2g = work[32 + 10*N:32 + 10*N + N]
    fraction = 1.0
    V = V1*(mu1**2) + V2*mu2sq
    slope_1 = psi_1*mu1
    slope_2 = psi_2*mu1
    mean = m*mu0 + zeta*kappa*mu1
    Delta = Q1*(mu1**2) + Q2*mu2sq - slope_1**2 - slope_2**2
    worst = 0.0
    x0 = mu1*weight
    x1 = avg_gg**0.5
    x2 = abs(avg_h)
    x3 = weight*abs(mu1)
    x4 = mu1**2
    x5 = avg_gg*weight
    x6 = avg_h*weight
    x7 = abs(avg_gg)
    x8 = weight*x4
    x9 = weight*abs(mu2sq)
    average0 = np.dot(x0, (avg_t_1g + avg_h*slope_1))
    average1 = np.dot(x0, (avg_t_2g + avg_h*slope_2))
    average2 = np.dot(x3, (x1 + x2*abs(slope_1)))
    average3 = np.dot(x3, (x1 + x2*abs(slope_2)))
    average4 = np.dot(avg_g, mu0*weight)
    average5 = np.dot(weight, x1*abs(mu0))
    average6 = np.dot(x4, x5)
    average7 = np.dot(mu2sq, x5)
    average8 = np.dot(x4, x6)
    average9 = np.dot(mu2sq, x6)
    average10 = np.dot(x7, x8)
    average11 = np.dot(x2, x8)
    average12 = np.dot(x7, x9)
    average13 = np.dot(x2, x9)
    average14 = np.dot(avg_g, x0*kappa)
    average15 = np.dot(x1, x3*abs(kappa))
    scale_Q2 = abs(adjoint)
    worst = _worse(worst, Q2 - adjoint, scale_Q2)
    scale_V2 = abs(1.0/beta)*abs(T)
    worst = _worse(worst, V2 - T/beta, scale_V2)
    scale_zeta_hat = average15*alpha*abs(1.0/beta)
    worst = _worse(worst, zeta_hat - average14*alpha/beta, scale_zeta_hat)
    scale_Q1_hat = average10*alpha*abs(1.0/beta)
    worst = _worse(worst, Q1_hat - average6*alpha/beta, scale_Q1_hat)
    scale_Q2_hat = average12*alpha*abs(1.0/beta)
    worst = _worse(worst, Q2_hat - average7*alpha/beta, scale_Q2_hat)
    scale_V1_hat = average11*alpha*abs(1.0/beta)
    worst = _worse(worst, V1_hat - average8*alpha/beta, scale_V1_hat)
    scale_V2_hat = average13*alpha*abs(1.0/beta)
    worst = _worse(worst, V2_hat - average9*alpha/beta, scale_V2_hat)
    scale_psi_hat_1 = average2*alpha*abs(1.0/beta)
    worst = _worse(worst, psi_hat_1 - average0*alpha/beta, scale_psi_hat_1)
    scale_psi_hat_2 = average3*alpha*abs(1.0/beta)
    worst = _worse(worst, psi_hat_2 - average1*alpha/beta, scale_psi_hat_2)
    scale_P = 1.0 + (1.0 + abs(T)*scale_V1_hat)*abs(P)
    worst = _worse(worst, -1.0 + (1.0 + T*V1_hat)*P, scale_P)
    scale_M = abs(T)*abs(P)
    worst = _worse(worst, M - T*P, scale_M)
    scale_S = abs(P)*scale_V1_hat
    worst = _worse(worst, S - P*V1_hat, scale_S)
    scale_adjoint = zeta_hat**2 + (P**2)*(scale_psi_hat_1**2) + (P**2)*(scale_psi_hat_2**2) + (S**2)*abs(adjoint) + abs(1.0/beta)*scale_Q2_hat + inverse_dimension*(m**2)/T**2 + (P**2)*abs(1.0/beta)*scale_Q1_hat + beta*abs(adjoint)*abs(fraction)/T**2
    worst = _worse(worst, beta*adjoint*fraction/T**2 - zeta_hat**2 - Q2_hat/beta - (psi_hat_1**2)*(P**2) - (psi_hat_2**2)*(P**2) - (S**2)*adjoint - inverse_dimension*(m**2)/T**2 - (P**2)*Q1_hat/beta, scale_adjoint)
    scale_m = average5*alpha + inverse_dimension*beta*abs(m)/abs(T)
    worst = _worse(worst, inverse_dimension*beta*m/T - average4*alpha, scale_m)
    scale_Q1 = (P**2)*abs(adjoint) + (scale_psi_hat_1**2)*(scale_M**2) + (scale_psi_hat_2**2)*(scale_M**2) + (scale_M**2)*abs(1.0/beta)*scale_Q1_hat
    worst = _worse(worst, Q1 - (psi_hat_1**2)*(M**2) - (psi_hat_2**2)*(M**2) - (P**2)*adjoint - (M**2)*Q1_hat/beta, scale_Q1)
    scale_T = beta*abs(fraction)/abs(ridge + V2_hat + S)
    worst = _worse(worst, T - beta*fraction/(ridge + V2_hat + S), scale_T)
    scale_V1 = abs(1.0/beta)*scale_M
    worst = _worse(worst, V1 - M/beta, scale_V1)
    scale_psi_1 = scale_psi_hat_1*scale_M
    worst = _worse(worst, psi_1 - psi_hat_1*M, scale_psi_1)
    scale_psi_2 = scale_psi_hat_2*scale_M
    worst = _worse(worst, psi_2 - psi_hat_2*M, scale_psi_2)
    scale_zeta = scale_T*scale_zeta_hat
    worst = _worse(worst, zeta - T*zeta_hat, scale_zeta)
    return worst
