"""Saddle-point equations of the square loss, any number of blocks K  [CUI24, Result 3.3; THEORY section 4].

Order of computation, found from the derived system:
    1. nonlinear in T, V1; then V2, V, V1_hat, V2_hat, P, M, S
    2. linear in m, zeta; then mean, zeta_hat
    3. explicit; then psi_hat
    4. explicit; then psi
    5. explicit; then slope
    6. linear in adjoint, Q1; then Q2, Delta, risk, Q1_hat, Q2_hat
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
Generated; do not edit. Signature 4c8db419f0746d18.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np
from numba import njit

LOSS = "square"
SIGNATURE = "4c8db419f0746d18daa11fd0f2589170cd68503d0233aae68795fb3e04278168"


def workspace_size(K, N):
    """Length of the workspace for K blocks and N nodes."""
    return 5*N + 16*K + 14*K*K + 2*K*K*K + 2*K*K*K*K


def layout(K, N):
    """Start and shape of every unknown in the workspace."""
    return {
        "Delta": (0, (N,)),
        "M": (N, (K, K)),
        "P": (N + K*K, (K, K)),
        "Q1": (N + 2*K*K, (K, K)),
        "Q1_hat": (N + 3*K*K, (K, K)),
        "Q2": (N + 4*K*K, (K,)),
        "Q2_hat": (N + K + 4*K*K, (K,)),
        "S": (N + 2*K + 4*K*K, (K, K)),
        "T": (N + 2*K + 5*K*K, (K,)),
        "V": (N + 3*K + 5*K*K, (N,)),
        "V1": (2*N + 3*K + 5*K*K, (K, K)),
        "V1_hat": (2*N + 3*K + 6*K*K, (K, K)),
        "V2": (2*N + 3*K + 7*K*K, (K,)),
        "V2_hat": (2*N + 4*K + 7*K*K, (K,)),
        "adjoint": (2*N + 5*K + 7*K*K, (K,)),
        "m": (2*N + 6*K + 7*K*K, (K,)),
        "mean": (2*N + 7*K + 7*K*K, (N,)),
        "psi": (3*N + 7*K + 7*K*K, (K,)),
        "psi_hat": (3*N + 8*K + 7*K*K, (K,)),
        "risk": (3*N + 9*K + 7*K*K, (N,)),
        "slope": (4*N + 9*K + 7*K*K, (N,)),
        "zeta": (5*N + 9*K + 7*K*K, (K,)),
        "zeta_hat": (5*N + 10*K + 7*K*K, (K,)),
    }


@njit(cache=True, error_model="numpy", nogil=True)
def _factor(matrix, pivots):
    """LU factors in place with row equilibration and partial pivoting; ratio of smallest to largest pivot."""
    n = matrix.shape[0]
    small, large = np.inf, 0.0
    for k in range(n):
        pivots[k] = k
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        pivots[k] = pivot
        if pivot != k:
            for j in range(n):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
        diagonal = abs(matrix[k, k])
        small = min(small, diagonal)
        large = max(large, diagonal)
        if diagonal == 0.0 or not math.isfinite(diagonal):
            return 0.0
        for i in range(k + 1, n):
            matrix[i, k] /= matrix[k, k]
            factor = matrix[i, k]
            if factor != 0.0:
                for j in range(k + 1, n):
                    matrix[i, j] -= factor*matrix[k, j]
    return small/large


@njit(cache=True, error_model="numpy", nogil=True)
def _substitute(matrix, pivots, vector):
    """Solve with the factors, in place."""
    n = matrix.shape[0]
    for k in range(n):
        pivot = pivots[k]
        vector[k], vector[pivot] = vector[pivot], vector[k]
    for k in range(n):
        for i in range(k + 1, n):
            vector[i] -= matrix[i, k]*vector[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            vector[k] -= matrix[k, j]*vector[j]
        vector[k] /= matrix[k, k]


@njit(cache=True, error_model="numpy", nogil=True)
def _equilibrate(matrix, vector):
    """Divide each row by its largest entry."""
    n = matrix.shape[0]
    for i in range(n):
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(matrix[i, j]))
        if largest > 0.0:
            for j in range(n):
                matrix[i, j] /= largest
            vector[i] /= largest


@njit(cache=True, error_model="numpy", nogil=True)
def _newton_step(matrix, pivots, vector):
    """vector = matrix^-1 vector, matrix destroyed; False where the equilibrated matrix is numerically singular."""
    n = matrix.shape[0]
    _equilibrate(matrix, vector)
    scale = np.zeros(n)
    for j in range(n):
        for i in range(n):
            scale[j] = max(scale[j], abs(matrix[i, j]))
        if scale[j] == 0.0:
            return False
        for i in range(n):
            matrix[i, j] /= scale[j]
    if not _factor(matrix, pivots) > 1e-13:
        return False
    _substitute(matrix, pivots, vector)
    for j in range(n):
        vector[j] /= scale[j]
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def _invert(matrix, work, start):
    """work[start:] = matrix^-1, row by row; matrix is destroyed."""
    n = matrix.shape[0]
    if n == 1:
        work[start] = 1.0/matrix[0, 0]
        return
    pivots = np.empty(n, np.int64)
    if not _factor(matrix, pivots) > 0.0:
        for i in range(n*n):
            work[start + i] = math.nan
        return
    column = np.empty(n)
    for j in range(n):
        for i in range(n):
            column[i] = 1.0 if i == j else 0.0
        _substitute(matrix, pivots, column)
        for i in range(n):
            work[start + i*n + j] = column[i]


@njit(cache=True, error_model="numpy", nogil=True)
def _step(work, start, count, step, first):
    """Subtract a step from one family; its largest change relative to its largest member."""
    change, scale = 0.0, 0.0
    for i in range(count):
        work[start + i] -= step[first + i]
        change = max(change, abs(step[first + i]))
        scale = max(scale, abs(work[start + i]))
    if math.isnan(change + scale):
        return math.nan
    return change/scale if change > 0.0 else 0.0


@njit(cache=True, error_model="numpy", nogil=True)
def _proximal_weight(matrix, metric):
    """Weight that makes metric a small fraction of the rows it acts on; 0 where there is no metric."""
    largest, weight = 0.0, 0.0
    for i in range(matrix.shape[0]):
        if metric[i] > 0.0:
            weight = max(weight, metric[i])
            for j in range(matrix.shape[0]):
                largest = max(largest, abs(matrix[i, j]))
    if weight == 0.0:
        return 0.0
    return 1e-9*largest/weight if largest > 0.0 else 1.0/weight


@njit(cache=True, error_model="numpy", nogil=True)
def solve(table, fraction, parameters, work, out):
    """Solve the system; out = (test error, training error, free energy).

    table[N, 5 + 3K]: kappa, weight, nu0, nu1, nu2sq, then mu0, mu1, mu2sq per block; fraction[K];
    parameters: (alpha, beta, ridge, noise, inverse_dimension); work[workspace_size(K, N)] holds the unknowns afterwards.
    Returns the number of Newton iterations and linear solves, or minus the block that failed.
    """
    alpha = parameters[0]
    beta = parameters[1]
    ridge = parameters[2]
    noise = parameters[3]
    inverse_dimension = parameters[4]
    K = fraction.shape[0]
    N = table.shape[0]
    o_Delta = 0
    o_M = N
    o_P = N + K*K
    o_Q1 = N + 2*K*K
    o_Q1_hat = N + 3*K*K
    o_Q2 = N + 4*K*K
    o_Q2_hat = N + K + 4*K*K
    o_S = N + 2*K + 4*K*K
    o_T = N + 2*K + 5*K*K
    o_V = N + 3*K + 5*K*K
    o_V1 = 2*N + 3*K + 5*K*K
    o_V1_hat = 2*N + 3*K + 6*K*K
    o_V2 = 2*N + 3*K + 7*K*K
    o_V2_hat = 2*N + 4*K + 7*K*K
    o_adjoint = 2*N + 5*K + 7*K*K
    o_m = 2*N + 6*K + 7*K*K
    o_mean = 2*N + 7*K + 7*K*K
    o_psi = 3*N + 7*K + 7*K*K
    o_psi_hat = 3*N + 8*K + 7*K*K
    o_risk = 3*N + 9*K + 7*K*K
    o_slope = 4*N + 9*K + 7*K*K
    o_zeta = 5*N + 9*K + 7*K*K
    o_zeta_hat = 5*N + 10*K + 7*K*K
    o_E1_0 = 5*N + 11*K + 7*K*K
    o_E1_1 = 5*N + 11*K + 8*K*K
    o_E1_2 = 5*N + 12*K + 8*K*K
    o_E1_3 = 5*N + 12*K + 8*K*K + K*K*K
    o_E1_4 = 5*N + 12*K + 9*K*K + K*K*K
    o_E2_0 = 5*N + 12*K + 9*K*K + K*K*K + K*K*K*K
    o_E2_1 = 5*N + 13*K + 9*K*K + K*K*K + K*K*K*K
    o_E2_2 = 5*N + 14*K + 9*K*K + K*K*K + K*K*K*K
    o_E2_3 = 5*N + 14*K + 10*K*K + K*K*K + K*K*K*K
    o_E2_4 = 5*N + 14*K + 11*K*K + K*K*K + K*K*K*K
    o_E3_0 = 5*N + 14*K + 12*K*K + K*K*K + K*K*K*K
    o_E6_0 = 5*N + 15*K + 12*K*K + K*K*K + K*K*K*K
    o_E6_1 = 5*N + 15*K + 13*K*K + K*K*K + K*K*K*K
    o_E6_2 = 5*N + 16*K + 13*K*K + K*K*K + K*K*K*K
    o_E6_3 = 5*N + 16*K + 13*K*K + 2*K*K*K + K*K*K*K
    o_E6_4 = 5*N + 16*K + 14*K*K + 2*K*K*K + K*K*K*K
    iterations = 0
    # block 1, nonlinear: T, V1, V2, V, V1_hat, V2_hat, P, M, S
    # Newton from above: the map is monotone and concave, so from a point above the solution it descends to it.
    # The start is the solution without data (alpha = 0).
    n = K + K*K
    residual = np.empty(n)
    jacobian = np.empty((n, n))
    pivots = np.empty(n, np.int64)
    for i in range(K):
        work[o_T + i] = 1.0
    for i in range(K*K):
        work[o_V1 + i] = 1.0
    previous = np.inf
    done = False
    for iteration in range(-4, 202):
        alpha = 0.0 if iteration < 0 else parameters[0]
        matrix = np.empty((K, K))
        for b in range(K):
            work[o_V2 + b] = work[o_T + b]/beta
        for b0 in range(K):
            work[o_E1_1 + b0] = 0.0
            for b1 in range(K):
                work[o_E1_0 + b0*K + b1] = 0.0
                work[o_E1_3 + b0*K + b1] = 0.0
                for b2 in range(K):
                    work[o_E1_2 + (b0*K + b1)*K + b2] = 0.0
                    for b3 in range(K):
                        work[o_E1_4 + ((b0*K + b1)*K + b2)*K + b3] = 0.0
        for node in range(N):
            kappa_here = table[node, 0]
            weight_here = table[node, 1]
            sum1 = 0.0
            for b in range(K):
                sum1 += table[node, 5 + 2*K + b]*work[o_V2 + b]
            sum2 = 0.0
            for c in range(K):
                sum3 = 0.0
                for b in range(K):
                    sum3 += table[node, 5 + K + b]*table[node, 5 + K + c]*work[o_V1 + b*K + c]
                sum2 += sum3
            V_here = sum1 + sum2
            work[o_V + node] = V_here
            x0 = V_here + 1.0
            x1 = (1.0/x0)
            x2 = (1.0/(x0*x0))
            w0 = weight_here*(x1)
            w1 = weight_here*(x1)
            w2 = weight_here*(x2)
            w3 = weight_here*(x2)
            w4 = weight_here*(x2)
            for b0 in range(K):
                work[o_E1_1 + b0] += w1*(table[node, 5 + 2*K + b0])
                for b1 in range(K):
                    work[o_E1_0 + b0*K + b1] += w0*(table[node, 5 + K + b0]*table[node, 5 + K + b1])
                    work[o_E1_3 + b0*K + b1] += w3*(table[node, 5 + 2*K + b0]*table[node, 5 + 2*K + b1])
                    for b2 in range(K):
                        work[o_E1_2 + (b0*K + b1)*K + b2] += w2*(table[node, 5 + K + b1]*table[node, 5 + K + b2]*table[node, 5 + 2*K + b0])
                        for b3 in range(K):
                            work[o_E1_4 + ((b0*K + b1)*K + b2)*K + b3] += w4*(table[node, 5 + K + b0]*table[node, 5 + K + b1]*table[node, 5 + K + b2]*table[node, 5 + K + b3])
        for b in range(K):
            for c in range(K):
                work[o_V1_hat + b*K + c] = alpha*work[o_E1_0 + b*K + c]/beta
        for b in range(K):
            work[o_V2_hat + b] = alpha*work[o_E1_1 + b]/beta
        for b in range(K):
            for c in range(K):
                matrix[b, c] = (1.0 if b == c else 0.0) + work[o_T + c]*work[o_V1_hat + b*K + c]
        _invert(matrix, work, o_P)
        for b in range(K):
            for c in range(K):
                work[o_M + b*K + c] = work[o_P + b*K + c]*work[o_T + b]
        for b in range(K):
            for c in range(K):
                sum4 = 0.0
                for e in range(K):
                    sum4 += work[o_P + b*K + e]*work[o_V1_hat + e*K + c]
                work[o_S + b*K + c] = sum4
        for b in range(K):
            residual[b] = -beta*fraction[b]/(ridge + work[o_S + b*K + b] + work[o_V2_hat + b]) + work[o_T + b]
        for b in range(K):
            for c in range(K):
                residual[K + b*K + c] = work[o_V1 + b*K + c] - work[o_M + b*K + c]/beta
        for b in range(K):
            for a in range(K):
                sum5 = 0.0
                for c in range(K):
                    sum6 = 0.0
                    for d in range(K):
                        sum6 += work[o_E1_2 + (a*K + c)*K + d]*work[o_P + b*K + d]
                    sum5 += sum6*work[o_P + b*K + c]
                jacobian[b, a] = beta*(-alpha*sum5/(beta*beta) - alpha*work[o_E1_3 + a*K + b]/(beta*beta) - (work[o_S + a*K + b]*work[o_S + a*K + b]))*fraction[b]/((ridge + work[o_S + b*K + b] + work[o_V2_hat + b])*(ridge + work[o_S + b*K + b] + work[o_V2_hat + b])) + (1.0 if a == b else 0.0)
        for b in range(K):
            for a in range(K):
                for d in range(K):
                    sum7 = 0.0
                    for c in range(K):
                        sum8 = 0.0
                        for e in range(K):
                            sum8 += work[o_E1_4 + ((a*K + c)*K + d)*K + e]*work[o_P + b*K + e]
                        sum7 += sum8*work[o_P + b*K + c]
                    jacobian[b, K + a*K + d] = beta*(-alpha*sum7/beta - alpha*work[o_E1_2 + (b*K + a)*K + d]/beta)*fraction[b]/((ridge + work[o_S + b*K + b] + work[o_V2_hat + b])*(ridge + work[o_S + b*K + b] + work[o_V2_hat + b]))
        for b in range(K):
            for c in range(K):
                for a in range(K):
                    sum9 = 0.0
                    for d in range(K):
                        sum10 = 0.0
                        for e in range(K):
                            sum10 += work[o_E1_2 + (a*K + d)*K + e]*work[o_M + b*K + e]
                        sum9 += sum10*work[o_M + c*K + d]
                    jacobian[K + b*K + c, a] = -(alpha*sum9/(beta*beta) + work[o_P + a*K + b]*work[o_P + a*K + c])/beta
        for b in range(K):
            for c in range(K):
                for a in range(K):
                    for d in range(K):
                        sum11 = 0.0
                        for e in range(K):
                            sum12 = 0.0
                            for f in range(K):
                                sum12 += work[o_E1_4 + ((a*K + d)*K + e)*K + f]*work[o_M + b*K + f]
                            sum11 += sum12*work[o_M + c*K + e]
                        jacobian[K + b*K + c, K + a*K + d] = -alpha*sum11/(beta*beta) + (1.0 if a == b else 0.0)*(1.0 if c == d else 0.0)
        if done:
            iterations += iteration
            break
        if iteration >= 0 and not _newton_step(jacobian, pivots, residual):
            return -1
        change = 0.0
        change = max(change, _step(work, o_T, K, residual, 0))
        change = max(change, _step(work, o_V1, K*K, residual, K))
        if not math.isfinite(change):
            return -1
        done = iteration >= 0 and (change < 4e-16 or (change < 1e-9 and change >= 0.5*previous))
        previous = change
    if not done:
        return -1
    # block 2, linear: m, zeta, mean, zeta_hat
    # One linear solve and one refinement. Where the system is singular, the limit d -> infinity of its finite-size term:
    # proximal iterations from zero.
    n = K + K
    residual = np.empty(n)
    jacobian = np.empty((n, n))
    factors = np.empty((n, n))
    right = np.empty(n)
    metric = np.zeros(n)
    pivots = np.empty(n, np.int64)
    for i in range(K):
        work[o_m + i] = 0.0
    for i in range(K):
        work[o_zeta + i] = 0.0
    proximal = 0.0
    iteration = 0
    last = 1
    while True:
        for b0 in range(K):
            work[o_E2_0 + b0] = 0.0
            work[o_E2_1 + b0] = 0.0
            for b1 in range(K):
                work[o_E2_2 + b0*K + b1] = 0.0
                work[o_E2_3 + b0*K + b1] = 0.0
                work[o_E2_4 + b0*K + b1] = 0.0
        for node in range(N):
            V_here = work[o_V + node]
            nu0_here = table[node, 2]
            kappa_here = table[node, 0]
            weight_here = table[node, 1]
            sum1 = 0.0
            for b in range(K):
                sum1 += kappa_here*table[node, 5 + K + b]*work[o_zeta + b] + table[node, 5 + b]*work[o_m + b]
            mean_here = sum1
            work[o_mean + node] = mean_here
            x0 = (1.0/(V_here + 1.0))
            x1 = x0*(mean_here - nu0_here)
            w0 = weight_here*(kappa_here*x1)
            w1 = weight_here*(x1)
            w2 = weight_here*(x0)
            w3 = weight_here*(kappa_here*x0)
            w4 = weight_here*((kappa_here*kappa_here)*x0)
            for b0 in range(K):
                work[o_E2_0 + b0] += w0*(table[node, 5 + K + b0])
                work[o_E2_1 + b0] += w1*(table[node, 5 + b0])
                for b1 in range(K):
                    work[o_E2_2 + b0*K + b1] += w2*(table[node, 5 + b0]*table[node, 5 + b1])
                    work[o_E2_3 + b0*K + b1] += w3*(table[node, 5 + b1]*table[node, 5 + K + b0])
                    work[o_E2_4 + b0*K + b1] += w4*(table[node, 5 + K + b0]*table[node, 5 + K + b1])
        for b in range(K):
            work[o_zeta_hat + b] = -alpha*work[o_E2_0 + b]/beta
        for b in range(K):
            residual[b] = alpha*work[o_E2_1 + b] + beta*inverse_dimension*work[o_m + b]/work[o_T + b]
        for b in range(K):
            residual[K + b] = -work[o_T + b]*work[o_zeta_hat + b] + work[o_zeta + b]
        for b in range(K):
            for a in range(K):
                jacobian[b, a] = alpha*work[o_E2_2 + a*K + b] + beta*inverse_dimension*(1.0 if a == b else 0.0)/work[o_T + b]
        for b in range(K):
            for a in range(K):
                jacobian[b, K + a] = alpha*work[o_E2_3 + a*K + b]
        for b in range(K):
            for a in range(K):
                jacobian[K + b, a] = alpha*work[o_E2_3 + b*K + a]*work[o_T + b]/beta
        for b in range(K):
            for a in range(K):
                jacobian[K + b, K + a] = alpha*work[o_E2_4 + a*K + b]*work[o_T + b]/beta + (1.0 if a == b else 0.0)
        if iteration > last:
            break
        while True:
            for i in range(n):
                right[i] = residual[i]
                for j in range(n):
                    factors[i, j] = jacobian[i, j]
                factors[i, i] += proximal*metric[i]
            if _newton_step(factors, pivots, right):
                break
            if proximal > 0.0:
                return -2
            for b in range(K):
                metric[b] = beta/work[o_T + b]
            for b in range(K):
                metric[K + b] = 0.0
            proximal = _proximal_weight(jacobian, metric)
            last = 20
            if proximal == 0.0:
                return -2
        change = 0.0
        change = max(change, _step(work, o_m, K, right, 0))
        change = max(change, _step(work, o_zeta, K, right, K))
        if not math.isfinite(change):
            return -2
        iteration += 1
    iterations += 1
    # block 3, explicit: psi_hat
    for b0 in range(K):
        work[o_E3_0 + b0] = 0.0
    for node in range(N):
        V_here = work[o_V + node]
        nu1_here = table[node, 3]
        kappa_here = table[node, 0]
        weight_here = table[node, 1]
        w0 = weight_here*(nu1_here/(V_here + 1.0))
        for b0 in range(K):
            work[o_E3_0 + b0] += w0*(table[node, 5 + K + b0])
    for b in range(K):
        work[o_psi_hat + b] = alpha*work[o_E3_0 + b]/beta
    # block 4, explicit: psi
    for b in range(K):
        sum1 = 0.0
        for a in range(K):
            sum1 += work[o_M + a*K + b]*work[o_psi_hat + a]
        work[o_psi + b] = sum1
    # block 5, explicit: slope
    for node in range(N):
        kappa_here = table[node, 0]
        weight_here = table[node, 1]
        sum1 = 0.0
        for b in range(K):
            sum1 += table[node, 5 + K + b]*work[o_psi + b]
        slope_here = sum1
        work[o_slope + node] = slope_here
    # block 6, linear: adjoint, Q1, Q2, Delta, risk, Q1_hat, Q2_hat
    # One linear solve and one refinement. Where the system is singular, the limit d -> infinity of its finite-size term:
    # proximal iterations from zero.
    n = K + K*K
    residual = np.empty(n)
    jacobian = np.empty((n, n))
    factors = np.empty((n, n))
    right = np.empty(n)
    metric = np.zeros(n)
    pivots = np.empty(n, np.int64)
    for i in range(K):
        work[o_adjoint + i] = 0.0
    for i in range(K*K):
        work[o_Q1 + i] = 0.0
    proximal = 0.0
    iteration = 0
    last = 1
    while True:
        for b in range(K):
            work[o_Q2 + b] = work[o_adjoint + b]
        for b0 in range(K):
            work[o_E6_1 + b0] = 0.0
            for b1 in range(K):
                work[o_E6_0 + b0*K + b1] = 0.0
                work[o_E6_3 + b0*K + b1] = 0.0
                for b2 in range(K):
                    work[o_E6_2 + (b0*K + b1)*K + b2] = 0.0
                    for b3 in range(K):
                        work[o_E6_4 + ((b0*K + b1)*K + b2)*K + b3] = 0.0
        for node in range(N):
            V_here = work[o_V + node]
            mean_here = work[o_mean + node]
            nu0_here = table[node, 2]
            nu1_here = table[node, 3]
            nu2sq_here = table[node, 4]
            slope_here = work[o_slope + node]
            kappa_here = table[node, 0]
            weight_here = table[node, 1]
            sum1 = 0.0
            for b in range(K):
                sum1 += table[node, 5 + 2*K + b]*work[o_Q2 + b]
            sum2 = 0.0
            for c in range(K):
                sum3 = 0.0
                for b in range(K):
                    sum3 += table[node, 5 + K + b]*table[node, 5 + K + c]*work[o_Q1 + b*K + c]
                sum2 += sum3
            Delta_here = sum1 + sum2 - (slope_here*slope_here)
            work[o_Delta + node] = Delta_here
            risk_here = noise + ((-mean_here + nu0_here)*(-mean_here + nu0_here)) + ((nu1_here - slope_here)*(nu1_here - slope_here)) + Delta_here + nu2sq_here
            work[o_risk + node] = risk_here
            x0 = (1.0/((V_here + 1.0)*(V_here + 1.0)))
            x1 = x0*risk_here
            w0 = weight_here*(x1)
            w1 = weight_here*(x1)
            w2 = weight_here*(x0)
            w3 = weight_here*(x0)
            w4 = weight_here*(x0)
            for b0 in range(K):
                work[o_E6_1 + b0] += w1*(table[node, 5 + 2*K + b0])
                for b1 in range(K):
                    work[o_E6_0 + b0*K + b1] += w0*(table[node, 5 + K + b0]*table[node, 5 + K + b1])
                    work[o_E6_3 + b0*K + b1] += w3*(table[node, 5 + 2*K + b0]*table[node, 5 + 2*K + b1])
                    for b2 in range(K):
                        work[o_E6_2 + (b0*K + b1)*K + b2] += w2*(table[node, 5 + K + b0]*table[node, 5 + K + b1]*table[node, 5 + 2*K + b2])
                        for b3 in range(K):
                            work[o_E6_4 + ((b0*K + b1)*K + b2)*K + b3] += w4*(table[node, 5 + K + b0]*table[node, 5 + K + b1]*table[node, 5 + K + b2]*table[node, 5 + K + b3])
        for b in range(K):
            for c in range(K):
                work[o_Q1_hat + b*K + c] = alpha*work[o_E6_0 + b*K + c]/beta
        for b in range(K):
            work[o_Q2_hat + b] = alpha*work[o_E6_1 + b]/beta
        for b in range(K):
            sum4 = 0.0
            for a in range(K):
                sum4 += work[o_P + b*K + a]*work[o_psi_hat + a]
            sum5 = 0.0
            for a in range(K):
                sum5 += (work[o_S + a*K + b]*work[o_S + a*K + b])*work[o_adjoint + a]
            sum6 = 0.0
            for a in range(K):
                sum7 = 0.0
                for c in range(K):
                    sum7 += work[o_P + b*K + c]*work[o_Q1_hat + a*K + c]
                sum6 += sum7*work[o_P + b*K + a]
            residual[b] = beta*work[o_adjoint + b]*fraction[b]/(work[o_T + b]*work[o_T + b]) - inverse_dimension*(work[o_m + b]*work[o_m + b])/(work[o_T + b]*work[o_T + b]) - (sum4*sum4) - sum5 - (work[o_zeta_hat + b]*work[o_zeta_hat + b]) - sum6/beta - work[o_Q2_hat + b]/beta
        for b in range(K):
            for c in range(K):
                sum8 = 0.0
                for a in range(K):
                    sum8 += work[o_P + a*K + b]*work[o_P + a*K + c]*work[o_adjoint + a]
                sum9 = 0.0
                for a in range(K):
                    sum10 = 0.0
                    for d in range(K):
                        sum10 += work[o_M + c*K + d]*work[o_Q1_hat + a*K + d]
                    sum9 += sum10*work[o_M + a*K + b]
                sum11 = 0.0
                for a in range(K):
                    sum11 += work[o_M + a*K + b]*work[o_psi_hat + a]
                sum12 = 0.0
                for a in range(K):
                    sum12 += work[o_M + a*K + c]*work[o_psi_hat + a]
                residual[K + b*K + c] = -sum11*sum12 - sum8 + work[o_Q1 + b*K + c] - sum9/beta
        for b in range(K):
            for d in range(K):
                sum13 = 0.0
                for a in range(K):
                    sum14 = 0.0
                    for c in range(K):
                        sum14 += work[o_E6_2 + (a*K + c)*K + d]*work[o_P + b*K + c]
                    sum13 += sum14*work[o_P + b*K + a]
                jacobian[b, d] = -alpha*sum13/(beta*beta) - alpha*work[o_E6_3 + b*K + d]/(beta*beta) + beta*(1.0 if b == d else 0.0)*fraction[b]/(work[o_T + b]*work[o_T + b]) - (work[o_S + b*K + d]*work[o_S + b*K + d])
        for b in range(K):
            for d in range(K):
                for e in range(K):
                    sum15 = 0.0
                    for a in range(K):
                        sum16 = 0.0
                        for c in range(K):
                            sum16 += work[o_E6_4 + ((a*K + c)*K + d)*K + e]*work[o_P + b*K + c]
                        sum15 += sum16*work[o_P + b*K + a]
                    jacobian[b, K + d*K + e] = -alpha*sum15/(beta*beta) - alpha*work[o_E6_2 + (d*K + e)*K + b]/(beta*beta)
        for b in range(K):
            for c in range(K):
                for e in range(K):
                    sum17 = 0.0
                    for a in range(K):
                        sum18 = 0.0
                        for d in range(K):
                            sum18 += work[o_E6_2 + (a*K + d)*K + e]*work[o_M + c*K + d]
                        sum17 += sum18*work[o_M + a*K + b]
                    jacobian[K + b*K + c, e] = -alpha*sum17/(beta*beta) - work[o_P + e*K + b]*work[o_P + e*K + c]
        for b in range(K):
            for c in range(K):
                for e in range(K):
                    for f in range(K):
                        sum19 = 0.0
                        for a in range(K):
                            sum20 = 0.0
                            for d in range(K):
                                sum20 += work[o_E6_4 + ((a*K + d)*K + e)*K + f]*work[o_M + c*K + d]
                            sum19 += sum20*work[o_M + a*K + b]
                        jacobian[K + b*K + c, K + e*K + f] = -alpha*sum19/(beta*beta) + (1.0 if b == e else 0.0)*(1.0 if c == f else 0.0)
        if iteration > last:
            break
        while True:
            for i in range(n):
                right[i] = residual[i]
                for j in range(n):
                    factors[i, j] = jacobian[i, j]
                factors[i, i] += proximal*metric[i]
            if _newton_step(factors, pivots, right):
                break
            if proximal > 0.0:
                return -6
            for b in range(K):
                metric[b] = 0.0
            for b in range(K):
                for c in range(K):
                    metric[K + b*K + c] = 0.0
            proximal = _proximal_weight(jacobian, metric)
            last = 20
            if proximal == 0.0:
                return -6
        change = 0.0
        change = max(change, _step(work, o_adjoint, K, right, 0))
        change = max(change, _step(work, o_Q1, K*K, right, K))
        if not math.isfinite(change):
            return -6
        iteration += 1
    iterations += 1
    # observables
    EO_0 = 0.0
    EO_1 = 0.0
    EO_2 = 0.0
    for node in range(N):
        Delta_here = work[o_Delta + node]
        V_here = work[o_V + node]
        mean_here = work[o_mean + node]
        nu0_here = table[node, 2]
        nu1_here = table[node, 3]
        nu2sq_here = table[node, 4]
        risk_here = work[o_risk + node]
        slope_here = work[o_slope + node]
        kappa_here = table[node, 0]
        weight_here = table[node, 1]
        x0 = V_here + 1.0
        x1 = ((1.0/2.0))*risk_here
        w0 = weight_here*(((-mean_here + nu0_here)*(-mean_here + nu0_here)) + ((nu1_here - slope_here)*(nu1_here - slope_here)) + Delta_here + nu2sq_here)
        w1 = weight_here*(x1/(x0*x0))
        w2 = weight_here*(x1/x0)
        EO_0 += w0
        EO_1 += w1
        EO_2 += w2
    out[0] = EO_0
    out[1] = 2.0*EO_1
    sum1 = 0.0
    for b in range(K):
        sum1 += -work[o_Q2 + b]*work[o_V2_hat + b] + work[o_Q2_hat + b]*work[o_V2 + b]
    sum2 = 0.0
    for c in range(K):
        sum3 = 0.0
        for b in range(K):
            sum3 += -work[o_Q1 + b*K + c]*work[o_V1_hat + b*K + c] + work[o_Q1_hat + b*K + c]*work[o_V1 + b*K + c]
        sum2 += sum3
    sum4 = 0.0
    for a in range(K):
        sum4 += work[o_T + a]*(work[o_zeta_hat + a]*work[o_zeta_hat + a])
    sum5 = 0.0
    for a in range(K):
        sum6 = 0.0
        for b in range(K):
            sum6 += work[o_M + a*K + b]*work[o_psi_hat + b]
        sum5 += sum6*work[o_psi_hat + a]
    sum7 = 0.0
    for a in range(K):
        sum7 += work[o_Q2_hat + a]*work[o_T + a]
    sum8 = 0.0
    for a in range(K):
        sum9 = 0.0
        for b in range(K):
            sum9 += work[o_M + a*K + b]*work[o_Q1_hat + a*K + b]
        sum8 += sum9
    sum10 = 0.0
    for b in range(K):
        sum10 += work[o_psi + b]*work[o_psi_hat + b] + work[o_zeta + b]*work[o_zeta_hat + b]
    sum11 = 0.0
    for b in range(K):
        sum11 += ((1.0/2.0))*(work[o_m + b]*work[o_m + b])/work[o_T + b]
    out[2] = alpha*EO_2 + beta*inverse_dimension*sum11 + beta*(((1.0/2.0))*sum1 + sum10 + ((1.0/2.0))*sum2 - (1.0/2.0)*sum4 - (1.0/2.0)*sum5 - (1.0/2.0)*(sum7 + sum8)/beta)
    return iterations


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
    kappa = table[:, 0]
    weight = table[:, 1]
    nu0 = table[:, 2]
    nu1 = table[:, 3]
    nu2sq = table[:, 4]
    mu0 = table[:, 5 + 0*K:5 + 0*K + K]
    mu1 = table[:, 5 + 1*K:5 + 1*K + K]
    mu2sq = table[:, 5 + 2*K:5 + 2*K + K]
    P = work[N + K*K:N + K*K + K*K].reshape(K, K)
    S = work[N + 2*K + 4*K*K:N + 2*K + 4*K*K + K*K].reshape(K, K)
    M = work[N:N + K*K].reshape(K, K)
    T = work[N + 2*K + 5*K*K:N + 2*K + 5*K*K + K]
    adjoint = work[2*N + 5*K + 7*K*K:2*N + 5*K + 7*K*K + K]
    V1_hat = work[2*N + 3*K + 6*K*K:2*N + 3*K + 6*K*K + K*K].reshape(K, K)
    V2_hat = work[2*N + 4*K + 7*K*K:2*N + 4*K + 7*K*K + K]
    V1 = work[2*N + 3*K + 5*K*K:2*N + 3*K + 5*K*K + K*K].reshape(K, K)
    V2 = work[2*N + 3*K + 7*K*K:2*N + 3*K + 7*K*K + K]
    psi_hat = work[3*N + 8*K + 7*K*K:3*N + 8*K + 7*K*K + K]
    psi = work[3*N + 7*K + 7*K*K:3*N + 7*K + 7*K*K + K]
    zeta_hat = work[5*N + 10*K + 7*K*K:5*N + 10*K + 7*K*K + K]
    zeta = work[5*N + 9*K + 7*K*K:5*N + 9*K + 7*K*K + K]
    Q1_hat = work[N + 3*K*K:N + 3*K*K + K*K].reshape(K, K)
    Q2_hat = work[N + K + 4*K*K:N + K + 4*K*K + K]
    Q1 = work[N + 2*K*K:N + 2*K*K + K*K].reshape(K, K)
    Q2 = work[N + 4*K*K:N + 4*K*K + K]
    m = work[2*N + 6*K + 7*K*K:2*N + 6*K + 7*K*K + K]
    V = np.einsum('b,bn->n', V2, np.einsum('nb->bn', mu2sq)) + np.einsum('cn->n', np.einsum('bc,bn,cn->cn', V1, np.einsum('nb->bn', mu1), np.einsum('nc->cn', mu1)))
    slope = np.einsum('b,bn->n', psi, np.einsum('nb->bn', mu1))
    mean = np.einsum('bn->n', np.einsum('b,bn->bn', m, np.einsum('nb->bn', mu0)) + np.einsum('n,b,bn->bn', kappa, zeta, np.einsum('nb->bn', mu1)))
    Delta = (-1.0)*(slope**2) + np.einsum('b,bn->n', Q2, np.einsum('nb->bn', mu2sq)) + np.einsum('cn->n', np.einsum('bc,bn,cn->cn', Q1, np.einsum('nb->bn', mu1), np.einsum('nc->cn', mu1)))
    risk = noise + ((-1.0)*mean + nu0)**2 + ((-1.0)*slope + nu1)**2 + Delta + nu2sq
    worst = 0.0
    scale_V2 = abs(1.0/beta)*abs(T)
    worst = _worse(worst, (-1.0)*(1.0/beta)*T + V2, scale_V2)
    scale_V1_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn,cn->bc', weight, abs(1.0/(1.0 + V)), abs(np.einsum('nb->bn', mu1)), abs(np.einsum('nc->cn', mu1)))
    worst = _worse(worst, (-1.0)*alpha*(1.0/beta)*np.einsum('n,n,bn,cn->bc', weight, 1.0/(1.0 + V), np.einsum('nb->bn', mu1), np.einsum('nc->cn', mu1)) + V1_hat, scale_V1_hat)
    scale_V2_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn->b', weight, abs(1.0/(1.0 + V)), abs(np.einsum('nb->bn', mu2sq)))
    worst = _worse(worst, (-1.0)*alpha*(1.0/beta)*np.einsum('n,n,bn->b', weight, 1.0/(1.0 + V), np.einsum('nb->bn', mu2sq)) + V2_hat, scale_V2_hat)
    scale_P = np.einsum('ce,be->bc', np.einsum('c,ce->ce', abs(T), np.einsum('ec->ce', scale_V1_hat)) + identity, abs(P)) + identity
    worst = _worse(worst, (-1.0)*identity + np.einsum('ce,be->bc', np.einsum('c,ce->ce', T, np.einsum('ec->ce', V1_hat)) + identity, P), scale_P)
    scale_M = np.einsum('b,bc->bc', abs(T), abs(P))
    worst = _worse(worst, (-1.0)*np.einsum('b,bc->bc', T, P) + M, scale_M)
    scale_S = np.einsum('be,ce->bc', abs(P), np.einsum('ec->ce', scale_V1_hat))
    worst = _worse(worst, (-1.0)*np.einsum('be,ce->bc', P, np.einsum('ec->ce', V1_hat)) + S, scale_S)
    scale_T = beta*abs(1.0/(ridge + V2_hat + np.einsum('bb->b', S)))*abs(fraction)
    worst = _worse(worst, (-1.0)*beta*(1.0/(ridge + V2_hat + np.einsum('bb->b', S)))*fraction + T, scale_T)
    scale_V1 = abs(1.0/beta)*scale_M
    worst = _worse(worst, (-1.0)*(1.0/beta)*M + V1, scale_V1)
    scale_zeta_hat = alpha*abs(1.0/beta)*np.einsum('n,n,n,n,bn->b', weight, abs(mean) + abs(nu0), abs(kappa), abs(1.0/(1.0 + V)), abs(np.einsum('nb->bn', mu1)))
    worst = _worse(worst, alpha*(1.0/beta)*np.einsum('n,n,n,n,bn->b', weight, kappa, 1.0/(1.0 + V), (-1.0)*nu0 + mean, np.einsum('nb->bn', mu1)) + zeta_hat, scale_zeta_hat)
    scale_m = alpha*np.einsum('n,n,n,bn->b', weight, abs(mean) + abs(nu0), abs(1.0/(1.0 + V)), abs(np.einsum('nb->bn', mu0))) + inverse_dimension*beta*abs(1.0/T)*abs(m)
    worst = _worse(worst, alpha*np.einsum('n,n,n,bn->b', weight, 1.0/(1.0 + V), (-1.0)*nu0 + mean, np.einsum('nb->bn', mu0)) + inverse_dimension*beta*(1.0/T)*m, scale_m)
    scale_zeta = scale_T*scale_zeta_hat
    worst = _worse(worst, (-1.0)*T*zeta_hat + zeta, scale_zeta)
    scale_psi_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn,n->b', weight, abs(1.0/(1.0 + V)), abs(np.einsum('nb->bn', mu1)), abs(nu1))
    worst = _worse(worst, (-1.0)*alpha*(1.0/beta)*np.einsum('n,n,bn,n->b', weight, 1.0/(1.0 + V), np.einsum('nb->bn', mu1), nu1) + psi_hat, scale_psi_hat)
    scale_psi = np.einsum('a,ab->b', scale_psi_hat, scale_M)
    worst = _worse(worst, (-1.0)*np.einsum('a,ab->b', psi_hat, M) + psi, scale_psi)
    scale_Q2 = abs(adjoint)
    worst = _worse(worst, (-1.0)*adjoint + Q2, scale_Q2)
    scale_Q1_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn,cn,n->bc', weight, abs((1.0 + V)**(-2)), abs(np.einsum('nb->bn', mu1)), abs(np.einsum('nc->cn', mu1)), abs(risk))
    worst = _worse(worst, (-1.0)*alpha*(1.0/beta)*np.einsum('n,n,bn,cn,n->bc', weight, (1.0 + V)**(-2), np.einsum('nb->bn', mu1), np.einsum('nc->cn', mu1), risk) + Q1_hat, scale_Q1_hat)
    scale_Q2_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn,n->b', weight, abs((1.0 + V)**(-2)), abs(np.einsum('nb->bn', mu2sq)), abs(risk))
    worst = _worse(worst, (-1.0)*alpha*(1.0/beta)*np.einsum('n,n,bn,n->b', weight, (1.0 + V)**(-2), np.einsum('nb->bn', mu2sq), risk) + Q2_hat, scale_Q2_hat)
    scale_adjoint = np.einsum('ab,a->b', abs(np.einsum('ba->ab', P)), scale_psi_hat)**2 + zeta_hat**2 + abs(1.0/beta)*np.einsum('ab,ab->b', abs(np.einsum('ba->ab', P)), np.einsum('bc,ac->ab', abs(P), scale_Q1_hat)) + abs(1.0/beta)*scale_Q2_hat + inverse_dimension*(m**2)*abs(T**(-2)) + beta*abs(T**(-2))*abs(adjoint)*abs(fraction) + np.einsum('ab,a->b', S**2, abs(adjoint))
    worst = _worse(worst, (-1.0)*(np.einsum('a,ab->b', psi_hat, np.einsum('ba->ab', P))**2) + (-1.0)*(zeta_hat**2) + (-1.0)*np.einsum('ab,a->b', S**2, adjoint) + (-1.0)*(1.0/beta)*np.einsum('ab,ab->b', np.einsum('bc,ac->ab', P, Q1_hat), np.einsum('ba->ab', P)) + (-1.0)*(1.0/beta)*Q2_hat + (-1.0)*inverse_dimension*(T**(-2))*(m**2) + beta*(T**(-2))*adjoint*fraction, scale_adjoint)
    scale_Q1 = abs(1.0/beta)*np.einsum('ac,ab->bc', np.einsum('cd,ad->ac', scale_M, scale_Q1_hat), scale_M) + np.einsum('b,c->bc', np.einsum('a,ab->b', scale_psi_hat, scale_M), np.einsum('a,ac->c', scale_psi_hat, scale_M)) + np.einsum('a,ab,ac->bc', abs(adjoint), abs(P), abs(P))
    worst = _worse(worst, (-1.0)*np.einsum('a,ab,ac->bc', adjoint, P, P) + (-1.0)*(1.0/beta)*np.einsum('ac,ab->bc', np.einsum('cd,ad->ac', M, Q1_hat), M) + (-1.0)*np.einsum('b,c->bc', np.einsum('a,ab->b', psi_hat, M), np.einsum('a,ac->c', psi_hat, M)) + Q1, scale_Q1)
    return worst
