"""Saddle-point equations of any convex loss, 1 direction(s) beside the spike, one block, K = 1  [CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
    1. nonlinear in adjoint, m, Q1, T, V1, psi, zeta; then
       Q2, slope, V2, mean, Delta, V, avg_g, avg_gg, avg_h, avg_tg, zeta_hat, Q1_hat, Q2_hat, V1_hat, V2_hat, psi_hat, P, M, S
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
    psi_hat: d/dpsi
    psi: d/dpsi_hat
    zeta_hat: d/dzeta
    zeta: d/dzeta_hat
    Q1_hat: d/dV1
    Q2_hat: d/dV2
    Q1: d/dV1_hat
    Q2: d/dV2_hat
    m: d/dm
Generated; do not edit. Signature f43285754b976383.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np
from numba import njit

LOSS = "coupled"
SIGNATURE = "f43285754b97638316e32007a6b4af5dba0b20c7cb1a2268658d59518ee8d7c5"


UNKNOWNS = ('adjoint', 'm', 'Q1', 'T', 'V1', 'psi', 'zeta')
AVERAGES = ('avg_M', 'avg_g', 'avg_h', 'avg_gg', 'avg_gh', 'avg_hx', 'avg_ggh', 'avg_ghx', 'avg_hxx', 'avg_tg', 'avg_th', 'avg_tgh', 'avg_thx', 'avg_tth')
SLOPES = ('slope',)


def workspace_size(K, N):
    """Length of the workspace for K blocks and N nodes."""
    return 50 + 26*N


def layout(K, N):
    """Start and shape of every unknown in the workspace."""
    return {
        "adjoint": (0, (K,)),
        "m": (1, (K,)),
        "Q1": (2, (K, K)),
        "T": (3, (K,)),
        "V1": (4, (K, K)),
        "psi": (5, (K,)),
        "zeta": (6, (K,)),
        "d_adjoint": (7, (K,)),
        "d_m": (8, (K,)),
        "d_Q1": (9, (K, K)),
        "d_T": (10, (K,)),
        "d_V1": (11, (K, K)),
        "d_psi": (12, (K,)),
        "d_zeta": (13, (K,)),
        "residual_adjoint": (14, (K,)),
        "residual_m": (15, (K,)),
        "residual_Q1": (16, (K, K)),
        "residual_T": (17, (K,)),
        "residual_V1": (18, (K, K)),
        "residual_psi": (19, (K,)),
        "residual_zeta": (20, (K,)),
        "d_residual_adjoint": (21, (K,)),
        "d_residual_m": (22, (K,)),
        "d_residual_Q1": (23, (K, K)),
        "d_residual_T": (24, (K,)),
        "d_residual_V1": (25, (K, K)),
        "d_residual_psi": (26, (K,)),
        "d_residual_zeta": (27, (K,)),
        "avg_M": (28, (N,)),
        "avg_g": (28 + N, (N,)),
        "avg_h": (28 + 2*N, (N,)),
        "avg_gg": (28 + 3*N, (N,)),
        "avg_gh": (28 + 4*N, (N,)),
        "avg_hx": (28 + 5*N, (N,)),
        "avg_ggh": (28 + 6*N, (N,)),
        "avg_ghx": (28 + 7*N, (N,)),
        "avg_hxx": (28 + 8*N, (N,)),
        "avg_tg": (28 + 9*N, (N,)),
        "avg_th": (28 + 10*N, (N,)),
        "avg_tgh": (28 + 11*N, (N,)),
        "avg_thx": (28 + 12*N, (N,)),
        "avg_tth": (28 + 13*N, (N,)),
        "Delta": (28 + 14*N, (N,)),
        "M": (28 + 15*N, (K, K)),
        "P": (29 + 15*N, (K, K)),
        "Q1_hat": (30 + 15*N, (K, K)),
        "Q2": (31 + 15*N, (K,)),
        "Q2_hat": (32 + 15*N, (K,)),
        "S": (33 + 15*N, (K, K)),
        "V": (34 + 15*N, (N,)),
        "V1_hat": (34 + 16*N, (K, K)),
        "V2": (35 + 16*N, (K,)),
        "V2_hat": (36 + 16*N, (K,)),
        "mean": (37 + 16*N, (N,)),
        "psi_hat": (37 + 17*N, (K,)),
        "slope": (38 + 17*N, (N,)),
        "zeta_hat": (38 + 18*N, (K,)),
        "d_Delta": (39 + 18*N, (N,)),
        "d_M": (39 + 19*N, (K, K)),
        "d_P": (40 + 19*N, (K, K)),
        "d_Q1_hat": (41 + 19*N, (K, K)),
        "d_Q2": (42 + 19*N, (K,)),
        "d_Q2_hat": (43 + 19*N, (K,)),
        "d_S": (44 + 19*N, (K, K)),
        "d_V": (45 + 19*N, (N,)),
        "d_V1_hat": (45 + 20*N, (K, K)),
        "d_V2": (46 + 20*N, (K,)),
        "d_V2_hat": (47 + 20*N, (K,)),
        "d_avg_g": (48 + 20*N, (N,)),
        "d_avg_gg": (48 + 21*N, (N,)),
        "d_avg_h": (48 + 22*N, (N,)),
        "d_avg_tg": (48 + 23*N, (N,)),
        "d_mean": (48 + 24*N, (N,)),
        "d_psi_hat": (48 + 25*N, (K,)),
        "d_slope": (49 + 25*N, (N,)),
        "d_zeta_hat": (49 + 26*N, (K,)),
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
    o_psi = 5
    o_zeta = 6
    o_Delta = 28 + 14*N
    o_Q2 = 31 + 15*N
    o_V = 34 + 15*N
    o_V2 = 35 + 16*N
    o_mean = 37 + 16*N
    o_slope = 38 + 17*N
    work[o_Q2] = work[o_adjoint]
    work[o_V2] = work[o_T]/beta
    for node in range(N):
        mu0_here = table[node, 5]
        mu1_here = table[node, 6]
        mu2sq_here = table[node, 7]
        kappa_here = table[node, 0]
        slope_here = mu1_here*work[o_psi]
        work[o_slope + node] = slope_here
        mean_here = kappa_here*mu1_here*work[o_zeta] + mu0_here*work[o_m]
        work[o_mean + node] = mean_here
        Delta_here = (mu1_here*mu1_here)*work[o_Q1] + mu2sq_here*work[o_Q2] - (slope_here*slope_here)
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
    o_psi = 5
    o_zeta = 6
    o_residual_adjoint = 14
    o_residual_m = 15
    o_residual_Q1 = 16
    o_residual_T = 17
    o_residual_V1 = 18
    o_residual_psi = 19
    o_residual_zeta = 20
    o_avg_g = 28 + N
    o_avg_h = 28 + 2*N
    o_avg_gg = 28 + 3*N
    o_avg_tg = 28 + 9*N
    o_M = 28 + 15*N
    o_P = 29 + 15*N
    o_Q1_hat = 30 + 15*N
    o_Q2_hat = 32 + 15*N
    o_S = 33 + 15*N
    o_V1_hat = 34 + 16*N
    o_V2_hat = 36 + 16*N
    o_psi_hat = 37 + 17*N
    o_slope = 38 + 17*N
    o_zeta_hat = 38 + 18*N
    ER_0 = 0.0
    ER_1 = 0.0
    ER_2 = 0.0
    ER_3 = 0.0
    ER_4 = 0.0
    ER_5 = 0.0
    ER_6 = 0.0
    for node in range(N):
        avg_g_here = work[o_avg_g + node]
        avg_gg_here = work[o_avg_gg + node]
        avg_h_here = work[o_avg_h + node]
        avg_tg_here = work[o_avg_tg + node]
        mu0_here = table[node, 5]
        mu1_here = table[node, 6]
        mu2sq_here = table[node, 7]
        slope_here = work[o_slope + node]
        kappa_here = table[node, 0]
        weight_here = table[node, 1]
        x0 = (mu1_here*mu1_here)
        w0 = weight_here*avg_g_here*kappa_here*mu1_here
        w1 = weight_here*avg_gg_here*x0
        w2 = weight_here*avg_gg_here*mu2sq_here
        w3 = weight_here*avg_h_here*x0
        w4 = weight_here*avg_h_here*mu2sq_here
        w5 = weight_here*mu1_here*(avg_h_here*slope_here + avg_tg_here)
        w6 = weight_here*avg_g_here*mu0_here
        ER_0 += w0
        ER_1 += w1
        ER_2 += w2
        ER_3 += w3
        ER_4 += w4
        ER_5 += w5
        ER_6 += w6
    work[o_zeta_hat] = alpha*ER_0/beta
    work[o_Q1_hat] = alpha*ER_1/beta
    work[o_Q2_hat] = alpha*ER_2/beta
    work[o_V1_hat] = alpha*ER_3/beta
    work[o_V2_hat] = alpha*ER_4/beta
    work[o_psi_hat] = alpha*ER_5/beta
    work[o_P] = 1.0/(work[o_T]*work[o_V1_hat] + 1.0)
    work[o_M] = work[o_P]*work[o_T]
    work[o_S] = work[o_P]*work[o_V1_hat]
    work[o_residual_adjoint] = beta*work[o_adjoint]*fraction[0]/(work[o_T]*work[o_T]) - inverse_dimension*(work[o_m]*work[o_m])/(work[o_T]*work[o_T]) - (work[o_P]*work[o_P])*(work[o_psi_hat]*work[o_psi_hat]) - (work[o_S]*work[o_S])*work[o_adjoint] - (work[o_zeta_hat]*work[o_zeta_hat]) - (work[o_P]*work[o_P])*work[o_Q1_hat]/beta - work[o_Q2_hat]/beta
    work[o_residual_m] = -alpha*ER_6 + beta*inverse_dimension*work[o_m]/work[o_T]
    work[o_residual_Q1] = -(work[o_M]*work[o_M])*(work[o_psi_hat]*work[o_psi_hat]) - (work[o_P]*work[o_P])*work[o_adjoint] + work[o_Q1] - (work[o_M]*work[o_M])*work[o_Q1_hat]/beta
    work[o_residual_T] = -beta*fraction[0]/(ridge + work[o_S] + work[o_V2_hat]) + work[o_T]
    work[o_residual_V1] = work[o_V1] - work[o_M]/beta
    work[o_residual_psi] = -work[o_M]*work[o_psi_hat] + work[o_psi]
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
    o_d_adjoint = 7
    o_d_m = 8
    o_d_Q1 = 9
    o_d_T = 10
    o_d_V1 = 11
    o_d_psi = 12
    o_d_zeta = 13
    o_d_residual_adjoint = 21
    o_d_residual_m = 22
    o_d_residual_Q1 = 23
    o_d_residual_T = 24
    o_d_residual_V1 = 25
    o_d_residual_psi = 26
    o_d_residual_zeta = 27
    o_avg_h = 28 + 2*N
    o_avg_gh = 28 + 4*N
    o_avg_hx = 28 + 5*N
    o_avg_ggh = 28 + 6*N
    o_avg_ghx = 28 + 7*N
    o_avg_hxx = 28 + 8*N
    o_avg_th = 28 + 10*N
    o_avg_tgh = 28 + 11*N
    o_avg_thx = 28 + 12*N
    o_avg_tth = 28 + 13*N
    o_M = 28 + 15*N
    o_P = 29 + 15*N
    o_Q1_hat = 30 + 15*N
    o_S = 33 + 15*N
    o_V1_hat = 34 + 16*N
    o_V2_hat = 36 + 16*N
    o_psi_hat = 37 + 17*N
    o_slope = 38 + 17*N
    o_zeta_hat = 38 + 18*N
    o_d_Delta = 39 + 18*N
    o_d_M = 39 + 19*N
    o_d_P = 40 + 19*N
    o_d_Q1_hat = 41 + 19*N
    o_d_Q2 = 42 + 19*N
    o_d_Q2_hat = 43 + 19*N
    o_d_S = 44 + 19*N
    o_d_V = 45 + 19*N
    o_d_V1_hat = 45 + 20*N
    o_d_V2 = 46 + 20*N
    o_d_V2_hat = 47 + 20*N
    o_d_avg_g = 48 + 20*N
    o_d_avg_gg = 48 + 21*N
    o_d_avg_h = 48 + 22*N
    o_d_avg_tg = 48 + 23*N
    o_d_mean = 48 + 24*N
    o_d_psi_hat = 48 + 25*N
    o_d_slope = 49 + 25*N
    o_d_zeta_hat = 49 + 26*N
    for column in range(first.shape[0]):
        for i in range(K + K + K*K + K + K*K + K + K):
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
        for node in range(N):
            avg_ggh_here = work[o_avg_ggh + node]
            avg_gh_here = work[o_avg_gh + node]
            avg_ghx_here = work[o_avg_ghx + node]
            avg_h_here = work[o_avg_h + node]
            avg_hx_here = work[o_avg_hx + node]
            avg_hxx_here = work[o_avg_hxx + node]
            avg_tgh_here = work[o_avg_tgh + node]
            avg_th_here = work[o_avg_th + node]
            avg_thx_here = work[o_avg_thx + node]
            avg_tth_here = work[o_avg_tth + node]
            mu0_here = table[node, 5]
            mu1_here = table[node, 6]
            mu2sq_here = table[node, 7]
            slope_here = work[o_slope + node]
            kappa_here = table[node, 0]
            weight_here = table[node, 1]
            d_slope_here = mu1_here*work[o_d_psi]
            work[o_d_slope + node] = d_slope_here
            d_mean_here = kappa_here*mu1_here*work[o_d_zeta] + mu0_here*work[o_d_m]
            work[o_d_mean + node] = d_mean_here
            d_Delta_here = -2.0*d_slope_here*slope_here + (mu1_here*mu1_here)*work[o_d_Q1] + mu2sq_here*work[o_d_Q2]
            work[o_d_Delta + node] = d_Delta_here
            d_V_here = (mu1_here*mu1_here)*work[o_d_V1] + mu2sq_here*work[o_d_V2]
            work[o_d_V + node] = d_V_here
            d_avg_g_here = -avg_gh_here*d_V_here - avg_h_here*d_mean_here - (1.0/2.0)*avg_hx_here*d_Delta_here - avg_th_here*d_slope_here
            work[o_d_avg_g + node] = d_avg_g_here
            d_avg_gg_here = -2.0*avg_ggh_here*d_V_here - 2.0*avg_gh_here*d_mean_here - avg_ghx_here*d_Delta_here - 2.0*avg_tgh_here*d_slope_here
            work[o_d_avg_gg + node] = d_avg_gg_here
            d_avg_h_here = avg_ghx_here*d_V_here + avg_hx_here*d_mean_here + ((1.0/2.0))*avg_hxx_here*d_Delta_here + avg_thx_here*d_slope_here
            work[o_d_avg_h + node] = d_avg_h_here
            d_avg_tg_here = -avg_tgh_here*d_V_here - avg_th_here*d_mean_here - (1.0/2.0)*avg_thx_here*d_Delta_here - avg_tth_here*d_slope_here
            work[o_d_avg_tg + node] = d_avg_tg_here
            x0 = (mu1_here*mu1_here)
            w0 = weight_here*d_avg_g_here*kappa_here*mu1_here
            w1 = weight_here*d_avg_gg_here*x0
            w2 = weight_here*d_avg_gg_here*mu2sq_here
            w3 = weight_here*d_avg_h_here*x0
            w4 = weight_here*d_avg_h_here*mu2sq_here
            w5 = weight_here*mu1_here*(avg_h_here*d_slope_here + d_avg_h_here*slope_here + d_avg_tg_here)
            w6 = weight_here*d_avg_g_here*mu0_here
            EJ_0 += w0
            EJ_1 += w1
            EJ_2 += w2
            EJ_3 += w3
            EJ_4 += w4
            EJ_5 += w5
            EJ_6 += w6
        work[o_d_zeta_hat] = alpha*EJ_0/beta
        work[o_d_Q1_hat] = alpha*EJ_1/beta
        work[o_d_Q2_hat] = alpha*EJ_2/beta
        work[o_d_V1_hat] = alpha*EJ_3/beta
        work[o_d_V2_hat] = alpha*EJ_4/beta
        work[o_d_psi_hat] = alpha*EJ_5/beta
        work[o_d_P] = -(work[o_P]*work[o_P])*work[o_T]*work[o_d_V1_hat] - (work[o_P]*work[o_P])*work[o_V1_hat]*work[o_d_T]
        work[o_d_M] = -(work[o_M]*work[o_M])*work[o_d_V1_hat] + (work[o_P]*work[o_P])*work[o_d_T]
        work[o_d_S] = (work[o_P]*work[o_P])*work[o_d_V1_hat] - (work[o_S]*work[o_S])*work[o_d_T]
        work[o_d_residual_adjoint] = beta*work[o_d_adjoint]*fraction[0]/(work[o_T]*work[o_T]) - 2.0*beta*work[o_adjoint]*work[o_d_T]*fraction[0]/(work[o_T]*work[o_T]*work[o_T]) - 2.0*inverse_dimension*work[o_d_m]*work[o_m]/(work[o_T]*work[o_T]) + 2.0*inverse_dimension*work[o_d_T]*(work[o_m]*work[o_m])/(work[o_T]*work[o_T]*work[o_T]) - 2.0*(work[o_P]*work[o_d_psi_hat] + work[o_d_P]*work[o_psi_hat])*work[o_P]*work[o_psi_hat] - (work[o_S]*work[o_S])*work[o_d_adjoint] - 2.0*work[o_S]*work[o_adjoint]*work[o_d_S] - 2.0*work[o_d_zeta_hat]*work[o_zeta_hat] - ((work[o_P]*work[o_P])*work[o_d_Q1_hat] + 2.0*work[o_P]*work[o_Q1_hat]*work[o_d_P])/beta - work[o_d_Q2_hat]/beta
        work[o_d_residual_m] = -alpha*EJ_6 + beta*inverse_dimension*work[o_d_m]/work[o_T] - beta*inverse_dimension*work[o_d_T]*work[o_m]/(work[o_T]*work[o_T])
        work[o_d_residual_Q1] = -2.0*(work[o_M]*work[o_d_psi_hat] + work[o_d_M]*work[o_psi_hat])*work[o_M]*work[o_psi_hat] - (work[o_P]*work[o_P])*work[o_d_adjoint] - 2.0*work[o_P]*work[o_adjoint]*work[o_d_P] + work[o_d_Q1] - ((work[o_M]*work[o_M])*work[o_d_Q1_hat] + 2.0*work[o_M]*work[o_Q1_hat]*work[o_d_M])/beta
        work[o_d_residual_T] = beta*(work[o_d_S] + work[o_d_V2_hat])*fraction[0]/((ridge + work[o_S] + work[o_V2_hat])*(ridge + work[o_S] + work[o_V2_hat])) + work[o_d_T]
        work[o_d_residual_V1] = work[o_d_V1] - work[o_d_M]/beta
        work[o_d_residual_psi] = -work[o_M]*work[o_d_psi_hat] - work[o_d_M]*work[o_psi_hat] + work[o_d_psi]
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
    o_psi = 5
    o_zeta = 6
    o_avg_M = 28
    o_avg_gg = 28 + 3*N
    o_Delta = 28 + 14*N
    o_M = 28 + 15*N
    o_Q1_hat = 30 + 15*N
    o_Q2 = 31 + 15*N
    o_Q2_hat = 32 + 15*N
    o_V = 34 + 15*N
    o_V1_hat = 34 + 16*N
    o_V2 = 35 + 16*N
    o_V2_hat = 36 + 16*N
    o_mean = 37 + 16*N
    o_psi_hat = 37 + 17*N
    o_slope = 38 + 17*N
    o_zeta_hat = 38 + 18*N
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
        nu1_here = table[node, 3]
        nu2sq_here = table[node, 4]
        slope_here = work[o_slope + node]
        weight_here = table[node, 1]
        w0 = weight_here*(Delta_here + nu2sq_here + ((-mean_here + nu0_here)*(-mean_here + nu0_here)) + ((nu1_here - slope_here)*(nu1_here - slope_here)))
        w1 = weight_here*(-(1.0/2.0)*V_here*avg_gg_here + avg_M_here)
        w2 = weight_here*avg_M_here
        EO_0 += w0
        EO_1 += w1
        EO_2 += w2
    out[0] = EO_0
    out[1] = EO_1
    out[2] = alpha*EO_2 + ((1.0/2.0))*beta*inverse_dimension*(work[o_m]*work[o_m])/work[o_T] + beta*(-(1.0/2.0)*work[o_M]*(work[o_psi_hat]*work[o_psi_hat]) - (1.0/2.0)*work[o_Q1]*work[o_V1_hat] + ((1.0/2.0))*work[o_Q1_hat]*work[o_V1] - (1.0/2.0)*work[o_Q2]*work[o_V2_hat] + ((1.0/2.0))*work[o_Q2_hat]*work[o_V2] - (1.0/2.0)*work[o_T]*(work[o_zeta_hat]*work[o_zeta_hat]) + work[o_psi]*work[o_psi_hat] + work[o_zeta]*work[o_zeta_hat] - (1.0/2.0)*(work[o_M]*work[o_Q1_hat] + work[o_Q2_hat]*work[o_T])/beta)


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
    nu1 = columns[3]
    nu2sq = columns[4]
    mu0 = columns[5 + 0*K]
    mu1 = columns[5 + 1*K]
    mu2sq = columns[5 + 2*K]
    Q2 = float(work[31 + 15*N])
    V2 = float(work[35 + 16*N])
    zeta_hat = float(work[38 + 18*N])
    Q1_hat = float(work[30 + 15*N])
    Q2_hat = float(work[32 + 15*N])
    V1_hat = float(work[34 + 16*N])
    V2_hat = float(work[36 + 16*N])
    psi_hat = float(work[37 + 17*N])
    P = float(work[29 + 15*N])
    M = float(work[28 + 15*N])
    S = float(work[33 + 15*N])
    adjoint = float(work[0])
    m = float(work[1])
    Q1 = float(work[2])
    T = float(work[3])
    V1 = float(work[4])
    psi = float(work[5])
    zeta = float(work[6])
    avg_M = work[28:28 + N]
    avg_g = work[28 + N:28 + N + N]
    avg_gg = work[28 + 3*N:28 + 3*N + N]
    avg_h = work[28 + 2*N:28 + 2*N + N]
    avg_tg = work[28 + 9*N:28 + 9*N + N]
    fraction = 1.0
    V = V1*(mu1**2) + V2*mu2sq
    slope = psi*mu1
    mean = m*mu0 + zeta*kappa*mu1
    Delta = Q1*(mu1**2) + Q2*mu2sq - slope**2
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
    average0 = np.dot(x0, (avg_tg + avg_h*slope))
    average1 = np.dot(x3, (x1 + x2*abs(slope)))
    average2 = np.dot(avg_g, mu0*weight)
    average3 = np.dot(weight, x1*abs(mu0))
    average4 = np.dot(x4, x5)
    average5 = np.dot(mu2sq, x5)
    average6 = np.dot(x4, x6)
    average7 = np.dot(mu2sq, x6)
    average8 = np.dot(x7, x8)
    average9 = np.dot(x2, x8)
    average10 = np.dot(x7, x9)
    average11 = np.dot(x2, x9)
    average12 = np.dot(avg_g, x0*kappa)
    average13 = np.dot(x1, x3*abs(kappa))
    scale_Q2 = abs(adjoint)
    worst = _worse(worst, Q2 - adjoint, scale_Q2)
    scale_V2 = abs(1.0/beta)*abs(T)
    worst = _worse(worst, V2 - T/beta, scale_V2)
    scale_zeta_hat = average13*alpha*abs(1.0/beta)
    worst = _worse(worst, zeta_hat - average12*alpha/beta, scale_zeta_hat)
    scale_Q1_hat = average8*alpha*abs(1.0/beta)
    worst = _worse(worst, Q1_hat - average4*alpha/beta, scale_Q1_hat)
    scale_Q2_hat = average10*alpha*abs(1.0/beta)
    worst = _worse(worst, Q2_hat - average5*alpha/beta, scale_Q2_hat)
    scale_V1_hat = average9*alpha*abs(1.0/beta)
    worst = _worse(worst, V1_hat - average6*alpha/beta, scale_V1_hat)
    scale_V2_hat = average11*alpha*abs(1.0/beta)
    worst = _worse(worst, V2_hat - average7*alpha/beta, scale_V2_hat)
    scale_psi_hat = average1*alpha*abs(1.0/beta)
    worst = _worse(worst, psi_hat - average0*alpha/beta, scale_psi_hat)
    scale_P = 1.0 + (1.0 + abs(T)*scale_V1_hat)*abs(P)
    worst = _worse(worst, -1.0 + (1.0 + T*V1_hat)*P, scale_P)
    scale_M = abs(T)*abs(P)
    worst = _worse(worst, M - T*P, scale_M)
    scale_S = abs(P)*scale_V1_hat
    worst = _worse(worst, S - P*V1_hat, scale_S)
    scale_adjoint = zeta_hat**2 + (P**2)*(scale_psi_hat**2) + (S**2)*abs(adjoint) + abs(1.0/beta)*scale_Q2_hat + inverse_dimension*(m**2)/T**2 + (P**2)*abs(1.0/beta)*scale_Q1_hat + beta*abs(adjoint)*abs(fraction)/T**2
    worst = _worse(worst, beta*adjoint*fraction/T**2 - zeta_hat**2 - Q2_hat/beta - (psi_hat**2)*(P**2) - (S**2)*adjoint - inverse_dimension*(m**2)/T**2 - (P**2)*Q1_hat/beta, scale_adjoint)
    scale_m = average3*alpha + inverse_dimension*beta*abs(m)/abs(T)
    worst = _worse(worst, inverse_dimension*beta*m/T - average2*alpha, scale_m)
    scale_Q1 = (P**2)*abs(adjoint) + (scale_psi_hat**2)*(scale_M**2) + (scale_M**2)*abs(1.0/beta)*scale_Q1_hat
    worst = _worse(worst, Q1 - (psi_hat**2)*(M**2) - (P**2)*adjoint - (M**2)*Q1_hat/beta, scale_Q1)
    scale_T = beta*abs(fraction)/abs(ridge + V2_hat + S)
    worst = _worse(worst, T - beta*fraction/(ridge + V2_hat + S), scale_T)
    scale_V1 = abs(1.0/beta)*scale_M
    worst = _worse(worst, V1 - M/beta, scale_V1)
    scale_psi = scale_psi_hat*scale_M
    worst = _worse(worst, psi - psi_hat*M, scale_psi)
    scale_zeta = scale_T*scale_zeta_hat
    worst = _worse(worst, zeta - T*zeta_hat, scale_zeta)
    return worst
