"""Saddle-point equations of the square loss, spike of rank 3, any number of blocks K
[CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
    1. nonlinear in T, V1; then V2, V, V1_hat, V2_hat, P, M, S
    2. linear in m, zeta_1, zeta_2, zeta_3; then mean, zeta_hat_1, zeta_hat_2, zeta_hat_3
    3. explicit; then psi_hat
    4. explicit; then psi
    5. explicit; then slope
    6. linear in adjoint, Q1; then Q2, Delta, risk, Q1_hat, Q2_hat
A comment behind a line names the step of the derivation that fixes the unknown (d/dX: stationarity of the free energy
in X). Generated; do not edit. Signature dc8130aa4c904eb0.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np
from numba import njit

from generated.runtime.certificate import SIGN, Certificate, both, over, worse
from generated.runtime.contractions import INNER, add, add_product, average, average_of_product, clear, short, sum_of
from generated.runtime.unknowns import (
    DIRECTION, FAMILY, IMAGE, RESIDUAL, TURNED, UNKNOWN, WEIGHT, invert, solve_linear, strengthen, subtract,
)

LOSS = "square"
SIGNATURE = "dc8130aa4c904eb0c7a8b274fce6495f3179879a9c11be1fd081fe7b6aed8a3e"


kappa_1, weight, nu0, nu1, nu2sq, kappa_2, kappa_3 = range(7)  # rows of node, then mu0, mu1, mu2sq per block
VECTORS = ('T', 'residual_T', 'd_T', 'd_residual_T', 'm', 'zeta_1', 'zeta_2', 'zeta_3', 'residual_m',
    'residual_zeta_1', 'residual_zeta_2', 'residual_zeta_3', 'weight_m', 'weight_zeta_1', 'weight_zeta_2',
    'weight_zeta_3', 'adjoint', 'residual_adjoint', 'weight_adjoint', 'V2', 'V2_hat', 'd_V2', 'd_V2_hat', 'zeta_hat_1',
    'zeta_hat_2', 'zeta_hat_3', 'psi_hat', 'psi', 'Q2', 'Q2_hat', 'average_m', 'slope_T')
(T, residual_T, d_T, d_residual_T, m, zeta_1, zeta_2, zeta_3, residual_m, residual_zeta_1, residual_zeta_2,
    residual_zeta_3, weight_m, weight_zeta_1, weight_zeta_2, weight_zeta_3, adjoint, residual_adjoint, weight_adjoint,
    V2, V2_hat, d_V2, d_V2_hat, zeta_hat_1, zeta_hat_2, zeta_hat_3, psi_hat, psi, Q2, Q2_hat, average_m,
    slope_T) = range(32)
MATRICES = ('V1', 'residual_V1', 'd_V1', 'd_residual_V1', 'Q1', 'residual_Q1', 'weight_Q1', 'V1_hat', 'P', 'M', 'S',
    'd_V1_hat', 'd_M', 'd_S', 'Q1_hat')
(V1, residual_V1, d_V1, d_residual_V1, Q1, residual_Q1, weight_Q1, V1_hat, P, M, S, d_V1_hat, d_M, d_S,
    Q1_hat) = range(15)
FIELDS = ('V', 'weight_1', 'd_V', 'mean', 'part_1', 'part_2', 'part_3', 'weight_2', 'weight_3', 'weight_4', 'slope',
    'Delta', 'risk')
(V, weight_1, d_V, mean, part_1, part_2, part_3, weight_2, weight_3, weight_4, slope, Delta, risk) = range(13)
BLOCKS = (('T', 'V1'), ('m', 'zeta_1', 'zeta_2', 'zeta_3'), ('adjoint', 'Q1'))  # unknowns of the stages of a solve


@njit(cache=True, **INNER)
def _equations_1(node, fraction, numbers, vector, matrix, field):
    """Block 1, nonlinear: V2, V, V1_hat, V2_hat, P, M, S."""
    short()
    alpha, beta, ridge = numbers[0], numbers[1], numbers[2]
    K, N = fraction.shape[0], node.shape[1]
    mu1 = 7 + K
    mu2sq = 7 + 2*K
    for b in range(K):
        vector[V2, b] = vector[T, b]/beta  # d/dQ2_hat
    clear(field, V)
    for b in range(K):
        add(field, V, vector[V2, b], node, mu2sq + b)
        add_product(field, V, matrix[V1, b, b], node, mu1 + b, mu1 + b)
        for c in range(b):
            add_product(field, V, 2.0*matrix[V1, c, b], node, mu1 + b, mu1 + c)
    for n in range(N):
        V_n = field[V, n]
        weight_n = node[weight, n]
        field[weight_1, n] = weight_n/(V_n + 1.0)
    for b0 in range(K):
        vector[V2_hat, b0] = alpha/beta*average(field, weight_1, node, mu2sq + b0)  # d/dQ2
        for b1 in range(b0 + 1):
            matrix[V1_hat, b0, b1] = alpha/beta*average_of_product(field, weight_1, node, mu1 + b0, mu1 + b1)  # d/dQ1
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
            matrix[residual_V1, b, c] = matrix[V1, b, c] - matrix[M, b, c]/beta
        vector[residual_T, b] = -beta*fraction[b]/(ridge + matrix[S, b, b] + vector[V2_hat, b]) + vector[T, b]


@njit(cache=True, **INNER)
def _tangents_1(node, fraction, numbers, vector, matrix, field):
    """Block 1: what the residuals do along a direction of T, V1."""
    short()
    alpha, beta, ridge = numbers[0], numbers[1], numbers[2]
    K, N = fraction.shape[0], node.shape[1]
    mu1 = 7 + K
    mu2sq = 7 + 2*K
    for b in range(K):
        vector[d_V2, b] = vector[d_T, b]/beta
    clear(field, d_V)
    for b in range(K):
        add_product(field, d_V, matrix[d_V1, b, b], node, mu1 + b, mu1 + b)
        for c in range(b):
            add_product(field, d_V, 2.0*matrix[d_V1, b, c], node, mu1 + b, mu1 + c)
        add(field, d_V, vector[d_V2, b], node, mu2sq + b)
    for n in range(N):
        V_n = field[V, n]
        d_V_n = field[d_V, n]
        weight_n = node[weight, n]
        field[weight_1, n] = d_V_n*weight_n/((V_n + 1.0)*(V_n + 1.0))
    for b0 in range(K):
        vector[d_V2_hat, b0] = -alpha/beta*average(field, weight_1, node, mu2sq + b0)
        for b1 in range(b0 + 1):
            matrix[d_V1_hat, b0, b1] = -alpha/beta*average_of_product(field, weight_1, node, mu1 + b0, mu1 + b1)
            matrix[d_V1_hat, b1, b0] = matrix[d_V1_hat, b0, b1]
    for b in range(K):
        for c in range(K):
            sum1 = 0.0
            sum2 = 0.0
            sum3 = 0.0
            sum4 = 0.0
            for a in range(K):
                sum5 = 0.0
                sum6 = 0.0
                for d in range(K):
                    sum5 += matrix[M, b, d]*matrix[d_V1_hat, a, d]
                    sum6 += matrix[P, b, d]*matrix[d_V1_hat, a, d]
                sum1 += sum5*matrix[M, a, c]
                sum2 += vector[d_T, a]*matrix[P, a, b]*matrix[P, a, c]
                sum3 += vector[d_T, a]*matrix[S, a, b]*matrix[S, a, c]
                sum4 += sum6*matrix[P, c, a]
            matrix[d_M, b, c] = -sum1 + sum2
            matrix[d_S, b, c] = -sum3 + sum4
            matrix[d_residual_V1, b, c] = matrix[d_V1, b, c] - matrix[d_M, b, c]/beta
        vector[d_residual_T, b] = (beta*(matrix[d_S, b, b] + vector[d_V2_hat, b])*fraction[b]/((ridge + matrix[S, b, b]
            + vector[V2_hat, b])*(ridge + matrix[S, b, b] + vector[V2_hat, b])) + vector[d_T, b])


@njit(cache=True, **INNER)
def _equations_2(node, fraction, numbers, vector, matrix, field):
    """Block 2, linear: mean, zeta_hat_1, zeta_hat_2, zeta_hat_3; one = 0: without the terms free of these."""
    short()
    alpha, beta, inverse_dimension, one = numbers[0], numbers[1], numbers[4], numbers[5]
    K, N = fraction.shape[0], node.shape[1]
    mu0 = 7
    mu1 = 7 + K
    for b in range(K):
        vector[weight_m, b] = beta/vector[T, b]
    clear(field, mean)
    clear(field, part_1)
    clear(field, part_2)
    clear(field, part_3)
    for b in range(K):
        add(field, mean, vector[m, b], node, mu0 + b)
        add(field, part_1, vector[zeta_1, b], node, mu1 + b)
        add(field, part_2, vector[zeta_2, b], node, mu1 + b)
        add(field, part_3, vector[zeta_3, b], node, mu1 + b)
    for n in range(N):
        V_n = field[V, n]
        kappa_1_n = node[kappa_1, n]
        kappa_2_n = node[kappa_2, n]
        kappa_3_n = node[kappa_3, n]
        nu0_n = node[nu0, n]
        part_1_n = field[part_1, n]
        part_2_n = field[part_2, n]
        part_3_n = field[part_3, n]
        weight_n = node[weight, n]
        mean_n = kappa_1_n*part_1_n + kappa_2_n*part_2_n + kappa_3_n*part_3_n + field[mean, n]
        field[mean, n] = mean_n
        x0 = (-one*nu0_n + mean_n)*weight_n/(V_n + 1.0)
        field[weight_1, n] = x0*kappa_1_n
        field[weight_2, n] = x0*kappa_2_n
        field[weight_3, n] = x0*kappa_3_n
        field[weight_4, n] = x0
    for b0 in range(K):
        vector[zeta_hat_1, b0] = -alpha/beta*average(field, weight_1, node, mu1 + b0)  # d/dzeta_1
        vector[zeta_hat_2, b0] = -alpha/beta*average(field, weight_2, node, mu1 + b0)  # d/dzeta_2
        vector[zeta_hat_3, b0] = -alpha/beta*average(field, weight_3, node, mu1 + b0)  # d/dzeta_3
        vector[average_m, b0] = average(field, weight_4, node, mu0 + b0)
    for b in range(K):
        vector[residual_m, b] = alpha*vector[average_m, b] + inverse_dimension*beta*vector[m, b]/vector[T, b]
        vector[residual_zeta_1, b] = -vector[T, b]*vector[zeta_hat_1, b] + vector[zeta_1, b]
        vector[residual_zeta_2, b] = -vector[T, b]*vector[zeta_hat_2, b] + vector[zeta_2, b]
        vector[residual_zeta_3, b] = -vector[T, b]*vector[zeta_hat_3, b] + vector[zeta_3, b]


@njit(cache=True, **INNER)
def _equations_3(node, fraction, numbers, vector, matrix, field):
    """Block 3, explicit: psi_hat, psi, slope."""
    short()
    alpha, beta = numbers[0], numbers[1]
    K, N = fraction.shape[0], node.shape[1]
    mu1 = 7 + K
    for n in range(N):
        V_n = field[V, n]
        nu1_n = node[nu1, n]
        weight_n = node[weight, n]
        field[weight_1, n] = nu1_n*weight_n/(V_n + 1.0)
    for b0 in range(K):
        vector[psi_hat, b0] = alpha/beta*average(field, weight_1, node, mu1 + b0)  # d/dpsi
    for b in range(K):
        sum1 = 0.0
        for a in range(K):
            sum1 += vector[psi_hat, a]*matrix[M, a, b]
        vector[psi, b] = sum1  # d/dpsi_hat
    clear(field, slope)
    for b in range(K):
        add(field, slope, vector[psi, b], node, mu1 + b)


@njit(cache=True, **INNER)
def _equations_6(node, fraction, numbers, vector, matrix, field):
    """Block 6, linear: Q2, Delta, risk, Q1_hat, Q2_hat; one = 0: without the terms free of these."""
    short()
    alpha, beta, noise, inverse_dimension, one = numbers[0], numbers[1], numbers[3], numbers[4], numbers[5]
    K, N = fraction.shape[0], node.shape[1]
    mu1 = 7 + K
    mu2sq = 7 + 2*K
    for b in range(K):
        vector[Q2, b] = vector[adjoint, b]  # d/dV2_hat
    clear(field, Delta)
    for b in range(K):
        add(field, Delta, vector[Q2, b], node, mu2sq + b)
        add_product(field, Delta, matrix[Q1, b, b], node, mu1 + b, mu1 + b)
        for c in range(b):
            add_product(field, Delta, 2.0*matrix[Q1, c, b], node, mu1 + b, mu1 + c)
    for n in range(N):
        V_n = field[V, n]
        mean_n = field[mean, n]
        nu0_n = node[nu0, n]
        nu1_n = node[nu1, n]
        nu2sq_n = node[nu2sq, n]
        slope_n = field[slope, n]
        weight_n = node[weight, n]
        Delta_n = -one*(slope_n*slope_n) + field[Delta, n]
        field[Delta, n] = Delta_n
        risk_n = (one*(noise + ((-mean_n + nu0_n)*(-mean_n + nu0_n)) + ((nu1_n - slope_n)*(nu1_n - slope_n)) + nu2sq_n)
            + Delta_n)
        field[risk, n] = risk_n
        field[weight_1, n] = risk_n*weight_n/((V_n + 1.0)*(V_n + 1.0))
    for b0 in range(K):
        vector[Q2_hat, b0] = alpha/beta*average(field, weight_1, node, mu2sq + b0)  # d/dV2
        for b1 in range(b0 + 1):
            matrix[Q1_hat, b0, b1] = alpha/beta*average_of_product(field, weight_1, node, mu1 + b0, mu1 + b1)  # d/dV1
            matrix[Q1_hat, b1, b0] = matrix[Q1_hat, b0, b1]
    for b in range(K):
        sum1 = 0.0
        sum2 = 0.0
        sum3 = 0.0
        for a in range(K):
            sum4 = 0.0
            for c in range(K):
                sum4 += matrix[P, b, c]*matrix[Q1_hat, a, c]
            sum1 += (matrix[S, a, b]*matrix[S, a, b])*vector[adjoint, a]
            sum2 += vector[psi_hat, a]*matrix[P, b, a]
            sum3 += sum4*matrix[P, b, a]
        vector[residual_adjoint, b] = (beta*vector[adjoint, b]*fraction[b]/(vector[T, b]*vector[T, b])
            + one*(-inverse_dimension*(vector[m, b]*vector[m, b])/(vector[T, b]*vector[T, b]) - (sum2*sum2)
            - (vector[zeta_hat_1, b]*vector[zeta_hat_1, b]) - (vector[zeta_hat_2, b]*vector[zeta_hat_2, b])
            - (vector[zeta_hat_3, b]*vector[zeta_hat_3, b])) - sum1 - sum3/beta - vector[Q2_hat, b]/beta)
        for c in range(K):
            sum5 = 0.0
            sum6 = 0.0
            sum7 = 0.0
            sum8 = 0.0
            for a in range(K):
                sum9 = 0.0
                for d in range(K):
                    sum9 += matrix[M, c, d]*matrix[Q1_hat, a, d]
                sum5 += vector[adjoint, a]*matrix[P, a, b]*matrix[P, a, c]
                sum6 += sum9*matrix[M, a, b]
                sum7 += vector[psi_hat, a]*matrix[M, a, b]
                sum8 += vector[psi_hat, a]*matrix[M, a, c]
            matrix[residual_Q1, b, c] = -one*sum7*sum8 - sum5 + matrix[Q1, b, c] - sum6/beta


@njit(cache=True, **INNER)
def _observables(node, fraction, numbers, vector, matrix, field, out):
    """out = (test_error, train_error, free_energy)."""
    short()
    alpha, beta, inverse_dimension = numbers[0], numbers[1], numbers[4]
    K, N = fraction.shape[0], node.shape[1]
    for n in range(N):
        Delta_n = field[Delta, n]
        V_n = field[V, n]
        mean_n = field[mean, n]
        nu0_n = node[nu0, n]
        nu1_n = node[nu1, n]
        nu2sq_n = node[nu2sq, n]
        risk_n = field[risk, n]
        slope_n = field[slope, n]
        weight_n = node[weight, n]
        x0 = V_n + 1.0
        x1 = 0.5*risk_n*weight_n
        field[weight_1, n] = ((((-mean_n + nu0_n)*(-mean_n + nu0_n)) + ((nu1_n - slope_n)*(nu1_n - slope_n)) + Delta_n
            + nu2sq_n)*weight_n)
        field[weight_2, n] = x1/(x0*x0)
        field[weight_3, n] = x1/x0
    average_test_error = sum_of(field, weight_1)
    average_train_error = sum_of(field, weight_2)
    average_free_energy = sum_of(field, weight_3)
    out[0] = average_test_error
    out[1] = 2.0*average_train_error
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


@njit(cache=True, error_model="numpy", nogil=True)
def ridge_slopes(node, fraction, numbers, vector, matrix, field):
    """Derivatives in the ridge of the residuals of the first stage, where they have one."""
    short()
    beta, ridge = numbers[1], numbers[2]
    K = fraction.shape[0]
    for b in range(K):
        vector[slope_T, b] = (beta*fraction[b]/((ridge + matrix[S, b, b] + vector[V2_hat, b])*(ridge + matrix[S, b, b]
            + vector[V2_hat, b])))


PIECES = (_equations_1, _tangents_1, _equations_2, _equations_3, _equations_6, _observables, solve_linear, strengthen,
    subtract)


@njit(cache=True, error_model="numpy", nogil=True, no_cfunc_wrapper=True)
def residual(stage, node, fraction, numbers, vector, matrix, field):
    """The residuals of a stage and what leads to them, from its unknowns; all may be complex, as for complex ridge."""
    if stage == 0:
        _equations_1(node, fraction, numbers, vector, matrix, field)
    elif stage == 1:
        _equations_2(node, fraction, numbers, vector, matrix, field)
    elif stage == 2:
        _equations_6(node, fraction, numbers, vector, matrix, field)


@njit(cache=True, error_model="numpy", nogil=True, no_cfunc_wrapper=True)
def jacobian(stage, node, fraction, numbers, vector, matrix, field, work, members, result):
    """result[i, k] = d residual i/d unknown k of a stage, a symmetric pair moving together; members: places in work.

    Of a linear stage the columns are residuals of unit vectors without the terms free of the unknowns.
    """
    put, get = (DIRECTION, IMAGE) if stage == 0 else (UNKNOWN, RESIDUAL)
    homogeneous = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], 0.0*numbers[5])
    n = result.shape[0]
    for column in range(n):
        for i in range(n):
            place = members[stage, put, i]
            value = 1.0 if i == column else 0.0
            work[place] = value
            work[place + members[stage, TURNED, i]] = value
        if stage == 0:
            _tangents_1(node, fraction, homogeneous, vector, matrix, field)
        elif stage == 1:
            _equations_2(node, fraction, homogeneous, vector, matrix, field)
        elif stage == 2:
            _equations_6(node, fraction, homogeneous, vector, matrix, field)
        for i in range(n):
            result[i, column] = work[members[stage, get, i]]


@njit(cache=True, error_model="numpy", nogil=True, no_cfunc_wrapper=True)
def solve(node, fraction, parameters, work, vector, matrix, field, members, sizes, system, warm, out):
    """Solve the system; out = (test error, training error, free energy).

    node[7 + 3K, N]: kappa_1, weight, nu0, nu1, nu2sq, kappa_2, kappa_3, then mu0, mu1, mu2sq per block; fraction[K];
    parameters: (alpha, beta, ridge, noise, inverse_dimension); vector and matrix are views of work, members and sizes
    the places of the unknowns in it; system: room for the linear systems; warm: Newton's method starts from the
    unknowns as they are. Returns the number of Newton iterations and linear solves, or minus the stage that failed.

    A nonlinear block: Newton from above; the map is monotone and concave, so from a point above the solution, here that
    without data (alpha = 0), it descends to it. A linear block: one solve and one refinement; where it is singular, the
    limit d -> infinity of its finite-size term, by proximal iterations from zero.
    """
    short()
    total = 0
    numbers = (parameters[0], parameters[1], parameters[2], parameters[3], parameters[4], 1.0)
    for stage in range(3):
        if stage == 2:
            _equations_3(node, fraction, numbers, vector, matrix, field)
        n, newton = sizes[stage], stage == 0
        cold = not (newton and warm)
        for i in range(n):
            start = 1.0 if newton else 0.0
            system[n + 1, i] = start if cold else work[members[stage, UNKNOWN, i]]
            work[members[stage, WEIGHT, i]] = 0.0
        iteration, last, columns = -2 if newton and cold else 0, 201 if newton else 1, n
        previous, done = np.inf, False
        while True:
            # the residuals, and as long as they change the columns of the Jacobian
            for column in range(-1, columns if iteration >= 0 else 0):
                along = newton and column >= 0
                put, get = (DIRECTION, IMAGE) if along else (UNKNOWN, RESIDUAL)
                for i in range(n):
                    value = system[n + 1, i] if column < 0 else 1.0 if i == column else 0.0
                    place = members[stage, put, i]
                    work[place] = value
                    work[place + members[stage, TURNED, i]] = value
                alpha, one = parameters[0] if iteration >= 0 else 0.0, 1.0 if along or column < 0 else 0.0
                numbers = (alpha, parameters[1], parameters[2], parameters[3], parameters[4], one)
                if stage == 0 and along:
                    _tangents_1(node, fraction, numbers, vector, matrix, field)
                elif stage == 0:
                    _equations_1(node, fraction, numbers, vector, matrix, field)
                elif stage == 1:
                    _equations_2(node, fraction, numbers, vector, matrix, field)
                elif stage == 2:
                    _equations_6(node, fraction, numbers, vector, matrix, field)
                for i in range(n):
                    system[column if column >= 0 else n, i] = work[members[stage, get, i]]
            if done:
                break
            for i in range(n):
                system[n + 2, i] = work[members[stage, WEIGHT, i]]
            if iteration >= 0 and not solve_linear(system, n, 1e-13):
                if newton or last > 1 or not strengthen(system, n):
                    return -stage - 1
                last, columns = 20, 0
                continue
            change = subtract(system, n, members[stage, FAMILY])
            if not change < np.inf or iteration > last:
                return -stage - 1
            iteration += 1
            done = iteration > last
            if newton:
                done = iteration > 0 and (change < 4e-16 or (change < 1e-9 and change >= 0.5*previous))
            columns = n if newton and not done else 0
            previous = change
        total += iteration if newton else 1
    _observables(node, fraction, numbers, vector, matrix, field, out)
    return total


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
    V2 = float(state["V2"][0])
    V1_hat = float(state["V1_hat"][0, 0])
    V2_hat = float(state["V2_hat"][0])
    P = float(state["P"][0, 0])
    M = float(state["M"][0, 0])
    S = float(state["S"][0, 0])
    T = float(state["T"][0])
    V1 = float(state["V1"][0, 0])
    zeta_hat_1 = float(state["zeta_hat_1"][0])
    zeta_hat_2 = float(state["zeta_hat_2"][0])
    zeta_hat_3 = float(state["zeta_hat_3"][0])
    m = float(state["m"][0])
    zeta_1 = float(state["zeta_1"][0])
    zeta_2 = float(state["zeta_2"][0])
    zeta_3 = float(state["zeta_3"][0])
    psi_hat = float(state["psi_hat"][0])
    psi = float(state["psi"][0])
    Q2 = float(state["Q2"][0])
    Q1_hat = float(state["Q1_hat"][0, 0])
    Q2_hat = float(state["Q2_hat"][0])
    adjoint = float(state["adjoint"][0])
    Q1 = float(state["Q1"][0, 0])
    fraction, worst = 1.0, 0.0
    V = V1*(mu1**2) + V2*mu2sq
    slope = psi*mu1
    mean = m*mu0 + zeta_1*kappa_1*mu1 + zeta_2*kappa_2*mu1 + zeta_3*kappa_3*mu1
    Delta = Q1*(mu1**2) + Q2*mu2sq - slope**2
    risk = noise + (nu0 - mean)**2 + (nu1 - slope)**2 + Delta + nu2sq
    x0 = mu1**2
    x1 = 1.0 + V
    x2 = weight/x1
    x3 = weight/abs(x1)
    x4 = abs(mu2sq)
    x5 = weight*x0
    x6 = x1**2
    x7 = risk/x6
    x8 = x2*(mean - nu0)
    x9 = x3*(abs(mean) + abs(nu0))
    x10 = abs(risk)/abs(x6)
    x11 = abs(mu1)
    x12 = mu1*x8
    x13 = x11*x9
    average0 = np.dot(x0, x2)
    average1 = np.dot(mu2sq, x2)
    average2 = np.dot(x0, x3)
    average3 = np.dot(x3, x4)
    average4 = np.dot(x5, x7)
    average5 = np.dot(mu2sq, weight*x7)
    average6 = np.dot(mu0, x8)
    average7 = np.dot(mu1, nu1*x2)
    average8 = np.dot(x9, abs(mu0))
    average9 = np.dot(x10, x5)
    average10 = np.dot(weight, x10*x4)
    average11 = np.dot(x11, x3*abs(nu1))
    average12 = np.dot(kappa_1, x12)
    average13 = np.dot(kappa_2, x12)
    average14 = np.dot(kappa_3, x12)
    average15 = np.dot(x13, abs(kappa_1))
    average16 = np.dot(x13, abs(kappa_2))
    average17 = np.dot(x13, abs(kappa_3))
    scale_V2 = abs(1.0/beta)*abs(T)
    worst = worse(worst, V2 - T/beta, scale_V2)  # d/dQ2_hat
    scale_V1_hat = average2*alpha*abs(1.0/beta)
    worst = worse(worst, V1_hat - average0*alpha/beta, scale_V1_hat)  # d/dQ1
    scale_V2_hat = average3*alpha*abs(1.0/beta)
    worst = worse(worst, V2_hat - average1*alpha/beta, scale_V2_hat)  # d/dQ2
    scale_P = 1.0 + (1.0 + abs(T)*scale_V1_hat)*abs(P)
    worst = worse(worst, -1.0 + (1.0 + T*V1_hat)*P, scale_P)  # P
    scale_M = abs(T)*abs(P)
    worst = worse(worst, M - T*P, scale_M)  # M
    scale_S = abs(P)*scale_V1_hat
    worst = worse(worst, S - P*V1_hat, scale_S)  # S
    scale_T = beta*abs(fraction)/abs(ridge + V2_hat + S)
    worst = worse(worst, T - beta*fraction/(ridge + V2_hat + S), scale_T)  # dL/dT
    scale_V1 = abs(1.0/beta)*scale_M
    worst = worse(worst, V1 - M/beta, scale_V1)  # d/dQ1_hat
    scale_zeta_hat_1 = average15*alpha*abs(1.0/beta)
    worst = worse(worst, average12*alpha/beta + zeta_hat_1, scale_zeta_hat_1)  # d/dzeta_1
    scale_zeta_hat_2 = average16*alpha*abs(1.0/beta)
    worst = worse(worst, average13*alpha/beta + zeta_hat_2, scale_zeta_hat_2)  # d/dzeta_2
    scale_zeta_hat_3 = average17*alpha*abs(1.0/beta)
    worst = worse(worst, average14*alpha/beta + zeta_hat_3, scale_zeta_hat_3)  # d/dzeta_3
    scale_m = average8*alpha + inverse_dimension*beta*abs(m)/abs(T)
    worst = worse(worst, average6*alpha + inverse_dimension*beta*m/T, scale_m)  # d/dm
    scale_zeta_1 = scale_T*scale_zeta_hat_1
    worst = worse(worst, zeta_1 - T*zeta_hat_1, scale_zeta_1)  # d/dzeta_hat_1
    scale_zeta_2 = scale_T*scale_zeta_hat_2
    worst = worse(worst, zeta_2 - T*zeta_hat_2, scale_zeta_2)  # d/dzeta_hat_2
    scale_zeta_3 = scale_T*scale_zeta_hat_3
    worst = worse(worst, zeta_3 - T*zeta_hat_3, scale_zeta_3)  # d/dzeta_hat_3
    scale_psi_hat = average11*alpha*abs(1.0/beta)
    worst = worse(worst, psi_hat - average7*alpha/beta, scale_psi_hat)  # d/dpsi
    scale_psi = scale_psi_hat*scale_M
    worst = worse(worst, psi - psi_hat*M, scale_psi)  # d/dpsi_hat
    scale_Q2 = abs(adjoint)
    worst = worse(worst, Q2 - adjoint, scale_Q2)  # d/dV2_hat
    scale_Q1_hat = average9*alpha*abs(1.0/beta)
    worst = worse(worst, Q1_hat - average4*alpha/beta, scale_Q1_hat)  # d/dV1
    scale_Q2_hat = average10*alpha*abs(1.0/beta)
    worst = worse(worst, Q2_hat - average5*alpha/beta, scale_Q2_hat)  # d/dV2
    scale_adjoint = (zeta_hat_1**2 + zeta_hat_2**2 + zeta_hat_3**2 + (P**2)*(scale_psi_hat**2) + (S**2)*abs(adjoint)
        + abs(1.0/beta)*scale_Q2_hat + inverse_dimension*(m**2)/T**2 + (P**2)*abs(1.0/beta)*scale_Q1_hat
        + beta*abs(adjoint)*abs(fraction)/T**2)
    # adjoint
    worst = worse(worst, beta*adjoint*fraction/T**2 - zeta_hat_1**2 - zeta_hat_2**2 - zeta_hat_3**2 - Q2_hat/beta
        - (psi_hat**2)*(P**2) - (S**2)*adjoint - inverse_dimension*(m**2)/T**2 - (P**2)*Q1_hat/beta, scale_adjoint)
    scale_Q1 = (P**2)*abs(adjoint) + (scale_psi_hat**2)*(scale_M**2) + (scale_M**2)*abs(1.0/beta)*scale_Q1_hat
    worst = worse(worst, Q1 - (psi_hat**2)*(M**2) - (P**2)*adjoint - (M**2)*Q1_hat/beta, scale_Q1)  # d/dV1_hat
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
    V2 = both(state["V2"])
    P = both(state["P"])
    T = both(state["T"])
    V1 = both(state["V1"])
    m = both(state["m"])
    zeta_1 = both(state["zeta_1"])
    zeta_2 = both(state["zeta_2"])
    zeta_3 = both(state["zeta_3"])
    psi = both(state["psi"])
    Q2 = both(state["Q2"])
    adjoint = both(state["adjoint"])
    Q1 = both(state["Q1"])
    V = both((np.einsum('Ab,Abn->An', V2, mu2sq) + np.einsum('Acn->An', mu1*np.einsum('Abc,Abn->Acn', V1, mu1)))[0])
    slope = both((np.einsum('Ab,Abn->An', psi, mu1))[0])
    mean = both((np.einsum('Abn->An', m[:, :, None]*mu0 + zeta_1[:, :, None]*kappa_1[:, None, :]*mu1
        + zeta_2[:, :, None]*kappa_2[:, None, :]*mu1 + zeta_3[:, :, None]*kappa_3[:, None, :]*mu1))[0])
    Delta = both((SIGN[:, None]*(slope**2) + np.einsum('Ab,Abn->An', Q2, mu2sq)
        + np.einsum('Acn->An', mu1*np.einsum('Abc,Abn->Acn', Q1, mu1)))[0])
    risk = both((noise + (SIGN[:, None]*mean + nu0)**2 + (SIGN[:, None]*slope + nu1)**2 + Delta + nu2sq)[0])
    V2 = found.explicit("V2", T/beta)  # d/dQ2_hat
    x0 = over(1.0 + V)
    x1 = weight[None, :]*x0
    V1_hat = found.explicit("V1_hat", alpha/beta*np.einsum('Abn,Acn->Abc', x1[:, None, :]*mu1, mu1))  # d/dQ1
    V2_hat = found.explicit("V2_hat", alpha/beta*np.einsum('An,Abn->Ab', x1, mu2sq))  # d/dQ2
    # P
    found.implicit(SIGN[:, None, None]*identity[None, :, :] + np.einsum('Ace,Abe->Abc',
        T[:, :, None]*V1_hat.transpose(0, 2, 1) + identity[None, :, :], P))
    M = found.explicit("M", T[:, :, None]*P)  # M
    S = found.explicit("S", np.einsum('Abe,Ace->Abc', P, V1_hat.transpose(0, 2, 1)))  # S
    T = found.explicit("T", beta*fraction[None, :]*over(ridge + V2_hat + np.einsum('Abb->Ab', S)))  # dL/dT
    V1 = found.explicit("V1", M/beta)  # d/dQ1_hat
    x2 = weight[None, :]*x0*(SIGN[:, None]*nu0 + mean)*kappa_1
    zeta_hat_1 = found.explicit("zeta_hat_1", alpha/beta*SIGN[:, None]*np.einsum('An,Abn->Ab', x2, mu1))  # d/dzeta_1
    x3 = weight[None, :]*x0*(SIGN[:, None]*nu0 + mean)*kappa_2
    zeta_hat_2 = found.explicit("zeta_hat_2", alpha/beta*SIGN[:, None]*np.einsum('An,Abn->Ab', x3, mu1))  # d/dzeta_2
    x4 = weight[None, :]*x0*(SIGN[:, None]*nu0 + mean)*kappa_3
    zeta_hat_3 = found.explicit("zeta_hat_3", alpha/beta*SIGN[:, None]*np.einsum('An,Abn->Ab', x4, mu1))  # d/dzeta_3
    x5 = weight[None, :]*x0*(SIGN[:, None]*nu0 + mean)
    found.implicit(alpha*np.einsum('An,Abn->Ab', x5, mu0) + inverse_dimension*beta*over(T)*m)  # d/dm
    zeta_1 = found.explicit("zeta_1", T*zeta_hat_1)  # d/dzeta_hat_1
    zeta_2 = found.explicit("zeta_2", T*zeta_hat_2)  # d/dzeta_hat_2
    zeta_3 = found.explicit("zeta_3", T*zeta_hat_3)  # d/dzeta_hat_3
    x6 = weight[None, :]*x0*nu1
    psi_hat = found.explicit("psi_hat", alpha/beta*np.einsum('An,Abn->Ab', x6, mu1))  # d/dpsi
    psi = found.explicit("psi", np.einsum('Aa,Aab->Ab', psi_hat, M))  # d/dpsi_hat
    Q2 = found.explicit("Q2", adjoint)  # d/dV2_hat
    x7 = weight[None, :]*(x0**2)*risk
    Q1_hat = found.explicit("Q1_hat", alpha/beta*np.einsum('Abn,Acn->Abc', x7[:, None, :]*mu1, mu1))  # d/dV1
    Q2_hat = found.explicit("Q2_hat", alpha/beta*np.einsum('An,Abn->Ab', x7, mu2sq))  # d/dV2
    # adjoint
    found.implicit(SIGN[:, None]*(np.einsum('Aa,Aab->Ab', psi_hat, P.transpose(0, 2, 1))**2)
        + SIGN[:, None]*(zeta_hat_1**2) + SIGN[:, None]*(zeta_hat_2**2) + SIGN[:, None]*(zeta_hat_3**2)
        + SIGN[:, None]*np.einsum('Aab,Aa->Ab', S**2, adjoint)
        + SIGN[:, None]*np.einsum('Aab,Aab->Ab', np.einsum('Abc,Aac->Aab', P, Q1_hat), P.transpose(0, 2, 1))/beta
        + SIGN[:, None]*Q2_hat/beta + inverse_dimension*SIGN[:, None]*(over(T)**2)*(m**2)
        + beta*fraction[None, :]*(over(T)**2)*adjoint)
    # d/dV1_hat
    Q1 = found.explicit("Q1", np.einsum('Aac,Aab->Abc', np.einsum('Acd,Aad->Aac', M, Q1_hat), M)/beta
        + np.einsum('Aa,Aab->Ab', psi_hat, M)[:, :, None]*np.einsum('Aa,Aac->Ac', psi_hat, M)[:, None, :]
        + np.einsum('Aab,Aac->Abc', adjoint[:, :, None]*P, P))
    return found.worst()
