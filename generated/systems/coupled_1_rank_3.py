"""Saddle-point equations of any convex loss, 1 direction(s) beside the spike, spike of rank 3, any number of blocks K
[CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
    1. nonlinear in adjoint, m, Q1, T, V1, psi, zeta_1, zeta_2, zeta_3; then Q2, slope, V2, mean, Delta, V, avg_g,
       avg_gg, avg_h, avg_tg, zeta_hat_1, zeta_hat_2, zeta_hat_3, Q1_hat, Q2_hat, V1_hat, V2_hat, psi_hat, P, M, S
    avg_*: supplied by the module of the loss
A comment behind a line names the step of the derivation that fixes the unknown (d/dX: stationarity of the free energy
in X). Generated; do not edit. Signature 369263e8a6fbf6b7.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np
from numba import njit

from generated.runtime.certificate import SIGN, Certificate, both, bounded, over, worse
from generated.runtime.contractions import INNER, add, add_product, average, average_of_product, clear, short, sum_of
from generated.runtime.unknowns import DIRECTION, IMAGE, TURNED, invert

LOSS = "coupled"
SIGNATURE = "369263e8a6fbf6b729cfb676dfd6d8d3e7c073ada21e04980758e7ed5e891714"


kappa_1, weight, nu0, nu1, nu2sq, kappa_2, kappa_3 = range(7)  # rows of node, then mu0, mu1, mu2sq per block
VECTORS = ('adjoint', 'm', 'T', 'psi', 'zeta_1', 'zeta_2', 'zeta_3', 'residual_adjoint', 'residual_m', 'residual_T',
    'residual_psi', 'residual_zeta_1', 'residual_zeta_2', 'residual_zeta_3', 'd_adjoint', 'd_m', 'd_T', 'd_psi',
    'd_zeta_1', 'd_zeta_2', 'd_zeta_3', 'd_residual_adjoint', 'd_residual_m', 'd_residual_T', 'd_residual_psi',
    'd_residual_zeta_1', 'd_residual_zeta_2', 'd_residual_zeta_3', 'Q2', 'V2', 'zeta_hat_1', 'zeta_hat_2',
    'zeta_hat_3', 'Q2_hat', 'V2_hat', 'psi_hat', 'd_Q2', 'd_V2', 'd_zeta_hat_1', 'd_zeta_hat_2', 'd_zeta_hat_3',
    'd_Q2_hat', 'd_V2_hat', 'd_psi_hat', 'average_m', 'average_d_residual_m')
(adjoint, m, T, psi, zeta_1, zeta_2, zeta_3, residual_adjoint, residual_m, residual_T, residual_psi, residual_zeta_1,
    residual_zeta_2, residual_zeta_3, d_adjoint, d_m, d_T, d_psi, d_zeta_1, d_zeta_2, d_zeta_3, d_residual_adjoint,
    d_residual_m, d_residual_T, d_residual_psi, d_residual_zeta_1, d_residual_zeta_2, d_residual_zeta_3, Q2, V2,
    zeta_hat_1, zeta_hat_2, zeta_hat_3, Q2_hat, V2_hat, psi_hat, d_Q2, d_V2, d_zeta_hat_1, d_zeta_hat_2, d_zeta_hat_3,
    d_Q2_hat, d_V2_hat, d_psi_hat, average_m, average_d_residual_m) = range(46)
MATRICES = ('Q1', 'V1', 'residual_Q1', 'residual_V1', 'd_Q1', 'd_V1', 'd_residual_Q1', 'd_residual_V1', 'Q1_hat',
    'V1_hat', 'P', 'M', 'S', 'd_Q1_hat', 'd_V1_hat', 'd_P', 'd_M', 'd_S')
(Q1, V1, residual_Q1, residual_V1, d_Q1, d_V1, d_residual_Q1, d_residual_V1, Q1_hat, V1_hat, P, M, S, d_Q1_hat,
    d_V1_hat, d_P, d_M, d_S) = range(18)
FIELDS = ('slope', 'avg_M', 'avg_g', 'avg_h', 'avg_gg', 'avg_gh', 'avg_hx', 'avg_ggh', 'avg_ghx', 'avg_hxx', 'avg_tg',
    'avg_th', 'avg_tgh', 'avg_thx', 'avg_tth', 'mean', 'Delta', 'V', 'part_1', 'part_2', 'part_3', 'weight_1',
    'weight_2', 'weight_3', 'weight_4', 'weight_5', 'weight_6', 'weight_7', 'd_slope', 'd_mean', 'd_Delta', 'd_V',
    'd_avg_g', 'd_avg_gg', 'd_avg_h', 'd_avg_tg')
(slope, avg_M, avg_g, avg_h, avg_gg, avg_gh, avg_hx, avg_ggh, avg_ghx, avg_hxx, avg_tg, avg_th, avg_tgh, avg_thx,
    avg_tth, mean, Delta, V, part_1, part_2, part_3, weight_1, weight_2, weight_3, weight_4, weight_5, weight_6,
    weight_7, d_slope, d_mean, d_Delta, d_V, d_avg_g, d_avg_gg, d_avg_h, d_avg_tg) = range(36)
UNKNOWNS = ('adjoint', 'm', 'Q1', 'T', 'V1', 'psi', 'zeta_1', 'zeta_2', 'zeta_3')
BLOCKS = (UNKNOWNS,)
# over the output
AVERAGES = ('avg_M', 'avg_g', 'avg_h', 'avg_gg', 'avg_gh', 'avg_hx', 'avg_ggh', 'avg_ghx', 'avg_hxx', 'avg_tg',
    'avg_th', 'avg_tgh', 'avg_thx', 'avg_tth')
SLOPES = ('slope',)


@njit(cache=True, error_model="numpy", nogil=True)
def fields(node, fraction, numbers, vector, matrix, field):
    """Everything up to the law of the output, from the unknowns."""
    short()
    beta = numbers[1]
    K, N = fraction.shape[0], node.shape[1]
    mu0 = 7
    mu1 = 7 + K
    mu2sq = 7 + 2*K
    for b in range(K):
        vector[Q2, b] = vector[adjoint, b]  # d/dV2_hat
        vector[V2, b] = vector[T, b]/beta  # d/dQ2_hat
    clear(field, slope)
    for b in range(K):
        add(field, slope, vector[psi, b], node, mu1 + b)
    clear(field, mean)
    clear(field, part_1)
    clear(field, part_2)
    clear(field, part_3)
    for b in range(K):
        add(field, mean, vector[m, b], node, mu0 + b)
        add(field, part_1, vector[zeta_1, b], node, mu1 + b)
        add(field, part_2, vector[zeta_2, b], node, mu1 + b)
        add(field, part_3, vector[zeta_3, b], node, mu1 + b)
    clear(field, Delta)
    for b in range(K):
        add(field, Delta, vector[Q2, b], node, mu2sq + b)
        add_product(field, Delta, matrix[Q1, b, b], node, mu1 + b, mu1 + b)
        for c in range(b):
            add_product(field, Delta, 2.0*matrix[Q1, c, b], node, mu1 + b, mu1 + c)
    clear(field, V)
    for b in range(K):
        add(field, V, vector[V2, b], node, mu2sq + b)
        add_product(field, V, matrix[V1, b, b], node, mu1 + b, mu1 + b)
        for c in range(b):
            add_product(field, V, 2.0*matrix[V1, c, b], node, mu1 + b, mu1 + c)
    for n in range(N):
        kappa_1_n = node[kappa_1, n]
        kappa_2_n = node[kappa_2, n]
        kappa_3_n = node[kappa_3, n]
        part_1_n = field[part_1, n]
        part_2_n = field[part_2, n]
        part_3_n = field[part_3, n]
        slope_n = field[slope, n]
        mean_n = kappa_1_n*part_1_n + kappa_2_n*part_2_n + kappa_3_n*part_3_n + field[mean, n]
        field[mean, n] = mean_n
        Delta_n = field[Delta, n] - (slope_n*slope_n)
        field[Delta, n] = Delta_n


@njit(cache=True, error_model="numpy", nogil=True)
def residual(node, fraction, numbers, vector, matrix, field):
    """The residuals of the unknowns, given the averages over the output."""
    short()
    alpha, beta, ridge, inverse_dimension = numbers[0], numbers[1], numbers[2], numbers[4]
    K, N = fraction.shape[0], node.shape[1]
    mu0 = 7
    mu1 = 7 + K
    mu2sq = 7 + 2*K
    for n in range(N):
        avg_g_n = field[avg_g, n]
        avg_gg_n = field[avg_gg, n]
        avg_h_n = field[avg_h, n]
        avg_tg_n = field[avg_tg, n]
        kappa_1_n = node[kappa_1, n]
        kappa_2_n = node[kappa_2, n]
        kappa_3_n = node[kappa_3, n]
        slope_n = field[slope, n]
        weight_n = node[weight, n]
        x0 = avg_g_n*weight_n
        field[weight_1, n] = x0*kappa_1_n
        field[weight_2, n] = x0*kappa_2_n
        field[weight_3, n] = x0*kappa_3_n
        field[weight_4, n] = avg_gg_n*weight_n
        field[weight_5, n] = avg_h_n*weight_n
        field[weight_6, n] = (avg_h_n*slope_n + avg_tg_n)*weight_n
        field[weight_7, n] = x0
    for b0 in range(K):
        vector[zeta_hat_1, b0] = alpha/beta*average(field, weight_1, node, mu1 + b0)  # d/dzeta_1
        vector[zeta_hat_2, b0] = alpha/beta*average(field, weight_2, node, mu1 + b0)  # d/dzeta_2
        vector[zeta_hat_3, b0] = alpha/beta*average(field, weight_3, node, mu1 + b0)  # d/dzeta_3
        vector[Q2_hat, b0] = alpha/beta*average(field, weight_4, node, mu2sq + b0)  # d/dV2
        vector[V2_hat, b0] = alpha/beta*average(field, weight_5, node, mu2sq + b0)  # d/dQ2
        vector[psi_hat, b0] = alpha/beta*average(field, weight_6, node, mu1 + b0)  # d/dpsi
        vector[average_m, b0] = average(field, weight_7, node, mu0 + b0)
        for b1 in range(b0 + 1):
            matrix[Q1_hat, b0, b1] = alpha/beta*average_of_product(field, weight_4, node, mu1 + b0, mu1 + b1)  # d/dV1
            matrix[Q1_hat, b1, b0] = matrix[Q1_hat, b0, b1]
            matrix[V1_hat, b0, b1] = alpha/beta*average_of_product(field, weight_5, node, mu1 + b0, mu1 + b1)  # d/dQ1
            matrix[V1_hat, b1, b0] = matrix[V1_hat, b0, b1]
    for b in range(K):
        for c in range(K):
            matrix[P, b, c] = (1.0 if b == c else 0.0) + vector[T, c]*matrix[V1_hat, b, c]
    invert(matrix, P, K)
    for b in range(K):
        for c in range(K):
            sum1 = 0.0
            for e in range(K):
                sum1 += matrix[P, b, e]*matrix[V1_hat, e, c]
            matrix[M, b, c] = vector[T, b]*matrix[P, b, c]
            matrix[S, b, c] = sum1
    for b in range(K):
        sum2 = 0.0
        sum3 = 0.0
        sum4 = 0.0
        sum5 = 0.0
        for a in range(K):
            sum6 = 0.0
            for c in range(K):
                sum6 += matrix[P, b, c]*matrix[Q1_hat, a, c]
            sum2 += vector[psi_hat, a]*matrix[P, b, a]
            sum3 += (matrix[S, a, b]*matrix[S, a, b])*vector[adjoint, a]
            sum4 += sum6*matrix[P, b, a]
            sum5 += vector[psi_hat, a]*matrix[M, a, b]
        vector[residual_adjoint, b] = (beta*vector[adjoint, b]*fraction[b]/(vector[T, b]*vector[T, b])
            - inverse_dimension*(vector[m, b]*vector[m, b])/(vector[T, b]*vector[T, b]) - (sum2*sum2) - sum3
            - (vector[zeta_hat_1, b]*vector[zeta_hat_1, b]) - (vector[zeta_hat_2, b]*vector[zeta_hat_2, b])
            - (vector[zeta_hat_3, b]*vector[zeta_hat_3, b]) - sum4/beta - vector[Q2_hat, b]/beta)
        vector[residual_m, b] = -alpha*vector[average_m, b] + inverse_dimension*beta*vector[m, b]/vector[T, b]
        vector[residual_T, b] = -beta*fraction[b]/(ridge + matrix[S, b, b] + vector[V2_hat, b]) + vector[T, b]
        vector[residual_psi, b] = -sum5 + vector[psi, b]
        vector[residual_zeta_1, b] = -vector[T, b]*vector[zeta_hat_1, b] + vector[zeta_1, b]
        vector[residual_zeta_2, b] = -vector[T, b]*vector[zeta_hat_2, b] + vector[zeta_2, b]
        vector[residual_zeta_3, b] = -vector[T, b]*vector[zeta_hat_3, b] + vector[zeta_3, b]
        for c in range(K):
            sum7 = 0.0
            sum8 = 0.0
            sum9 = 0.0
            sum10 = 0.0
            for a in range(K):
                sum11 = 0.0
                for d in range(K):
                    sum11 += matrix[M, c, d]*matrix[Q1_hat, a, d]
                sum7 += vector[adjoint, a]*matrix[P, a, b]*matrix[P, a, c]
                sum8 += sum11*matrix[M, a, b]
                sum9 += vector[psi_hat, a]*matrix[M, a, b]
                sum10 += vector[psi_hat, a]*matrix[M, a, c]
            matrix[residual_Q1, b, c] = -sum10*sum9 - sum7 + matrix[Q1, b, c] - sum8/beta
            matrix[residual_V1, b, c] = matrix[V1, b, c] - matrix[M, b, c]/beta


@njit(cache=True, **INNER)
def _tangents(node, fraction, numbers, vector, matrix, field):
    """What the residuals do along a direction of the unknowns."""
    short()
    alpha, beta, ridge, inverse_dimension = numbers[0], numbers[1], numbers[2], numbers[4]
    K, N = fraction.shape[0], node.shape[1]
    mu0 = 7
    mu1 = 7 + K
    mu2sq = 7 + 2*K
    for b in range(K):
        vector[d_Q2, b] = vector[d_adjoint, b]
        vector[d_V2, b] = vector[d_T, b]/beta
    clear(field, d_slope)
    for b in range(K):
        add(field, d_slope, vector[d_psi, b], node, mu1 + b)
    clear(field, d_mean)
    clear(field, part_1)
    clear(field, part_2)
    clear(field, part_3)
    for b in range(K):
        add(field, d_mean, vector[d_zeta_1, b], node, mu1 + b)
        add(field, part_1, vector[d_zeta_2, b], node, mu1 + b)
        add(field, part_2, vector[d_zeta_3, b], node, mu1 + b)
        add(field, part_3, vector[d_m, b], node, mu0 + b)
    clear(field, d_Delta)
    for b in range(K):
        add_product(field, d_Delta, matrix[d_Q1, b, b], node, mu1 + b, mu1 + b)
        for c in range(b):
            add_product(field, d_Delta, 2.0*matrix[d_Q1, b, c], node, mu1 + b, mu1 + c)
        add(field, d_Delta, vector[d_Q2, b], node, mu2sq + b)
    clear(field, d_V)
    for b in range(K):
        add_product(field, d_V, matrix[d_V1, b, b], node, mu1 + b, mu1 + b)
        for c in range(b):
            add_product(field, d_V, 2.0*matrix[d_V1, b, c], node, mu1 + b, mu1 + c)
        add(field, d_V, vector[d_V2, b], node, mu2sq + b)
    for n in range(N):
        avg_ggh_n = field[avg_ggh, n]
        avg_gh_n = field[avg_gh, n]
        avg_ghx_n = field[avg_ghx, n]
        avg_h_n = field[avg_h, n]
        avg_hx_n = field[avg_hx, n]
        avg_hxx_n = field[avg_hxx, n]
        avg_tgh_n = field[avg_tgh, n]
        avg_th_n = field[avg_th, n]
        avg_thx_n = field[avg_thx, n]
        avg_tth_n = field[avg_tth, n]
        d_V_n = field[d_V, n]
        d_slope_n = field[d_slope, n]
        kappa_1_n = node[kappa_1, n]
        kappa_2_n = node[kappa_2, n]
        kappa_3_n = node[kappa_3, n]
        part_1_n = field[part_1, n]
        part_2_n = field[part_2, n]
        part_3_n = field[part_3, n]
        slope_n = field[slope, n]
        weight_n = node[weight, n]
        d_mean_n = field[d_mean, n]*kappa_1_n + kappa_2_n*part_1_n + kappa_3_n*part_2_n + part_3_n
        field[d_mean, n] = d_mean_n
        d_Delta_n = field[d_Delta, n] - 2.0*d_slope_n*slope_n
        field[d_Delta, n] = d_Delta_n
        d_avg_g_n = -avg_gh_n*d_V_n - avg_h_n*d_mean_n - 0.5*avg_hx_n*d_Delta_n - avg_th_n*d_slope_n
        field[d_avg_g, n] = d_avg_g_n
        d_avg_gg_n = -2.0*avg_ggh_n*d_V_n - 2.0*avg_gh_n*d_mean_n - avg_ghx_n*d_Delta_n - 2.0*avg_tgh_n*d_slope_n
        field[d_avg_gg, n] = d_avg_gg_n
        d_avg_h_n = avg_ghx_n*d_V_n + avg_hx_n*d_mean_n + 0.5*avg_hxx_n*d_Delta_n + avg_thx_n*d_slope_n
        field[d_avg_h, n] = d_avg_h_n
        d_avg_tg_n = -avg_tgh_n*d_V_n - avg_th_n*d_mean_n - 0.5*avg_thx_n*d_Delta_n - avg_tth_n*d_slope_n
        field[d_avg_tg, n] = d_avg_tg_n
        x0 = d_avg_g_n*weight_n
        field[weight_1, n] = x0*kappa_1_n
        field[weight_2, n] = x0*kappa_2_n
        field[weight_3, n] = x0*kappa_3_n
        field[weight_4, n] = d_avg_gg_n*weight_n
        field[weight_5, n] = d_avg_h_n*weight_n
        field[weight_6, n] = (avg_h_n*d_slope_n + d_avg_h_n*slope_n + d_avg_tg_n)*weight_n
        field[weight_7, n] = x0
    for b0 in range(K):
        vector[d_zeta_hat_1, b0] = alpha/beta*average(field, weight_1, node, mu1 + b0)
        vector[d_zeta_hat_2, b0] = alpha/beta*average(field, weight_2, node, mu1 + b0)
        vector[d_zeta_hat_3, b0] = alpha/beta*average(field, weight_3, node, mu1 + b0)
        vector[d_Q2_hat, b0] = alpha/beta*average(field, weight_4, node, mu2sq + b0)
        vector[d_V2_hat, b0] = alpha/beta*average(field, weight_5, node, mu2sq + b0)
        vector[d_psi_hat, b0] = alpha/beta*average(field, weight_6, node, mu1 + b0)
        vector[average_d_residual_m, b0] = average(field, weight_7, node, mu0 + b0)
        for b1 in range(b0 + 1):
            matrix[d_Q1_hat, b0, b1] = alpha/beta*average_of_product(field, weight_4, node, mu1 + b0, mu1 + b1)
            matrix[d_Q1_hat, b1, b0] = matrix[d_Q1_hat, b0, b1]
            matrix[d_V1_hat, b0, b1] = alpha/beta*average_of_product(field, weight_5, node, mu1 + b0, mu1 + b1)
            matrix[d_V1_hat, b1, b0] = matrix[d_V1_hat, b0, b1]
    for b in range(K):
        for c in range(K):
            sum1 = 0.0
            sum2 = 0.0
            sum3 = 0.0
            sum4 = 0.0
            sum5 = 0.0
            sum6 = 0.0
            for a in range(K):
                sum7 = 0.0
                sum8 = 0.0
                sum9 = 0.0
                for d in range(K):
                    sum7 += matrix[P, b, d]*matrix[V1_hat, a, d]
                    sum8 += matrix[P, b, d]*matrix[d_V1_hat, a, d]
                    sum9 += matrix[M, b, d]*matrix[d_V1_hat, a, d]
                sum1 += sum7*vector[d_T, a]*matrix[P, a, c]
                sum2 += sum8*vector[T, a]*matrix[P, a, c]
                sum3 += sum9*matrix[M, a, c]
                sum4 += vector[d_T, a]*matrix[P, a, b]*matrix[P, a, c]
                sum5 += vector[d_T, a]*matrix[S, a, b]*matrix[S, a, c]
                sum6 += sum8*matrix[P, c, a]
            matrix[d_P, b, c] = -sum1 - sum2
            matrix[d_M, b, c] = -sum3 + sum4
            matrix[d_S, b, c] = -sum5 + sum6
    for b in range(K):
        sum10 = 0.0
        sum11 = 0.0
        sum12 = 0.0
        sum13 = 0.0
        sum14 = 0.0
        sum15 = 0.0
        sum16 = 0.0
        sum17 = 0.0
        sum18 = 0.0
        sum19 = 0.0
        for a in range(K):
            sum20 = 0.0
            sum21 = 0.0
            sum22 = 0.0
            for c in range(K):
                sum20 += matrix[P, b, c]*matrix[Q1_hat, a, c]
                sum21 += matrix[P, b, c]*matrix[d_Q1_hat, a, c]
                sum22 += matrix[Q1_hat, a, c]*matrix[d_P, b, c]
            sum10 += (matrix[S, a, b]*matrix[S, a, b])*vector[d_adjoint, a]
            sum11 += vector[adjoint, a]*matrix[S, a, b]*matrix[d_S, a, b]
            sum12 += sum20*matrix[d_P, b, a]
            sum13 += sum21*matrix[P, b, a]
            sum14 += sum22*matrix[P, b, a]
            sum15 += vector[d_psi_hat, a]*matrix[P, b, a]
            sum16 += vector[psi_hat, a]*matrix[d_P, b, a]
            sum17 += vector[psi_hat, a]*matrix[P, b, a]
            sum18 += vector[d_psi_hat, a]*matrix[M, a, b]
            sum19 += vector[psi_hat, a]*matrix[d_M, a, b]
        vector[d_residual_adjoint, b] = (beta*vector[d_adjoint, b]*fraction[b]/(vector[T, b]*vector[T, b])
            - 2.0*beta*vector[adjoint, b]*vector[d_T, b]*fraction[b]/(vector[T, b]*vector[T, b]*vector[T, b])
            - 2.0*inverse_dimension*vector[d_m, b]*vector[m, b]/(vector[T, b]*vector[T, b])
            + 2.0*inverse_dimension*(vector[m, b]*vector[m, b])*vector[d_T, b]/(vector[T, b]*vector[T, b]*vector[T, b])
            - sum10 - 2.0*sum11 - 2.0*sum17*(sum15 + sum16) - 2.0*vector[d_zeta_hat_1, b]*vector[zeta_hat_1, b]
            - 2.0*vector[d_zeta_hat_2, b]*vector[zeta_hat_2, b] - 2.0*vector[d_zeta_hat_3, b]*vector[zeta_hat_3, b]
            - (sum12 + sum13 + sum14)/beta - vector[d_Q2_hat, b]/beta)
        vector[d_residual_m, b] = (-alpha*vector[average_d_residual_m, b]
            + inverse_dimension*beta*vector[d_m, b]/vector[T, b]
            - inverse_dimension*beta*vector[d_T, b]*vector[m, b]/(vector[T, b]*vector[T, b]))
        vector[d_residual_T, b] = (beta*(matrix[d_S, b, b] + vector[d_V2_hat, b])*fraction[b]/((ridge + matrix[S, b, b]
            + vector[V2_hat, b])*(ridge + matrix[S, b, b] + vector[V2_hat, b])) + vector[d_T, b])
        vector[d_residual_psi, b] = -sum18 - sum19 + vector[d_psi, b]
        vector[d_residual_zeta_1, b] = (-vector[T, b]*vector[d_zeta_hat_1, b] - vector[d_T, b]*vector[zeta_hat_1, b]
            + vector[d_zeta_1, b])
        vector[d_residual_zeta_2, b] = (-vector[T, b]*vector[d_zeta_hat_2, b] - vector[d_T, b]*vector[zeta_hat_2, b]
            + vector[d_zeta_2, b])
        vector[d_residual_zeta_3, b] = (-vector[T, b]*vector[d_zeta_hat_3, b] - vector[d_T, b]*vector[zeta_hat_3, b]
            + vector[d_zeta_3, b])
        for c in range(K):
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
            for a in range(K):
                sum35 = 0.0
                sum36 = 0.0
                sum37 = 0.0
                for d in range(K):
                    sum35 += matrix[M, c, d]*matrix[Q1_hat, a, d]
                    sum36 += matrix[M, c, d]*matrix[d_Q1_hat, a, d]
                    sum37 += matrix[Q1_hat, a, d]*matrix[d_M, c, d]
                sum23 += vector[adjoint, a]*matrix[P, a, b]*matrix[d_P, a, c]
                sum24 += vector[adjoint, a]*matrix[P, a, c]*matrix[d_P, a, b]
                sum25 += vector[d_adjoint, a]*matrix[P, a, b]*matrix[P, a, c]
                sum26 += sum35*matrix[d_M, a, b]
                sum27 += sum36*matrix[M, a, b]
                sum28 += sum37*matrix[M, a, b]
                sum29 += vector[d_psi_hat, a]*matrix[M, a, b]
                sum30 += vector[psi_hat, a]*matrix[d_M, a, b]
                sum31 += vector[psi_hat, a]*matrix[M, a, c]
                sum32 += vector[d_psi_hat, a]*matrix[M, a, c]
                sum33 += vector[psi_hat, a]*matrix[d_M, a, c]
                sum34 += vector[psi_hat, a]*matrix[M, a, b]
            matrix[d_residual_Q1, b, c] = (-sum23 - sum24 - sum25 - sum31*(sum29 + sum30) - sum34*(sum32 + sum33)
                + matrix[d_Q1, b, c] - (sum26 + sum27 + sum28)/beta)
            matrix[d_residual_V1, b, c] = matrix[d_V1, b, c] - matrix[d_M, b, c]/beta


@njit(cache=True, error_model="numpy", nogil=True)
def jacobian(node, fraction, numbers, vector, matrix, field, work, members, first, result):
    """result[i, k] = d residual i/d unknown first + k, a symmetric pair moving together; members: places in work."""
    short()
    for k in range(result.shape[1]):
        for i in range(members.shape[1]):
            place = members[DIRECTION, i]
            value = 1.0 if i == first + k else 0.0
            work[place] = value
            work[place + members[TURNED, i]] = value
        _tangents(node, fraction, numbers, vector, matrix, field)
        for i in range(result.shape[0]):
            result[i, k] = work[members[IMAGE, i]]


@njit(cache=True, error_model="numpy", nogil=True)
def observables(node, fraction, numbers, vector, matrix, field, out):
    """out = (test_error, train_error, free_energy)."""
    short()
    alpha, beta, inverse_dimension = numbers[0], numbers[1], numbers[4]
    K, N = fraction.shape[0], node.shape[1]
    for n in range(N):
        Delta_n = field[Delta, n]
        V_n = field[V, n]
        avg_M_n = field[avg_M, n]
        avg_gg_n = field[avg_gg, n]
        mean_n = field[mean, n]
        nu0_n = node[nu0, n]
        nu1_n = node[nu1, n]
        nu2sq_n = node[nu2sq, n]
        slope_n = field[slope, n]
        weight_n = node[weight, n]
        field[weight_1, n] = ((((-mean_n + nu0_n)*(-mean_n + nu0_n)) + ((nu1_n - slope_n)*(nu1_n - slope_n)) + Delta_n
            + nu2sq_n)*weight_n)
        field[weight_2, n] = (-0.5*V_n*avg_gg_n + avg_M_n)*weight_n
        field[weight_3, n] = avg_M_n*weight_n
    average_test_error = sum_of(field, weight_1)
    average_train_error = sum_of(field, weight_2)
    average_free_energy = sum_of(field, weight_3)
    out[0] = average_test_error
    out[1] = average_train_error
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
    for b in range(K):
        sum11 = 0.0
        for a in range(K):
            sum2 += -matrix[Q1, a, b]*matrix[V1_hat, a, b] + matrix[Q1_hat, a, b]*matrix[V1, a, b]
            sum8 += matrix[M, b, a]*matrix[Q1_hat, b, a]
            sum11 += vector[psi_hat, a]*matrix[M, b, a]
        sum1 += -vector[Q2, b]*vector[V2_hat, b] + vector[Q2_hat, b]*vector[V2, b]
        sum3 += (vector[zeta_hat_1, b]*vector[zeta_hat_1, b])*vector[T, b]
        sum4 += (vector[zeta_hat_2, b]*vector[zeta_hat_2, b])*vector[T, b]
        sum5 += (vector[zeta_hat_3, b]*vector[zeta_hat_3, b])*vector[T, b]
        sum6 += sum11*vector[psi_hat, b]
        sum7 += vector[Q2_hat, b]*vector[T, b]
        sum9 += vector[psi, b]*vector[psi_hat, b] + vector[zeta_1, b]*vector[zeta_hat_1, b] + vector[zeta_2,
            b]*vector[zeta_hat_2, b] + vector[zeta_3, b]*vector[zeta_hat_3, b]
        sum10 += 0.5*(vector[m, b]*vector[m, b])/vector[T, b]
    out[2] = (alpha*average_free_energy + sum10*inverse_dimension*beta
        + beta*(0.5*sum1 + 0.5*sum2 - 0.5*sum3 - 0.5*sum4 - 0.5*sum5 - 0.5*sum6 + sum9 - 0.5*(sum7 + sum8)/beta))


def check_one_block(node, parameters, state):
    """``check`` for one block."""
    alpha, beta, ridge, noise, inverse_dimension = parameters.tolist()
    kappa_1 = node[0]
    weight = node[1]
    nu0 = node[2]
    nu1 = node[3]
    nu2sq = node[4]
    kappa_2 = node[5]
    kappa_3 = node[6]
    mu0 = node[7]
    mu1 = node[8]
    mu2sq = node[9]
    Q2 = float(state["Q2"][0])
    V2 = float(state["V2"][0])
    zeta_hat_1 = float(state["zeta_hat_1"][0])
    zeta_hat_2 = float(state["zeta_hat_2"][0])
    zeta_hat_3 = float(state["zeta_hat_3"][0])
    Q1_hat = float(state["Q1_hat"][0, 0])
    Q2_hat = float(state["Q2_hat"][0])
    V1_hat = float(state["V1_hat"][0, 0])
    V2_hat = float(state["V2_hat"][0])
    psi_hat = float(state["psi_hat"][0])
    P = float(state["P"][0, 0])
    M = float(state["M"][0, 0])
    S = float(state["S"][0, 0])
    adjoint = float(state["adjoint"][0])
    m = float(state["m"][0])
    Q1 = float(state["Q1"][0, 0])
    T = float(state["T"][0])
    V1 = float(state["V1"][0, 0])
    psi = float(state["psi"][0])
    zeta_1 = float(state["zeta_1"][0])
    zeta_2 = float(state["zeta_2"][0])
    zeta_3 = float(state["zeta_3"][0])
    avg_M = state["avg_M"]
    avg_g = state["avg_g"]
    avg_gg = state["avg_gg"]
    avg_h = state["avg_h"]
    avg_tg = state["avg_tg"]
    fraction, worst = 1.0, 0.0
    V = V1*(mu1**2) + V2*mu2sq
    slope = psi*mu1
    mean = m*mu0 + zeta_1*kappa_1*mu1 + zeta_2*kappa_2*mu1 + zeta_3*kappa_3*mu1
    Delta = Q1*(mu1**2) + Q2*mu2sq - slope**2
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
    x10 = avg_g*x0
    x11 = x1*x3
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
    average12 = np.dot(kappa_1, x10)
    average13 = np.dot(kappa_2, x10)
    average14 = np.dot(kappa_3, x10)
    average15 = np.dot(x11, abs(kappa_1))
    average16 = np.dot(x11, abs(kappa_2))
    average17 = np.dot(x11, abs(kappa_3))
    scale_Q2 = abs(adjoint)
    worst = worse(worst, Q2 - adjoint, scale_Q2)  # d/dV2_hat
    scale_V2 = abs(1.0/beta)*abs(T)
    worst = worse(worst, V2 - T/beta, scale_V2)  # d/dQ2_hat
    scale_zeta_hat_1 = average15*alpha*abs(1.0/beta)
    worst = worse(worst, zeta_hat_1 - average12*alpha/beta, scale_zeta_hat_1)  # d/dzeta_1
    scale_zeta_hat_2 = average16*alpha*abs(1.0/beta)
    worst = worse(worst, zeta_hat_2 - average13*alpha/beta, scale_zeta_hat_2)  # d/dzeta_2
    scale_zeta_hat_3 = average17*alpha*abs(1.0/beta)
    worst = worse(worst, zeta_hat_3 - average14*alpha/beta, scale_zeta_hat_3)  # d/dzeta_3
    scale_Q1_hat = average8*alpha*abs(1.0/beta)
    worst = worse(worst, Q1_hat - average4*alpha/beta, scale_Q1_hat)  # d/dV1
    scale_Q2_hat = average10*alpha*abs(1.0/beta)
    worst = worse(worst, Q2_hat - average5*alpha/beta, scale_Q2_hat)  # d/dV2
    scale_V1_hat = average9*alpha*abs(1.0/beta)
    worst = worse(worst, V1_hat - average6*alpha/beta, scale_V1_hat)  # d/dQ1
    scale_V2_hat = average11*alpha*abs(1.0/beta)
    worst = worse(worst, V2_hat - average7*alpha/beta, scale_V2_hat)  # d/dQ2
    scale_psi_hat = average1*alpha*abs(1.0/beta)
    worst = worse(worst, psi_hat - average0*alpha/beta, scale_psi_hat)  # d/dpsi
    scale_P = 1.0 + (1.0 + abs(T)*scale_V1_hat)*abs(P)
    worst = worse(worst, -1.0 + (1.0 + T*V1_hat)*P, scale_P)  # P
    scale_M = abs(T)*abs(P)
    worst = worse(worst, M - T*P, scale_M)  # M
    scale_S = abs(P)*scale_V1_hat
    worst = worse(worst, S - P*V1_hat, scale_S)  # S
    scale_adjoint = (zeta_hat_1**2 + zeta_hat_2**2 + zeta_hat_3**2 + (P**2)*(scale_psi_hat**2) + (S**2)*abs(adjoint)
        + abs(1.0/beta)*scale_Q2_hat + inverse_dimension*(m**2)/T**2 + (P**2)*abs(1.0/beta)*scale_Q1_hat
        + beta*abs(adjoint)*abs(fraction)/T**2)
    # adjoint
    worst = worse(worst, beta*adjoint*fraction/T**2 - zeta_hat_1**2 - zeta_hat_2**2 - zeta_hat_3**2 - Q2_hat/beta
        - (psi_hat**2)*(P**2) - (S**2)*adjoint - inverse_dimension*(m**2)/T**2 - (P**2)*Q1_hat/beta, scale_adjoint)
    scale_m = average3*alpha + inverse_dimension*beta*abs(m)/abs(T)
    worst = worse(worst, inverse_dimension*beta*m/T - average2*alpha, scale_m)  # d/dm
    scale_Q1 = (P**2)*abs(adjoint) + (scale_psi_hat**2)*(scale_M**2) + (scale_M**2)*abs(1.0/beta)*scale_Q1_hat
    worst = worse(worst, Q1 - (psi_hat**2)*(M**2) - (P**2)*adjoint - (M**2)*Q1_hat/beta, scale_Q1)  # d/dV1_hat
    scale_T = beta*abs(fraction)/abs(ridge + V2_hat + S)
    worst = worse(worst, T - beta*fraction/(ridge + V2_hat + S), scale_T)  # dL/dT
    scale_V1 = abs(1.0/beta)*scale_M
    worst = worse(worst, V1 - M/beta, scale_V1)  # d/dQ1_hat
    scale_psi = scale_psi_hat*scale_M
    worst = worse(worst, psi - psi_hat*M, scale_psi)  # d/dpsi_hat
    scale_zeta_1 = scale_T*scale_zeta_hat_1
    worst = worse(worst, zeta_1 - T*zeta_hat_1, scale_zeta_1)  # d/dzeta_hat_1
    scale_zeta_2 = scale_T*scale_zeta_hat_2
    worst = worse(worst, zeta_2 - T*zeta_hat_2, scale_zeta_2)  # d/dzeta_hat_2
    scale_zeta_3 = scale_T*scale_zeta_hat_3
    worst = worse(worst, zeta_3 - T*zeta_hat_3, scale_zeta_3)  # d/dzeta_hat_3
    return worst


def check(node, fraction, parameters, state):
    """Worst residual over all equations, each relative to the sum of its terms in absolute value."""
    if len(fraction) == 1:
        return check_one_block(node, parameters, state)
    alpha, beta, ridge, noise, inverse_dimension = parameters.tolist()
    K = len(fraction)
    identity = np.eye(K)
    given, found = both(node), Certificate(state)
    kappa_1 = given[:, 0]
    nu0 = given[:, 2]
    nu1 = given[:, 3]
    nu2sq = given[:, 4]
    kappa_2 = given[:, 5]
    kappa_3 = given[:, 6]
    weight = node[1]
    mu0 = given[:, 7:7 + K]
    mu1 = given[:, 7 + K:7 + K + K]
    mu2sq = given[:, 7 + 2*K:7 + 2*K + K]
    Q2 = both(state["Q2"])
    V2 = both(state["V2"])
    P = both(state["P"])
    adjoint = both(state["adjoint"])
    m = both(state["m"])
    Q1 = both(state["Q1"])
    T = both(state["T"])
    V1 = both(state["V1"])
    psi = both(state["psi"])
    zeta_1 = both(state["zeta_1"])
    zeta_2 = both(state["zeta_2"])
    zeta_3 = both(state["zeta_3"])
    avg_M = both(state["avg_M"])
    avg_g = bounded(state["avg_g"], state["avg_gg"])
    avg_gg = both(state["avg_gg"])
    avg_h = both(state["avg_h"])
    avg_tg = bounded(state["avg_tg"], state["avg_gg"])
    V = both((np.einsum('Ab,Abn->An', V2, mu2sq) + np.einsum('Acn->An', mu1*np.einsum('Abc,Abn->Acn', V1, mu1)))[0])
    slope = both((np.einsum('Ab,Abn->An', psi, mu1))[0])
    mean = both((np.einsum('Abn->An', m[:, :, None]*mu0 + zeta_1[:, :, None]*kappa_1[:, None, :]*mu1
        + zeta_2[:, :, None]*kappa_2[:, None, :]*mu1 + zeta_3[:, :, None]*kappa_3[:, None, :]*mu1))[0])
    Delta = both((SIGN[:, None]*(slope**2) + np.einsum('Ab,Abn->An', Q2, mu2sq)
        + np.einsum('Acn->An', mu1*np.einsum('Abc,Abn->Acn', Q1, mu1)))[0])
    Q2 = found.explicit("Q2", adjoint)  # d/dV2_hat
    V2 = found.explicit("V2", T/beta)  # d/dQ2_hat
    x0 = weight[None, :]*avg_g*kappa_1
    zeta_hat_1 = found.explicit("zeta_hat_1", alpha/beta*np.einsum('An,Abn->Ab', x0, mu1))  # d/dzeta_1
    x1 = weight[None, :]*avg_g*kappa_2
    zeta_hat_2 = found.explicit("zeta_hat_2", alpha/beta*np.einsum('An,Abn->Ab', x1, mu1))  # d/dzeta_2
    x2 = weight[None, :]*avg_g*kappa_3
    zeta_hat_3 = found.explicit("zeta_hat_3", alpha/beta*np.einsum('An,Abn->Ab', x2, mu1))  # d/dzeta_3
    x3 = weight[None, :]*avg_gg
    Q1_hat = found.explicit("Q1_hat", alpha/beta*np.einsum('Abn,Acn->Abc', x3[:, None, :]*mu1, mu1))  # d/dV1
    Q2_hat = found.explicit("Q2_hat", alpha/beta*np.einsum('An,Abn->Ab', x3, mu2sq))  # d/dV2
    x4 = weight[None, :]*avg_h
    V1_hat = found.explicit("V1_hat", alpha/beta*np.einsum('Abn,Acn->Abc', x4[:, None, :]*mu1, mu1))  # d/dQ1
    V2_hat = found.explicit("V2_hat", alpha/beta*np.einsum('An,Abn->Ab', x4, mu2sq))  # d/dQ2
    x5 = weight[None, :]*(avg_h*slope + avg_tg)
    psi_hat = found.explicit("psi_hat", alpha/beta*np.einsum('An,Abn->Ab', x5, mu1))  # d/dpsi
    # P
    found.implicit(SIGN[:, None, None]*identity[None, :, :] + np.einsum('Ace,Abe->Abc',
        T[:, :, None]*V1_hat.transpose(0, 2, 1) + identity[None, :, :], P))
    M = found.explicit("M", T[:, :, None]*P)  # M
    S = found.explicit("S", np.einsum('Abe,Ace->Abc', P, V1_hat.transpose(0, 2, 1)))  # S
    # adjoint
    found.implicit(SIGN[:, None]*(np.einsum('Aa,Aab->Ab', psi_hat, P.transpose(0, 2, 1))**2)
        + SIGN[:, None]*(zeta_hat_1**2) + SIGN[:, None]*(zeta_hat_2**2) + SIGN[:, None]*(zeta_hat_3**2)
        + SIGN[:, None]*np.einsum('Aab,Aa->Ab', S**2, adjoint)
        + SIGN[:, None]*np.einsum('Aab,Aab->Ab', np.einsum('Abc,Aac->Aab', P, Q1_hat), P.transpose(0, 2, 1))/beta
        + SIGN[:, None]*Q2_hat/beta + inverse_dimension*SIGN[:, None]*(over(T)**2)*(m**2)
        + beta*fraction[None, :]*(over(T)**2)*adjoint)
    x6 = weight[None, :]*avg_g
    found.implicit(alpha*SIGN[:, None]*np.einsum('An,Abn->Ab', x6, mu0) + inverse_dimension*beta*over(T)*m)  # d/dm
    # d/dV1_hat
    Q1 = found.explicit("Q1", np.einsum('Aac,Aab->Abc', np.einsum('Acd,Aad->Aac', M, Q1_hat), M)/beta
        + np.einsum('Aa,Aab->Ab', psi_hat, M)[:, :, None]*np.einsum('Aa,Aac->Ac', psi_hat, M)[:, None, :]
        + np.einsum('Aab,Aac->Abc', adjoint[:, :, None]*P, P))
    T = found.explicit("T", beta*fraction[None, :]*over(ridge + V2_hat + np.einsum('Abb->Ab', S)))  # dL/dT
    V1 = found.explicit("V1", M/beta)  # d/dQ1_hat
    psi = found.explicit("psi", np.einsum('Aa,Aab->Ab', psi_hat, M))  # d/dpsi_hat
    zeta_1 = found.explicit("zeta_1", T*zeta_hat_1)  # d/dzeta_hat_1
    zeta_2 = found.explicit("zeta_2", T*zeta_hat_2)  # d/dzeta_hat_2
    zeta_3 = found.explicit("zeta_3", T*zeta_hat_3)  # d/dzeta_hat_3
    return found.worst()
