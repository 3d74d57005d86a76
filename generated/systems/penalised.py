"""Saddle-point equations of any convex loss, 1 direction(s) beside the spike, any number of blocks K, a penalty on the
readout
[CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
    1. nonlinear in T, adjoint, m, Q1, V1, psi, zeta; then Q2, slope, V2, mean, Delta, V, avg_g, avg_gg, avg_h, avg_tg,
       zeta_hat, Q1_hat, Q2_hat, V1_hat, V2_hat, psi_hat, P, M, S
    avg_*: supplied by the module of the loss
A comment behind a line names the step of the derivation that fixes the unknown (d/dX: stationarity of the free energy
in X). Generated; do not edit. Signature 4601b86299448c89.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.compiling import entry, kept
from generated.runtime.contractions import INNER, add, add_product, average, average_of_product, clear, short, sum_of
from generated.runtime.tangents import TangentEquations, Text
from generated.runtime.unknowns import DIRECTION, IMAGE, TURNED, invert

LOSS = "coupled"
SIGNATURE = "4601b86299448c890407375ae4ef2d0c763423803aa4868d924171e8934744fd"


kappa, weight, nu0, nu1, nu2sq = np.arange(5)  # rows of node, then those of the blocks
ROWS = 5
VECTORS = ('T', 'adjoint', 'm', 'psi', 'zeta', 'residual_T', 'residual_adjoint', 'residual_m', 'residual_psi',
    'residual_zeta', 'd_T', 'd_adjoint', 'd_m', 'd_psi', 'd_zeta', 'd_residual_T', 'd_residual_adjoint',
    'd_residual_m', 'd_residual_psi', 'd_residual_zeta', 'Q2', 'V2', 'zeta_hat', 'Q2_hat', 'V2_hat', 'psi_hat', 'd_Q2',
    'd_V2', 'd_zeta_hat', 'd_Q2_hat', 'd_V2_hat', 'd_psi_hat', 'excess', 'random_field', 'pull', 'd_excess',
    'd_random_field', 'd_pull', 'average_m', 'average_d_residual_m')
(T, adjoint, m, psi, zeta, residual_T, residual_adjoint, residual_m, residual_psi, residual_zeta, d_T, d_adjoint, d_m,
    d_psi, d_zeta, d_residual_T, d_residual_adjoint, d_residual_m, d_residual_psi, d_residual_zeta, Q2, V2, zeta_hat,
    Q2_hat, V2_hat, psi_hat, d_Q2, d_V2, d_zeta_hat, d_Q2_hat, d_V2_hat, d_psi_hat, excess, random_field, pull,
    d_excess, d_random_field, d_pull, average_m, average_d_residual_m) = np.arange(40)
MATRICES = ('Q1', 'V1', 'residual_Q1', 'residual_V1', 'd_Q1', 'd_V1', 'd_residual_Q1', 'd_residual_V1', 'Q1_hat',
    'V1_hat', 'P', 'M', 'S', 'd_Q1_hat', 'd_V1_hat', 'd_P', 'd_M', 'd_S', 'product_1', 'product_2', 'product_3',
    'product_4', 'product_5', 'product_6')
(Q1, V1, residual_Q1, residual_V1, d_Q1, d_V1, d_residual_Q1, d_residual_V1, Q1_hat, V1_hat, P, M, S, d_Q1_hat,
    d_V1_hat, d_P, d_M, d_S, product_1, product_2, product_3, product_4, product_5, product_6) = np.arange(24)
FIELDS = ('slope', 'avg_M', 'avg_g', 'avg_h', 'avg_gg', 'avg_gh', 'avg_hx', 'avg_ggh', 'avg_ghx', 'avg_hxx', 'avg_tg',
    'avg_th', 'avg_tgh', 'avg_thx', 'avg_tth', 'avg_l', 'mean', 'Delta', 'V', 'part_1', 'weight_1', 'weight_2',
    'weight_3', 'weight_4', 'weight_5', 'd_slope', 'd_mean', 'd_Delta', 'd_V', 'd_avg_g', 'd_avg_gg', 'd_avg_h',
    'd_avg_tg')
(slope, avg_M, avg_g, avg_h, avg_gg, avg_gh, avg_hx, avg_ggh, avg_ghx, avg_hxx, avg_tg, avg_th, avg_tgh, avg_thx,
    avg_tth, avg_l, mean, Delta, V, part_1, weight_1, weight_2, weight_3, weight_4, weight_5, d_slope, d_mean, d_Delta,
    d_V, d_avg_g, d_avg_gg, d_avg_h, d_avg_tg) = np.arange(33)
UNKNOWNS = ('T', 'adjoint', 'm', 'Q1', 'V1', 'psi', 'zeta')
BLOCKS = (UNKNOWNS,)
# over the output
AVERAGES = ('avg_M', 'avg_g', 'avg_h', 'avg_gg', 'avg_gh', 'avg_hx', 'avg_ggh', 'avg_ghx', 'avg_hxx', 'avg_tg',
    'avg_th', 'avg_tgh', 'avg_thx', 'avg_tth', 'avg_l')
SLOPES = ('slope',)


@entry
def fields(node, fraction, numbers, vector, matrix, field):
    """Everything up to the law of the output, from the unknowns."""
    short()
    beta = numbers[1]
    K, N = fraction.shape[0], node.shape[1]
    mu0 = 5
    mu1 = 5 + K
    mu2sq = 5 + 2*K
    for b in range(K):
        vector[Q2, b] = vector[adjoint, b]  # d/dV2_hat
        vector[V2, b] = vector[T, b]/beta  # d/dQ2_hat
    clear(field, slope)
    for b in range(K):
        add(field, slope, vector[psi, b], node, mu1 + b)
    clear(field, mean)
    clear(field, part_1)
    for b in range(K):
        add(field, mean, vector[m, b], node, mu0 + b)
        add(field, part_1, vector[zeta, b], node, mu1 + b)
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
        kappa_n = node[kappa, n]
        part_1_n = field[part_1, n]
        slope_n = field[slope, n]
        mean_n = kappa_n*part_1_n + field[mean, n]
        field[mean, n] = mean_n
        Delta_n = field[Delta, n] - (slope_n*slope_n)
        field[Delta, n] = Delta_n


@entry
def residual(node, fraction, numbers, vector, matrix, field):
    """The residuals of the unknowns, given the averages over the output."""
    short()
    alpha, beta, ridge, inverse_dimension = numbers[0], numbers[1], numbers[2], numbers[4]
    K, N = fraction.shape[0], node.shape[1]
    mu0 = 5
    mu1 = 5 + K
    mu2sq = 5 + 2*K
    for n in range(N):
        avg_g_n = field[avg_g, n]
        avg_gg_n = field[avg_gg, n]
        avg_h_n = field[avg_h, n]
        avg_tg_n = field[avg_tg, n]
        kappa_n = node[kappa, n]
        slope_n = field[slope, n]
        weight_n = node[weight, n]
        x0 = avg_g_n*weight_n
        field[weight_1, n] = kappa_n*x0
        field[weight_2, n] = avg_gg_n*weight_n
        field[weight_3, n] = avg_h_n*weight_n
        field[weight_4, n] = (avg_h_n*slope_n + avg_tg_n)*weight_n
        field[weight_5, n] = x0
    for b0 in range(K):
        vector[zeta_hat, b0] = alpha/beta*average(field, weight_1, node, mu1 + b0)  # d/dzeta
        vector[Q2_hat, b0] = alpha/beta*average(field, weight_2, node, mu2sq + b0)  # d/dV2
        vector[V2_hat, b0] = alpha/beta*average(field, weight_3, node, mu2sq + b0)  # d/dQ2
        vector[psi_hat, b0] = alpha/beta*average(field, weight_4, node, mu1 + b0)  # d/dpsi
        vector[average_m, b0] = average(field, weight_5, node, mu0 + b0)
        for b1 in range(b0 + 1):
            matrix[Q1_hat, b0, b1] = alpha/beta*average_of_product(field, weight_2, node, mu1 + b0, mu1 + b1)  # d/dV1
            matrix[Q1_hat, b1, b0] = matrix[Q1_hat, b0, b1]
            matrix[V1_hat, b0, b1] = alpha/beta*average_of_product(field, weight_3, node, mu1 + b0, mu1 + b1)  # d/dQ1
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
        vector[residual_T, b] = (-beta*fraction[b]/vector[T, b] + ridge + matrix[S, b, b] + vector[V2_hat, b]
            + vector[excess, b])
    for b in range(K):
        sum2 = 0.0
        sum3 = 0.0
        sum4 = 0.0
        for a in range(K):
            sum5 = 0.0
            for c in range(K):
                sum5 += matrix[P, b, c]*matrix[Q1_hat, a, c]
            sum2 += vector[psi_hat, a]*matrix[P, b, a]
            sum3 += (matrix[S, a, b]*matrix[S, a, b])*vector[adjoint, a]
            sum4 += sum5*matrix[P, b, a]
        vector[residual_adjoint, b] = (beta*vector[adjoint, b]*fraction[b]/(vector[T, b]*vector[T, b])
            - inverse_dimension*(vector[m, b]*vector[m, b])/(vector[T, b]*vector[T, b]) - (sum2*sum2) - sum3
            - (vector[zeta_hat, b]*vector[zeta_hat, b]) - sum4/beta - vector[Q2_hat, b]/beta
            - vector[random_field, b]/beta)
        vector[residual_m, b] = (-alpha*vector[average_m, b] + inverse_dimension*beta*vector[m, b]/vector[T, b]
            + vector[pull, b])
        for c in range(K):
            sum6 = 0.0
            for d in range(K):
                sum6 += matrix[M, b, d]*matrix[Q1_hat, c, d]
            matrix[product_1, b, c] = sum6
    for b in range(K):
        sum7 = 0.0
        for a in range(K):
            sum7 += vector[psi_hat, a]*matrix[M, a, b]
        vector[residual_psi, b] = -sum7 + vector[psi, b]
        vector[residual_zeta, b] = -vector[T, b]*vector[zeta_hat, b] + vector[zeta, b]
        for c in range(K):
            sum8 = 0.0
            sum9 = 0.0
            sum10 = 0.0
            sum11 = 0.0
            for a in range(K):
                sum8 += vector[adjoint, a]*matrix[P, a, b]*matrix[P, a, c]
                sum9 += matrix[M, a, b]*matrix[product_1, c, a]
                sum10 += vector[psi_hat, a]*matrix[M, a, b]
                sum11 += vector[psi_hat, a]*matrix[M, a, c]
            matrix[residual_Q1, b, c] = -sum10*sum11 - sum8 + matrix[Q1, b, c] - sum9/beta
            matrix[residual_V1, b, c] = matrix[V1, b, c] - matrix[M, b, c]/beta


@kept(**INNER)
def _tangents(node, fraction, numbers, vector, matrix, field):
    """What the residuals do along a direction of the unknowns."""
    short()
    alpha, beta, inverse_dimension = numbers[0], numbers[1], numbers[4]
    K, N = fraction.shape[0], node.shape[1]
    mu0 = 5
    mu1 = 5 + K
    mu2sq = 5 + 2*K
    for b in range(K):
        vector[d_Q2, b] = vector[d_adjoint, b]
        vector[d_V2, b] = vector[d_T, b]/beta
    clear(field, d_slope)
    for b in range(K):
        add(field, d_slope, vector[d_psi, b], node, mu1 + b)
    clear(field, d_mean)
    clear(field, part_1)
    for b in range(K):
        add(field, d_mean, vector[d_zeta, b], node, mu1 + b)
        add(field, part_1, vector[d_m, b], node, mu0 + b)
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
        kappa_n = node[kappa, n]
        part_1_n = field[part_1, n]
        slope_n = field[slope, n]
        weight_n = node[weight, n]
        d_mean_n = kappa_n*field[d_mean, n] + part_1_n
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
        field[weight_1, n] = kappa_n*x0
        field[weight_2, n] = d_avg_gg_n*weight_n
        field[weight_3, n] = d_avg_h_n*weight_n
        field[weight_4, n] = (avg_h_n*d_slope_n + d_avg_h_n*slope_n + d_avg_tg_n)*weight_n
        field[weight_5, n] = x0
    for b0 in range(K):
        vector[d_zeta_hat, b0] = alpha/beta*average(field, weight_1, node, mu1 + b0)
        vector[d_Q2_hat, b0] = alpha/beta*average(field, weight_2, node, mu2sq + b0)
        vector[d_V2_hat, b0] = alpha/beta*average(field, weight_3, node, mu2sq + b0)
        vector[d_psi_hat, b0] = alpha/beta*average(field, weight_4, node, mu1 + b0)
        vector[average_d_residual_m, b0] = average(field, weight_5, node, mu0 + b0)
        for b1 in range(b0 + 1):
            matrix[d_Q1_hat, b0, b1] = alpha/beta*average_of_product(field, weight_2, node, mu1 + b0, mu1 + b1)
            matrix[d_Q1_hat, b1, b0] = matrix[d_Q1_hat, b0, b1]
            matrix[d_V1_hat, b0, b1] = alpha/beta*average_of_product(field, weight_3, node, mu1 + b0, mu1 + b1)
            matrix[d_V1_hat, b1, b0] = matrix[d_V1_hat, b0, b1]
    for b in range(K):
        for c in range(K):
            sum1 = 0.0
            sum2 = 0.0
            for d in range(K):
                sum1 += matrix[P, b, d]*matrix[V1_hat, c, d]
                sum2 += matrix[P, b, d]*matrix[d_V1_hat, c, d]
            matrix[product_1, b, c] = sum1
            matrix[product_2, b, c] = sum2
    for b in range(K):
        for c in range(K):
            sum3 = 0.0
            sum4 = 0.0
            sum5 = 0.0
            for a in range(K):
                sum3 += vector[T, a]*matrix[P, a, c]*matrix[product_2, b, a]
                sum4 += vector[d_T, a]*matrix[P, a, c]*matrix[product_1, b, a]
                sum5 += matrix[M, b, a]*matrix[d_V1_hat, c, a]
            matrix[d_P, b, c] = -sum3 - sum4
            matrix[product_3, b, c] = sum5
    for b in range(K):
        for c in range(K):
            sum6 = 0.0
            sum7 = 0.0
            sum8 = 0.0
            sum9 = 0.0
            for a in range(K):
                sum6 += matrix[M, a, c]*matrix[product_3, b, a]
                sum7 += vector[d_T, a]*matrix[P, a, b]*matrix[P, a, c]
                sum8 += vector[d_T, a]*matrix[S, a, b]*matrix[S, a, c]
                sum9 += matrix[P, c, a]*matrix[product_2, b, a]
            matrix[d_M, b, c] = -sum6 + sum7
            matrix[d_S, b, c] = -sum8 + sum9
        vector[d_residual_T, b] = (beta*vector[d_T, b]*fraction[b]/(vector[T, b]*vector[T, b]) + matrix[d_S, b, b]
            + vector[d_V2_hat, b] + vector[d_excess, b])
    for b in range(K):
        sum10 = 0.0
        sum11 = 0.0
        sum12 = 0.0
        sum13 = 0.0
        sum14 = 0.0
        sum15 = 0.0
        sum16 = 0.0
        sum17 = 0.0
        for a in range(K):
            sum18 = 0.0
            sum19 = 0.0
            sum20 = 0.0
            for c in range(K):
                sum18 += matrix[P, b, c]*matrix[Q1_hat, a, c]
                sum19 += matrix[P, b, c]*matrix[d_Q1_hat, a, c]
                sum20 += matrix[Q1_hat, a, c]*matrix[d_P, b, c]
            sum10 += (matrix[S, a, b]*matrix[S, a, b])*vector[d_adjoint, a]
            sum11 += vector[adjoint, a]*matrix[S, a, b]*matrix[d_S, a, b]
            sum12 += sum18*matrix[d_P, b, a]
            sum13 += sum19*matrix[P, b, a]
            sum14 += sum20*matrix[P, b, a]
            sum15 += vector[d_psi_hat, a]*matrix[P, b, a]
            sum16 += vector[psi_hat, a]*matrix[d_P, b, a]
            sum17 += vector[psi_hat, a]*matrix[P, b, a]
        vector[d_residual_adjoint, b] = (beta*vector[d_adjoint, b]*fraction[b]/(vector[T, b]*vector[T, b])
            - 2.0*beta*vector[adjoint, b]*vector[d_T, b]*fraction[b]/(vector[T, b]*vector[T, b]*vector[T, b])
            - 2.0*inverse_dimension*vector[d_m, b]*vector[m, b]/(vector[T, b]*vector[T, b])
            + 2.0*inverse_dimension*(vector[m, b]*vector[m, b])*vector[d_T, b]/(vector[T, b]*vector[T, b]*vector[T, b])
            - sum10 - 2.0*sum11 - 2.0*sum17*(sum15 + sum16) - 2.0*vector[d_zeta_hat, b]*vector[zeta_hat, b]
            - (sum12 + sum13 + sum14)/beta - vector[d_Q2_hat, b]/beta - vector[d_random_field, b]/beta)
        vector[d_residual_m, b] = (-alpha*vector[average_d_residual_m, b]
            + inverse_dimension*beta*vector[d_m, b]/vector[T, b]
            - inverse_dimension*beta*vector[d_T, b]*vector[m, b]/(vector[T, b]*vector[T, b]) + vector[d_pull, b])
        for c in range(K):
            sum21 = 0.0
            sum22 = 0.0
            sum23 = 0.0
            for d in range(K):
                sum21 += matrix[M, b, d]*matrix[Q1_hat, c, d]
                sum22 += matrix[M, b, d]*matrix[d_Q1_hat, c, d]
                sum23 += matrix[Q1_hat, c, d]*matrix[d_M, b, d]
            matrix[product_4, b, c] = sum21
            matrix[product_5, b, c] = sum22
            matrix[product_6, b, c] = sum23
    for b in range(K):
        sum24 = 0.0
        sum25 = 0.0
        for a in range(K):
            sum24 += vector[d_psi_hat, a]*matrix[M, a, b]
            sum25 += vector[psi_hat, a]*matrix[d_M, a, b]
        vector[d_residual_psi, b] = -sum24 - sum25 + vector[d_psi, b]
        vector[d_residual_zeta, b] = (-vector[T, b]*vector[d_zeta_hat, b] - vector[d_T, b]*vector[zeta_hat, b]
            + vector[d_zeta, b])
        for c in range(K):
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
            for a in range(K):
                sum26 += vector[adjoint, a]*matrix[P, a, b]*matrix[d_P, a, c]
                sum27 += vector[adjoint, a]*matrix[P, a, c]*matrix[d_P, a, b]
                sum28 += vector[d_adjoint, a]*matrix[P, a, b]*matrix[P, a, c]
                sum29 += matrix[M, a, b]*matrix[product_5, c, a]
                sum30 += matrix[M, a, b]*matrix[product_6, c, a]
                sum31 += matrix[d_M, a, b]*matrix[product_4, c, a]
                sum32 += vector[d_psi_hat, a]*matrix[M, a, b]
                sum33 += vector[psi_hat, a]*matrix[d_M, a, b]
                sum34 += vector[psi_hat, a]*matrix[M, a, c]
                sum35 += vector[d_psi_hat, a]*matrix[M, a, c]
                sum36 += vector[psi_hat, a]*matrix[d_M, a, c]
                sum37 += vector[psi_hat, a]*matrix[M, a, b]
            matrix[d_residual_Q1, b, c] = (-sum26 - sum27 - sum28 - sum34*(sum32 + sum33) - sum37*(sum35 + sum36)
                + matrix[d_Q1, b, c] - (sum29 + sum30 + sum31)/beta)
            matrix[d_residual_V1, b, c] = matrix[d_V1, b, c] - matrix[d_M, b, c]/beta


@entry
def jacobian(node, fraction, numbers, vector, matrix, field, work, members, directions, result):
    """What residual i does along directions[:, k] is result[i, k], a symmetric pair moving together; members: places in
    work.
    """
    short()
    for k in range(result.shape[1]):
        for i in range(members.shape[1]):
            place = members[DIRECTION, i]
            value = directions[i, k]
            work[place] = value
            work[place + members[TURNED, i]] = value
        _tangents(node, fraction, numbers, vector, matrix, field)
        for i in range(result.shape[0]):
            result[i, k] = work[members[IMAGE, i]]


@entry
def observables(node, fraction, numbers, vector, matrix, field, out):
    """out = (test_error, train_error, free_energy)."""
    short()
    alpha, beta, inverse_dimension = numbers[0], numbers[1], numbers[4]
    K, N = fraction.shape[0], node.shape[1]
    for n in range(N):
        Delta_n = field[Delta, n]
        avg_M_n = field[avg_M, n]
        avg_l_n = field[avg_l, n]
        mean_n = field[mean, n]
        nu0_n = node[nu0, n]
        nu1_n = node[nu1, n]
        nu2sq_n = node[nu2sq, n]
        slope_n = field[slope, n]
        weight_n = node[weight, n]
        field[weight_1, n] = ((((-mean_n + nu0_n)*(-mean_n + nu0_n)) + ((nu1_n - slope_n)*(nu1_n - slope_n)) + Delta_n
            + nu2sq_n)*weight_n)
        field[weight_2, n] = avg_l_n*weight_n
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
            sum7 += matrix[M, b, a]*matrix[Q1_hat, b, a]
            sum11 += vector[psi_hat, a]*matrix[M, b, a]
        sum1 += -vector[Q2, b]*vector[V2_hat, b] + vector[Q2_hat, b]*vector[V2, b]
        sum3 += (vector[zeta_hat, b]*vector[zeta_hat, b])*vector[T, b]
        sum4 += sum11*vector[psi_hat, b]
        sum5 += vector[Q2_hat, b]*vector[T, b]
        sum6 += vector[T, b]*vector[random_field, b]
        sum8 += vector[psi, b]*vector[psi_hat, b] + vector[zeta, b]*vector[zeta_hat, b]
        sum9 += 0.5*(vector[m, b]*vector[m, b])/vector[T, b]
        sum10 += vector[m, b]*vector[pull, b]
    out[2] = (alpha*average_free_energy + sum9*inverse_dimension*beta
        + beta*(0.5*sum1 + 0.5*sum2 - 0.5*sum3 - 0.5*sum4 + sum8 - 0.5*(sum5 + sum6 + sum7)/beta) + sum10)


EQUATIONS = """
V := sum(mu2sq[b]*V2[b], b) + sum(sum(mu1[b]*mu1[c]*V1[b, c], b), c)
slope := sum(mu1[b]*psi[b], b)
mean := sum(kappa*mu1[b]*zeta[b] + mu0[b]*m[b], b)
Delta := -slope**2 + sum(mu2sq[b]*Q2[b], b) + sum(sum(mu1[b]*mu1[c]*Q1[b, c], b), c)
Q2[b] = adjoint[b]  # d/dV2_hat
V2[b] = T[b]/beta  # d/dQ2_hat
zeta_hat[b] = alpha*E(kappa*avg_g*mu1[b])/beta  # d/dzeta
Q1_hat[b, c] = alpha*E(avg_gg*mu1[b]*mu1[c])/beta  # d/dV1
Q2_hat[b] = alpha*E(avg_gg*mu2sq[b])/beta  # d/dV2
V1_hat[b, c] = alpha*E(avg_h*mu1[b]*mu1[c])/beta  # d/dQ1
V2_hat[b] = alpha*E(avg_h*mu2sq[b])/beta  # d/dQ2
psi_hat[b] = alpha*E((avg_h*slope + avg_tg)*mu1[b])/beta  # d/dpsi
matrix_P[e, c] := delta[c, e] + T[c]*V1_hat[e, c]
0 = -delta[b, c] + sum(P[b, e]*matrix_P[e, c], e)  # P
M[b, c] = P[b, c]*T[b]  # M
S[b, c] = sum(P[b, e]*V1_hat[e, c], e)  # S
0 = -beta*fraction[b]/T[b] + ridge + S[b, b] + V2_hat[b] + excess[b]  # T
# adjoint
0 = (beta*adjoint[b]*fraction[b]/T[b]**2 - inverse_dimension*m[b]**2/T[b]**2 - sum(P[b, a]*psi_hat[a], a)**2
    - sum(S[a, b]**2*adjoint[a], a) - zeta_hat[b]**2 - sum(sum(P[b, c]*Q1_hat[a, c], c)*P[b, a], a)/beta
    - Q2_hat[b]/beta - random_field[b]/beta)
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b] + pull[b]  # d/dm
# d/dV1_hat
Q1[b, c] = (sum(M[a, b]*psi_hat[a], a)*sum(M[a, c]*psi_hat[a], a) + sum(P[a, b]*P[a, c]*adjoint[a], a)
    + sum(sum(M[c, d]*Q1_hat[a, d], d)*M[a, b], a)/beta)
V1[b, c] = M[b, c]/beta  # d/dQ1_hat
psi[b] = sum(M[a, b]*psi_hat[a], a)  # d/dpsi_hat
zeta[b] = T[b]*zeta_hat[b]  # d/dzeta_hat
"""
COLUMNS = ('kappa', 'weight', 'nu0', 'nu1', 'nu2sq')
CERTIFICATE = Certificate(EQUATIONS, COLUMNS, odd=('avg_g', 'avg_tg'))
check = CERTIFICATE.check


RULES = """
d_avg_M := -avg_g*d_mean - avg_gg*d_V/2 + avg_h*d_Delta/2 - avg_tg*d_slope
d_avg_g := -avg_gh*d_V - avg_h*d_mean - avg_hx*d_Delta/2 - avg_th*d_slope
d_avg_gg := -2*avg_ggh*d_V - 2*avg_gh*d_mean - avg_ghx*d_Delta - 2*avg_tgh*d_slope
d_avg_h := avg_ghx*d_V + avg_hx*d_mean + avg_hxx*d_Delta/2 + avg_thx*d_slope
d_avg_l := ((V*avg_ggh - avg_gg)*d_V + (V*avg_gh - avg_g)*d_mean + (V*avg_ghx/2 + avg_h/2)*d_Delta
    + (V*avg_tgh - avg_tg)*d_slope)
d_avg_tg := -avg_tgh*d_V - avg_th*d_mean - avg_thx*d_Delta/2 - avg_tth*d_slope
d_P[b, c] := -sum(sum(P[b, d]*V1_hat[a, d], d)*P[a, c]*d_T[a], a) - sum(sum(P[b, d]*d_V1_hat[a, d], d)*P[a, c]*T[a], a)
d_M[b, c] := -sum(sum(M[b, d]*d_V1_hat[a, d], d)*M[a, c], a) + sum(P[a, b]*P[a, c]*d_T[a], a)
d_S[b, c] := sum(sum(P[b, d]*d_V1_hat[a, d], d)*P[c, a], a) - sum(S[a, b]*S[a, c]*d_T[a], a)
"""
OBSERVABLES = """
test_error := E((-mean + nu0)**2 + (nu1 - slope)**2 + Delta + nu2sq)
train_error := E(avg_l)
free_energy := (alpha*E(avg_M) + beta*inverse_dimension*sum(m[b]**2/(2*T[b]), b)
    + beta*(-sum(sum(M[a, b]*psi_hat[b], b)*psi_hat[a], a)/2 - sum(T[a]*zeta_hat[a]**2, a)/2
    + sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2 + sum(psi[b]*psi_hat[b] + zeta[b]*zeta_hat[b], b)
    + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b), c)/2
    - (sum(Q2_hat[a]*T[a], a) + sum(T[a]*random_field[a], a) + sum(sum(M[a, b]*Q1_hat[a, b], b), a))/(2*beta))
    + sum(m[b]*pull[b], b))
"""
tangents = TangentEquations(Text(EQUATIONS, ('T', 'adjoint', 'm', 'Q1', 'V1', 'psi', 'zeta'),
    ('excess', 'random_field', 'pull'), RULES, OBSERVABLES), COLUMNS)
