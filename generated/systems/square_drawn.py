"""Saddle-point equations of the square loss, labels that are drawn, any number of blocks K
[CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
    1. nonlinear in T, V1; then V2, V, V1_hat, V2_hat, P, M, S
    2. linear in m, zeta; then mean, zeta_hat
    3. explicit; then psi_hat
    4. explicit; then psi
    5. explicit; then slope
    6. linear in adjoint, Q1; then Q2, Delta, risk, Q1_hat, Q2_hat
    7. explicit; then clean_risk
A comment behind a line names the step of the derivation that fixes the unknown (d/dX: stationarity of the free energy
in X). Generated; do not edit. Signature 0e6b5fa91a82ad98.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.compiling import entry, kept, making_entry
from generated.runtime.conjugate_residuals import FURTHER, ROUNDING, begin, descend, finish
from generated.runtime.contractions import INNER, add, add_product, average, average_of_product, clear, short, sum_of
from generated.runtime.unknowns import (CLOSE, COLUMN, DIRECTION, ENOUGH, FAMILY, IMAGE, RESIDUAL, ROW, TURNED,
    UNKNOWN, WEIGHT, invert, solve_linear, strengthen, subtract)

LOSS = "square"
SIGNATURE = "0e6b5fa91a82ad981d5df94910378543d9c47de84ab0633f9b3568a2fec2a6c4"


# rows of node, then those of the blocks
kappa, weight, nu0, nu1, nu2sq, label_nu0, label_nu1, label_nu2sq = np.arange(8)
ROWS = 8
VECTORS = ('T', 'residual_T', 'd_T', 'd_residual_T', 'm', 'zeta', 'residual_m', 'residual_zeta', 'weight_m',
    'weight_zeta', 'adjoint', 'residual_adjoint', 'weight_adjoint', 'V2', 'V2_hat', 'd_V2', 'd_V2_hat', 'zeta_hat',
    'psi_hat', 'psi', 'Q2', 'Q2_hat', 'average_m', 'slope_T')
(T, residual_T, d_T, d_residual_T, m, zeta, residual_m, residual_zeta, weight_m, weight_zeta, adjoint,
    residual_adjoint, weight_adjoint, V2, V2_hat, d_V2, d_V2_hat, zeta_hat, psi_hat, psi, Q2, Q2_hat, average_m,
    slope_T) = np.arange(24)
MATRICES = ('V1', 'residual_V1', 'd_V1', 'd_residual_V1', 'Q1', 'residual_Q1', 'weight_Q1', 'V1_hat', 'P', 'M', 'S',
    'd_V1_hat', 'd_M', 'd_S', 'Q1_hat', 'product_1', 'product_2')
(V1, residual_V1, d_V1, d_residual_V1, Q1, residual_Q1, weight_Q1, V1_hat, P, M, S, d_V1_hat, d_M, d_S, Q1_hat,
    product_1, product_2) = np.arange(17)
FIELDS = ('V', 'weight_1', 'd_V', 'mean', 'part_1', 'weight_2', 'slope', 'Delta', 'risk', 'clean_risk', 'weight_3')
(V, weight_1, d_V, mean, part_1, weight_2, slope, Delta, risk, clean_risk, weight_3) = np.arange(11)
BLOCKS = (('T', 'V1'), ('m', 'zeta'), ('adjoint', 'Q1'))  # unknowns of the stages of a solve


@kept(**INNER)
def _equations_1(node, fraction, numbers, vector, matrix, field):
    """Block 1, nonlinear: V2, V, V1_hat, V2_hat, P, M, S."""
    alpha, beta, ridge = numbers[0], numbers[1], numbers[2]
    K, N = fraction.shape[0], node.shape[1]
    mu1 = 8 + K
    mu2sq = 8 + 2*K
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


@kept(**INNER)
def _tangents_1(node, fraction, numbers, vector, matrix, field):
    """Block 1: what the residuals do along a direction of T, V1."""
    alpha, beta, ridge = numbers[0], numbers[1], numbers[2]
    K, N = fraction.shape[0], node.shape[1]
    mu1 = 8 + K
    mu2sq = 8 + 2*K
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
            for d in range(K):
                sum1 += matrix[M, b, d]*matrix[d_V1_hat, c, d]
            matrix[product_1, b, c] = sum1
    for b in range(K):
        for c in range(K):
            sum2 = 0.0
            sum3 = 0.0
            sum4 = 0.0
            for a in range(K):
                sum2 += matrix[M, a, c]*matrix[product_1, b, a]
                sum3 += vector[d_T, a]*matrix[P, a, b]*matrix[P, a, c]
                sum4 += matrix[P, b, a]*matrix[d_V1_hat, c, a]
            matrix[d_M, b, c] = -sum2 + sum3
            matrix[product_2, b, c] = sum4
    for b in range(K):
        for c in range(K):
            sum5 = 0.0
            sum6 = 0.0
            for a in range(K):
                sum5 += vector[d_T, a]*matrix[S, a, b]*matrix[S, a, c]
                sum6 += matrix[P, c, a]*matrix[product_2, b, a]
            matrix[d_S, b, c] = -sum5 + sum6
            matrix[d_residual_V1, b, c] = matrix[d_V1, b, c] - matrix[d_M, b, c]/beta
        vector[d_residual_T, b] = (beta*(matrix[d_S, b, b] + vector[d_V2_hat, b])*fraction[b]/((ridge + matrix[S, b, b]
            + vector[V2_hat, b])*(ridge + matrix[S, b, b] + vector[V2_hat, b])) + vector[d_T, b])


@kept(**INNER)
def _equations_2(node, fraction, numbers, vector, matrix, field):
    """Block 2, linear: mean, zeta_hat; one = 0: without the terms free of these."""
    alpha, beta, inverse_dimension, one = numbers[0], numbers[1], numbers[4], numbers[5]
    K, N = fraction.shape[0], node.shape[1]
    mu0 = 8
    mu1 = 8 + K
    for b in range(K):
        vector[weight_m, b] = beta/vector[T, b]
    clear(field, mean)
    clear(field, part_1)
    for b in range(K):
        add(field, mean, vector[m, b], node, mu0 + b)
        add(field, part_1, vector[zeta, b], node, mu1 + b)
    for n in range(N):
        V_n = field[V, n]
        kappa_n = node[kappa, n]
        label_nu0_n = node[label_nu0, n]
        part_1_n = field[part_1, n]
        weight_n = node[weight, n]
        mean_n = kappa_n*part_1_n + field[mean, n]
        field[mean, n] = mean_n
        x0 = (-one*label_nu0_n + mean_n)*weight_n/(V_n + 1.0)
        field[weight_1, n] = kappa_n*x0
        field[weight_2, n] = x0
    for b0 in range(K):
        vector[zeta_hat, b0] = -alpha/beta*average(field, weight_1, node, mu1 + b0)  # d/dzeta
        vector[average_m, b0] = average(field, weight_2, node, mu0 + b0)
    for b in range(K):
        vector[residual_m, b] = alpha*vector[average_m, b] + inverse_dimension*beta*vector[m, b]/vector[T, b]
        vector[residual_zeta, b] = -vector[T, b]*vector[zeta_hat, b] + vector[zeta, b]


@kept(**INNER)
def _equations_3(node, fraction, numbers, vector, matrix, field):
    """Block 3, explicit: psi_hat, psi, slope."""
    alpha, beta = numbers[0], numbers[1]
    K, N = fraction.shape[0], node.shape[1]
    mu1 = 8 + K
    for n in range(N):
        V_n = field[V, n]
        label_nu1_n = node[label_nu1, n]
        weight_n = node[weight, n]
        field[weight_1, n] = label_nu1_n*weight_n/(V_n + 1.0)
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


@kept(**INNER)
def _equations_6(node, fraction, numbers, vector, matrix, field):
    """Block 6, linear: Q2, Delta, risk, Q1_hat, Q2_hat; one = 0: without the terms free of these."""
    alpha, beta, noise, inverse_dimension, one = numbers[0], numbers[1], numbers[3], numbers[4], numbers[5]
    K, N = fraction.shape[0], node.shape[1]
    mu1 = 8 + K
    mu2sq = 8 + 2*K
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
        label_nu0_n = node[label_nu0, n]
        label_nu1_n = node[label_nu1, n]
        label_nu2sq_n = node[label_nu2sq, n]
        mean_n = field[mean, n]
        slope_n = field[slope, n]
        weight_n = node[weight, n]
        Delta_n = -one*(slope_n*slope_n) + field[Delta, n]
        field[Delta, n] = Delta_n
        risk_n = (one*(noise + ((label_nu0_n - mean_n)*(label_nu0_n - mean_n))
            + ((label_nu1_n - slope_n)*(label_nu1_n - slope_n)) + label_nu2sq_n) + Delta_n)
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
            sum1 += vector[psi_hat, a]*matrix[P, b, a]
            sum2 += (matrix[S, a, b]*matrix[S, a, b])*vector[adjoint, a]
            sum3 += sum4*matrix[P, b, a]
        vector[residual_adjoint, b] = (one*(-inverse_dimension*(vector[m, b]*vector[m, b])/beta/fraction[b]
            - (sum1*sum1)*(vector[T, b]*vector[T, b])/beta/fraction[b]
            - (vector[T, b]*vector[T, b])*(vector[zeta_hat, b]*vector[zeta_hat, b])/beta/fraction[b])
            + vector[adjoint, b] - sum2*(vector[T, b]*vector[T, b])/beta/fraction[b]
            - sum3*(vector[T, b]*vector[T, b])/(beta*beta)/fraction[b]
            - (vector[T, b]*vector[T, b])*vector[Q2_hat, b]/(beta*beta)/fraction[b])
        for c in range(K):
            sum5 = 0.0
            for d in range(K):
                sum5 += matrix[M, b, d]*matrix[Q1_hat, c, d]
            matrix[product_1, b, c] = sum5
    for b in range(K):
        for c in range(K):
            sum6 = 0.0
            sum7 = 0.0
            sum8 = 0.0
            sum9 = 0.0
            for a in range(K):
                sum6 += vector[adjoint, a]*matrix[P, a, b]*matrix[P, a, c]
                sum7 += matrix[M, a, b]*matrix[product_1, c, a]
                sum8 += vector[psi_hat, a]*matrix[M, a, b]
                sum9 += vector[psi_hat, a]*matrix[M, a, c]
            matrix[residual_Q1, b, c] = -one*sum8*sum9 - sum6 + matrix[Q1, b, c] - sum7/beta


@kept(**INNER)
def _equations_7(node, fraction, numbers, vector, matrix, field):
    """Block 7, explicit: clean_risk."""
    N = node.shape[1]
    for n in range(N):
        Delta_n = field[Delta, n]
        mean_n = field[mean, n]
        nu0_n = node[nu0, n]
        nu1_n = node[nu1, n]
        nu2sq_n = node[nu2sq, n]
        slope_n = field[slope, n]
        clean_risk_n = ((-mean_n + nu0_n)*(-mean_n + nu0_n)) + ((nu1_n - slope_n)*(nu1_n - slope_n)) + Delta_n + nu2sq_n
        field[clean_risk, n] = clean_risk_n


@kept(**INNER)
def _observables(node, fraction, numbers, vector, matrix, field, out):
    """out = (test_error, train_error, free_energy)."""
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
    for b in range(K):
        sum9 = 0.0
        for a in range(K):
            sum2 += -matrix[Q1, a, b]*matrix[V1_hat, a, b] + matrix[Q1_hat, a, b]*matrix[V1, a, b]
            sum6 += matrix[M, b, a]*matrix[Q1_hat, b, a]
            sum9 += vector[psi_hat, a]*matrix[M, b, a]
        sum1 += -vector[Q2, b]*vector[V2_hat, b] + vector[Q2_hat, b]*vector[V2, b]
        sum3 += (vector[zeta_hat, b]*vector[zeta_hat, b])*vector[T, b]
        sum4 += sum9*vector[psi_hat, b]
        sum5 += vector[Q2_hat, b]*vector[T, b]
        sum7 += vector[psi, b]*vector[psi_hat, b] + vector[zeta, b]*vector[zeta_hat, b]
        sum8 += 0.5*(vector[m, b]*vector[m, b])/vector[T, b]
    out[2] = (alpha*average_free_energy + sum8*inverse_dimension*beta
        + beta*(0.5*sum1 + 0.5*sum2 - 0.5*sum3 - 0.5*sum4 + sum7 - 0.5*(sum5 + sum6)/beta))


@entry
def ridge_slopes(node, fraction, numbers, vector, matrix, field):
    """Derivatives in the ridge of the residuals of the first stage, where they have one."""
    short()
    beta, ridge = numbers[1], numbers[2]
    K = fraction.shape[0]
    for b in range(K):
        vector[slope_T, b] = (beta*fraction[b]/((ridge + matrix[S, b, b] + vector[V2_hat, b])*(ridge + matrix[S, b, b]
            + vector[V2_hat, b])))


PIECES = (_equations_1, _tangents_1, _equations_2, _equations_3, _equations_6, _equations_7, _observables,
    solve_linear, strengthen, subtract, begin, descend, finish)


@entry
def residual(stage, node, fraction, numbers, vector, matrix, field):
    """The residuals of a stage and what leads to them, from its unknowns; all may be complex, as for complex ridge."""
    if stage == 0:
        _equations_1(node, fraction, numbers, vector, matrix, field)
    elif stage == 1:
        _equations_2(node, fraction, numbers, vector, matrix, field)
    elif stage == 2:
        _equations_6(node, fraction, numbers, vector, matrix, field)


@entry
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


@kept(**INNER)
def _solve_point(node, fraction, parameters, work, vector, matrix, field, members, sizes, systems, ready, warm, out):
    """Solve the system at one point; vector and matrix are views of work; the rest as in ``solve``.

    systems[stage], ready[stage]: the linear system of a stage, and whether its matrix and the unknowns are those of a
    solution on other nodes. Returns the number of Newton iterations and linear solves, or minus the stage that failed.

    A nonlinear block: Newton from above; the map is monotone and concave, so from a point above the solution, here that
    without data (alpha = 0), it descends to it. A linear block: one solve and one refinement; where it is singular, the
    limit d -> infinity of its finite-size term, by proximal iterations from zero. Close to a solution a matrix serves
    again. Unknowns that are matrices, of many blocks, are solved for by conjugate residuals as long as these get there.
    """
    short()
    total = 0
    numbers = (parameters[0], parameters[1], parameters[2], parameters[3], parameters[4], 1.0)
    for stage in range(3):
        if stage == 2:
            _equations_3(node, fraction, numbers, vector, matrix, field)
        n, newton, system = sizes[stage], stage == 0, systems[stage]
        direct = n <= 4*fraction.shape[0]  # vectors alone, or few blocks
        cold, known = not (ready[stage] or (newton and warm)), ready[stage] and direct
        for i in range(n):
            start = 1.0 if newton else 0.0
            system[n + 1, i] = start if cold else work[members[stage, UNKNOWN, i]]
            work[members[stage, WEIGHT, i]] = 0.0
        iteration, last, columns = -2 if newton and cold else 0, 201 if newton else 1, 0 if known else n
        previous, done, left, enough = np.inf, False, 0.0, 0.0
        while True:
            # the residuals, and as long as they change the columns of the Jacobian, or what it does along directions
            for column in range(-1, columns if iteration >= 0 else 0):
                along = newton and column >= 0
                put, get = (DIRECTION, IMAGE) if along else (UNKNOWN, RESIDUAL)
                for i in range(n):
                    if column < 0:
                        value = system[n + 1, i]
                    elif direct:
                        value = 1.0 if i == column else 0.0
                    else:
                        value = system[n, i]*system[n + 3, i]
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
                if direct or done or iteration < 0:
                    continue
                if column < 0:
                    left = begin(system, n, members[stage, ROW], members[stage, COLUMN])
                    enough = max(FURTHER*left, ROUNDING)
                else:
                    left = descend(system, n, column)
                if not (enough < left < np.inf):
                    break
            if done:
                break
            if not direct and iteration >= 0:
                if not left <= enough:
                    direct, columns = True, n
                    continue
                finish(system, n)
            for i in range(n):
                system[n + 2, i] = work[members[stage, WEIGHT, i]]
            if direct and iteration >= 0 and not solve_linear(system, n, 1e-13):
                if newton or last > 1 or not strengthen(system, n):
                    return -stage - 1
                last, columns = 20, 0
                continue
            change = subtract(system, n, members[stage, FAMILY])
            if known and not change < 1e-7:  # too far for the matrix from other nodes: back, and once more with its own
                for i in range(n):
                    system[n + 1, i] = work[members[stage, UNKNOWN, i]]
                known, columns = False, n
                continue
            if not change < np.inf or iteration > last:
                return -stage - 1
            iteration += 1
            done = iteration > last
            if newton:
                done = iteration > 0 and (change < ENOUGH or (change < 1e-9 and change >= 0.5*previous))
            elif known:
                done = done or change < CLOSE
            if done and change < ENOUGH and (newton or columns == 0):  # rounding: all is known at these unknowns
                break
            columns = n if not done and (not direct or (newton and (iteration == 0 or change > 1e-7))) else 0
            previous = change
        ready[stage] = last != 20
        total += iteration if newton else 1
    _observables(node, fraction, numbers, vector, matrix, field, out)
    return total


@making_entry
def solve(rough, node, fraction, parameters, square, negligible, work, field, members, sizes, warm, out, status):
    """Solve the system at many points, each by itself: on rough nodes where there are some, and from there on node.

    node[ROWS + 3K, N]: the rows named above, then mu0, mu1, mu2sq per block; fraction[K];
    parameters[p] = (alpha, beta, ridge, noise, inverse_dimension); work[p]: vectors, then matrices; members and sizes:
    the places in it of the sizes[stage] unknowns of a stage, and of their residuals, by the roles of ``unknowns``, so
    that one loop serves every stage and any K; of a symmetric matrix one of each pair (b, c), (c, b) is an unknown;
    field: room; warm: Newton's method starts from the unknowns as they are, and where that fails from its own start.
    status[p]: the number of Newton iterations and linear solves, or minus the stage that failed.

    out[p] = (test error, training error, free energy, change of the test error from the rough nodes, E y^2): the change
    is relative to the test error, or to the share ``negligible`` of E y^2 where that is more; square: E y^2 of the
    clean label.
    """
    K, most, kind = fraction.shape[0], members.shape[2], work.dtype
    vectors = 24*K
    systems, found = np.empty((3, 2*most + 4, most), kind), np.empty(3, kind)
    ready = np.empty(3, np.bool_)
    rough_field = np.empty((field.shape[0], rough.shape[1]), kind)
    for p in range(parameters.shape[0]):
        point = work[p]
        vector = point[:vectors].reshape(24, K)
        matrix = point[vectors:].reshape(17, K, K)
        begun, out[p, 0] = warm, np.nan
        ready[:] = False
        for order in range(0 if rough.shape[1] > 0 else 1, 2):
            table, room = (rough, rough_field) if order == 0 else (node, field)
            out[p, 3] = out[p, 0]
            for i in range(3):
                found[i] = np.nan
            for again in range(2 if begun else 1):
                if again > 0:
                    point[:] = 0.0
                    ready[:] = False
                status[p] = _solve_point(table, fraction, parameters[p], point, vector, matrix, room, members, sizes,
                    systems, ready, begun and again == 0, found)
                if status[p] > 0:
                    break
            for i in range(3):
                out[p, i] = found[i]
            if status[p] <= 0:
                break
            begun = True
        out[p, 4] = square + parameters[p, 3]
        size = max(abs(out[p, 0]), negligible*out[p, 4], 1e-300)
        out[p, 3] = abs(out[p, 0] - out[p, 3])/size


EQUATIONS = """
V := sum(mu2sq[b]*V2[b], b) + sum(sum(mu1[b]*mu1[c]*V1[b, c], b), c)
slope := sum(mu1[b]*psi[b], b)
mean := sum(kappa*mu1[b]*zeta[b] + mu0[b]*m[b], b)
Delta := -slope**2 + sum(mu2sq[b]*Q2[b], b) + sum(sum(mu1[b]*mu1[c]*Q1[b, c], b), c)
risk := noise + (label_nu0 - mean)**2 + (label_nu1 - slope)**2 + Delta + label_nu2sq
clean_risk := (-mean + nu0)**2 + (nu1 - slope)**2 + Delta + nu2sq
V2[b] = T[b]/beta  # d/dQ2_hat
V1_hat[b, c] = alpha*E(mu1[b]*mu1[c]/(V + 1))/beta  # d/dQ1
V2_hat[b] = alpha*E(mu2sq[b]/(V + 1))/beta  # d/dQ2
matrix_P[e, c] := delta[c, e] + T[c]*V1_hat[e, c]
0 = -delta[b, c] + sum(P[b, e]*matrix_P[e, c], e)  # P
M[b, c] = P[b, c]*T[b]  # M
S[b, c] = sum(P[b, e]*V1_hat[e, c], e)  # S
T[b] = beta*fraction[b]/(ridge + S[b, b] + V2_hat[b])  # dL/dT
V1[b, c] = M[b, c]/beta  # d/dQ1_hat
zeta_hat[b] = -alpha*E(kappa*(-label_nu0 + mean)*mu1[b]/(V + 1))/beta  # d/dzeta
0 = alpha*E((-label_nu0 + mean)*mu0[b]/(V + 1)) + beta*inverse_dimension*m[b]/T[b]  # d/dm
zeta[b] = T[b]*zeta_hat[b]  # d/dzeta_hat
psi_hat[b] = alpha*E(label_nu1*mu1[b]/(V + 1))/beta  # d/dpsi
psi[b] = sum(M[a, b]*psi_hat[a], a)  # d/dpsi_hat
Q2[b] = adjoint[b]  # d/dV2_hat
Q1_hat[b, c] = alpha*E(mu1[b]*mu1[c]*risk/(V + 1)**2)/beta  # d/dV1
Q2_hat[b] = alpha*E(mu2sq[b]*risk/(V + 1)**2)/beta  # d/dV2
# adjoint
0 = (beta*adjoint[b]*fraction[b]/T[b]**2 - inverse_dimension*m[b]**2/T[b]**2 - sum(P[b, a]*psi_hat[a], a)**2
    - sum(S[a, b]**2*adjoint[a], a) - zeta_hat[b]**2 - sum(sum(P[b, c]*Q1_hat[a, c], c)*P[b, a], a)/beta
    - Q2_hat[b]/beta)
# d/dV1_hat
Q1[b, c] = (sum(M[a, b]*psi_hat[a], a)*sum(M[a, c]*psi_hat[a], a) + sum(P[a, b]*P[a, c]*adjoint[a], a)
    + sum(sum(M[c, d]*Q1_hat[a, d], d)*M[a, b], a)/beta)
"""
COLUMNS = ('kappa', 'weight', 'nu0', 'nu1', 'nu2sq', 'label_nu0', 'label_nu1', 'label_nu2sq')
CERTIFICATE = Certificate(EQUATIONS, COLUMNS)
check = CERTIFICATE.check
