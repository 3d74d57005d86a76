"""Saddle-point equations of the square loss, one block, K = 1  [CUI24, Result 3.3; THEORY section 4].

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
Generated; do not edit. Signature e3aa7ec8f27e3445.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np
from numba import njit

LOSS = "square"
SIGNATURE = "e3aa7ec8f27e344577d9c4f49d863ad252b2769ff0c689c4eb3b7a747af3979f"


def workspace_size(K, N):
    """Length of the workspace for K blocks and N nodes."""
    return 5*N + 11*K + 7*K*K


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
def _newton_step(matrix, pivots, vector):
    """vector = matrix^-1 vector for two unknowns, rows and columns scaled first; False where that is numerically singular."""
    first = max(abs(matrix[0, 0]), abs(matrix[0, 1]))
    second = max(abs(matrix[1, 0]), abs(matrix[1, 1]))
    if not (0.0 < first < np.inf and 0.0 < second < np.inf):
        return False
    a, b, x = matrix[0, 0]/first, matrix[0, 1]/first, vector[0]/first
    c, d, y = matrix[1, 0]/second, matrix[1, 1]/second, vector[1]/second
    left, right = max(abs(a), abs(c)), max(abs(b), abs(d))
    if left == 0.0 or right == 0.0:
        return False
    a, c, b, d = a/left, c/left, b/right, d/right
    if abs(c) > abs(a):
        a, b, x, c, d, y = c, d, y, a, b, x
    factor = c/a
    pivot = d - factor*b
    if not min(abs(a), abs(pivot)) > 1e-13*max(abs(a), abs(pivot)):
        return False
    second_unknown = (y - factor*x)/pivot
    vector[1] = second_unknown/right
    vector[0] = (x - b*second_unknown)/a/left
    return True


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
    K = 1
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
        work[o_V2] = work[o_T]/beta
        E1_0 = 0.0
        E1_1 = 0.0
        E1_2 = 0.0
        E1_3 = 0.0
        E1_4 = 0.0
        for node in range(N):
            kappa_here = table[node, 0]
            weight_here = table[node, 1]
            V_here = (table[node, 6]*table[node, 6])*work[o_V1] + table[node, 7]*work[o_V2]
            work[o_V + node] = V_here
            x0 = table[node, 6]
            x1 = (x0*x0)
            x2 = V_here + 1.0
            x3 = (1.0/x2)
            x4 = table[node, 7]
            x5 = (1.0/(x2*x2))
            w0 = weight_here*(x1*x3)
            w1 = weight_here*(x3*x4)
            w2 = weight_here*((x4*x4)*x5)
            w3 = weight_here*(x1*x4*x5)
            w4 = weight_here*((x0*x0*x0*x0)*x5)
            E1_0 += w0
            E1_1 += w1
            E1_2 += w2
            E1_3 += w3
            E1_4 += w4
        work[o_V1_hat] = alpha*E1_0/beta
        work[o_V2_hat] = alpha*E1_1/beta
        work[o_P] = 1.0/(work[o_T]*work[o_V1_hat] + 1.0)
        work[o_M] = work[o_P]*work[o_T]
        work[o_S] = work[o_P]*work[o_V1_hat]
        residual[0] = -beta*fraction[0]/(ridge + work[o_S] + work[o_V2_hat]) + work[o_T]
        residual[K] = work[o_V1] - work[o_M]/beta
        jacobian[0, 0] = beta*(-alpha*E1_2/(beta*beta) - alpha*E1_3*(work[o_P]*work[o_P])/(beta*beta) - (work[o_S]*work[o_S]))*fraction[0]/((ridge + work[o_S] + work[o_V2_hat])*(ridge + work[o_S] + work[o_V2_hat])) + 1.0
        jacobian[0, K] = beta*(-alpha*E1_3/beta - alpha*E1_4*(work[o_P]*work[o_P])/beta)*fraction[0]/((ridge + work[o_S] + work[o_V2_hat])*(ridge + work[o_S] + work[o_V2_hat]))
        jacobian[K, 0] = -(alpha*E1_3*(work[o_M]*work[o_M])/(beta*beta) + (work[o_P]*work[o_P]))/beta
        jacobian[K, K] = -alpha*E1_4*(work[o_M]*work[o_M])/(beta*beta) + 1.0
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
        E2_0 = 0.0
        E2_1 = 0.0
        E2_2 = 0.0
        E2_3 = 0.0
        E2_4 = 0.0
        for node in range(N):
            V_here = work[o_V + node]
            nu0_here = table[node, 2]
            kappa_here = table[node, 0]
            weight_here = table[node, 1]
            mean_here = kappa_here*table[node, 6]*work[o_zeta] + table[node, 5]*work[o_m]
            work[o_mean + node] = mean_here
            x0 = (1.0/(V_here + 1.0))
            x1 = x0*(mean_here - nu0_here)
            x2 = table[node, 6]
            x3 = kappa_here*x2
            x4 = table[node, 5]
            w0 = weight_here*(x1*x3)
            w1 = weight_here*(x1*x4)
            w2 = weight_here*(x0*(x4*x4))
            w3 = weight_here*(x0*x3*x4)
            w4 = weight_here*((kappa_here*kappa_here)*x0*(x2*x2))
            E2_0 += w0
            E2_1 += w1
            E2_2 += w2
            E2_3 += w3
            E2_4 += w4
        work[o_zeta_hat] = -alpha*E2_0/beta
        residual[0] = alpha*E2_1 + beta*inverse_dimension*work[o_m]/work[o_T]
        residual[K] = -work[o_T]*work[o_zeta_hat] + work[o_zeta]
        jacobian[0, 0] = alpha*E2_2 + beta*inverse_dimension/work[o_T]
        jacobian[0, K] = alpha*E2_3
        jacobian[K, 0] = alpha*E2_3*work[o_T]/beta
        jacobian[K, K] = alpha*E2_4*work[o_T]/beta + 1.0
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
            metric[0] = beta/work[o_T]
            metric[K] = 0.0
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
    E3_0 = 0.0
    for node in range(N):
        V_here = work[o_V + node]
        nu1_here = table[node, 3]
        kappa_here = table[node, 0]
        weight_here = table[node, 1]
        w0 = weight_here*(table[node, 6]*nu1_here/(V_here + 1.0))
        E3_0 += w0
    work[o_psi_hat] = alpha*E3_0/beta
    # block 4, explicit: psi
    work[o_psi] = work[o_M]*work[o_psi_hat]
    # block 5, explicit: slope
    for node in range(N):
        kappa_here = table[node, 0]
        weight_here = table[node, 1]
        slope_here = table[node, 6]*work[o_psi]
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
        work[o_Q2] = work[o_adjoint]
        E6_0 = 0.0
        E6_1 = 0.0
        E6_2 = 0.0
        E6_3 = 0.0
        E6_4 = 0.0
        for node in range(N):
            V_here = work[o_V + node]
            mean_here = work[o_mean + node]
            nu0_here = table[node, 2]
            nu1_here = table[node, 3]
            nu2sq_here = table[node, 4]
            slope_here = work[o_slope + node]
            kappa_here = table[node, 0]
            weight_here = table[node, 1]
            Delta_here = (table[node, 6]*table[node, 6])*work[o_Q1] + table[node, 7]*work[o_Q2] - (slope_here*slope_here)
            work[o_Delta + node] = Delta_here
            risk_here = noise + ((-mean_here + nu0_here)*(-mean_here + nu0_here)) + ((nu1_here - slope_here)*(nu1_here - slope_here)) + Delta_here + nu2sq_here
            work[o_risk + node] = risk_here
            x0 = table[node, 6]
            x1 = (x0*x0)
            x2 = (1.0/((V_here + 1.0)*(V_here + 1.0)))
            x3 = x2*risk_here
            x4 = table[node, 7]
            w0 = weight_here*(x1*x3)
            w1 = weight_here*(x3*x4)
            w2 = weight_here*(x2*(x4*x4))
            w3 = weight_here*(x1*x2*x4)
            w4 = weight_here*((x0*x0*x0*x0)*x2)
            E6_0 += w0
            E6_1 += w1
            E6_2 += w2
            E6_3 += w3
            E6_4 += w4
        work[o_Q1_hat] = alpha*E6_0/beta
        work[o_Q2_hat] = alpha*E6_1/beta
        residual[0] = beta*work[o_adjoint]*fraction[0]/(work[o_T]*work[o_T]) - inverse_dimension*(work[o_m]*work[o_m])/(work[o_T]*work[o_T]) - (work[o_P]*work[o_P])*(work[o_psi_hat]*work[o_psi_hat]) - (work[o_S]*work[o_S])*work[o_adjoint] - (work[o_zeta_hat]*work[o_zeta_hat]) - (work[o_P]*work[o_P])*work[o_Q1_hat]/beta - work[o_Q2_hat]/beta
        residual[K] = -(work[o_M]*work[o_M])*(work[o_psi_hat]*work[o_psi_hat]) - (work[o_P]*work[o_P])*work[o_adjoint] + work[o_Q1] - (work[o_M]*work[o_M])*work[o_Q1_hat]/beta
        jacobian[0, 0] = -alpha*E6_2/(beta*beta) - alpha*E6_3*(work[o_P]*work[o_P])/(beta*beta) + beta*fraction[0]/(work[o_T]*work[o_T]) - (work[o_S]*work[o_S])
        jacobian[0, K] = -alpha*E6_3/(beta*beta) - alpha*E6_4*(work[o_P]*work[o_P])/(beta*beta)
        jacobian[K, 0] = -alpha*E6_3*(work[o_M]*work[o_M])/(beta*beta) - (work[o_P]*work[o_P])
        jacobian[K, K] = -alpha*E6_4*(work[o_M]*work[o_M])/(beta*beta) + 1.0
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
            metric[0] = 0.0
            metric[K] = 0.0
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
    out[2] = alpha*EO_2 + ((1.0/2.0))*beta*inverse_dimension*(work[o_m]*work[o_m])/work[o_T] + beta*(-(1.0/2.0)*work[o_M]*(work[o_psi_hat]*work[o_psi_hat]) - (1.0/2.0)*work[o_Q1]*work[o_V1_hat] + ((1.0/2.0))*work[o_Q1_hat]*work[o_V1] - (1.0/2.0)*work[o_Q2]*work[o_V2_hat] + ((1.0/2.0))*work[o_Q2_hat]*work[o_V2] - (1.0/2.0)*work[o_T]*(work[o_zeta_hat]*work[o_zeta_hat]) + work[o_psi]*work[o_psi_hat] + work[o_zeta]*work[o_zeta_hat] - (1.0/2.0)*(work[o_M]*work[o_Q1_hat] + work[o_Q2_hat]*work[o_T])/beta)
    return iterations


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
    kappa = table[:, 0]
    weight = table[:, 1]
    nu0 = table[:, 2]
    nu1 = table[:, 3]
    nu2sq = table[:, 4]
    mu0 = table[:, 5 + 0*K]
    mu1 = table[:, 5 + 1*K]
    mu2sq = table[:, 5 + 2*K]
    P = float(work[N + K*K])
    S = float(work[N + 2*K + 4*K*K])
    M = float(work[N])
    T = float(work[N + 2*K + 5*K*K])
    adjoint = float(work[2*N + 5*K + 7*K*K])
    V1_hat = float(work[2*N + 3*K + 6*K*K])
    V2_hat = float(work[2*N + 4*K + 7*K*K])
    V1 = float(work[2*N + 3*K + 5*K*K])
    V2 = float(work[2*N + 3*K + 7*K*K])
    psi_hat = float(work[3*N + 8*K + 7*K*K])
    psi = float(work[3*N + 7*K + 7*K*K])
    zeta_hat = float(work[5*N + 10*K + 7*K*K])
    zeta = float(work[5*N + 9*K + 7*K*K])
    Q1_hat = float(work[N + 3*K*K])
    Q2_hat = float(work[N + K + 4*K*K])
    Q1 = float(work[N + 2*K*K])
    Q2 = float(work[N + 4*K*K])
    m = float(work[2*N + 6*K + 7*K*K])
    fraction = 1.0
    V = V1*(mu1**2) + V2*mu2sq
    slope = psi*mu1
    mean = m*mu0 + zeta*kappa*mu1
    Delta = (-1.0)*(slope**2) + Q1*(mu1**2) + Q2*mu2sq
    risk = noise + ((-1.0)*mean + nu0)**2 + ((-1.0)*slope + nu1)**2 + Delta + nu2sq
    worst = 0.0
    x0 = mu1
    x1 = x0**2
    x2 = 1.0 + V
    x3 = 1.0/x2
    x4 = mu2sq
    x5 = abs(x3)
    x6 = abs(x4)
    x7 = x2**(-2)
    x8 = risk
    x9 = x7*x8
    x10 = mu0
    x11 = mean
    x12 = nu0
    x13 = x3*(x11 + (-1.0)*x12)
    x14 = nu1
    x15 = x5*(abs(x11) + abs(x12))
    x16 = abs(x7)*abs(x8)
    x17 = abs(x0)
    average0 = np.dot(weight, x1*x3)
    average1 = np.dot(weight, x3*x4)
    average2 = np.dot(weight, x1*x5)
    average3 = np.dot(weight, x5*x6)
    average4 = np.dot(weight, x1*x9)
    average5 = np.dot(weight, x4*x9)
    average6 = np.dot(weight, x10*x13)
    average7 = np.dot(weight, x0*x14*x3)
    average8 = np.dot(weight, x15*abs(x10))
    average9 = np.dot(weight, x1*x16)
    average10 = np.dot(weight, x16*x6)
    average11 = np.dot(weight, x17*x5*abs(x14))
    average12 = np.dot(weight, x0*x13*kappa)
    average13 = np.dot(weight, x15*x17*abs(kappa))
    scale_V2 = abs(1.0/beta)*abs(T)
    worst = _worse(worst, (-1.0)*(1.0/beta)*T + V2, scale_V2)
    scale_V1_hat = average2*alpha*abs(1.0/beta)
    worst = _worse(worst, (-1.0)*average0*alpha*(1.0/beta) + V1_hat, scale_V1_hat)
    scale_V2_hat = average3*alpha*abs(1.0/beta)
    worst = _worse(worst, (-1.0)*average1*alpha*(1.0/beta) + V2_hat, scale_V2_hat)
    scale_P = 1.0 + (1.0 + abs(T)*scale_V1_hat)*abs(P)
    worst = _worse(worst, -1.0 + (1.0 + T*V1_hat)*P, scale_P)
    scale_M = abs(T)*abs(P)
    worst = _worse(worst, (-1.0)*T*P + M, scale_M)
    scale_S = abs(P)*scale_V1_hat
    worst = _worse(worst, (-1.0)*P*V1_hat + S, scale_S)
    scale_T = beta*(1.0/abs(ridge + V2_hat + S))*abs(fraction)
    worst = _worse(worst, (-1.0)*beta*(1.0/(ridge + V2_hat + S))*fraction + T, scale_T)
    scale_V1 = abs(1.0/beta)*scale_M
    worst = _worse(worst, (-1.0)*(1.0/beta)*M + V1, scale_V1)
    scale_zeta_hat = average13*alpha*abs(1.0/beta)
    worst = _worse(worst, average12*alpha*(1.0/beta) + zeta_hat, scale_zeta_hat)
    scale_m = average8*alpha + inverse_dimension*beta*(1.0/abs(T))*abs(m)
    worst = _worse(worst, average6*alpha + inverse_dimension*beta*(1.0/T)*m, scale_m)
    scale_zeta = scale_T*scale_zeta_hat
    worst = _worse(worst, (-1.0)*T*zeta_hat + zeta, scale_zeta)
    scale_psi_hat = average11*alpha*abs(1.0/beta)
    worst = _worse(worst, (-1.0)*average7*alpha*(1.0/beta) + psi_hat, scale_psi_hat)
    scale_psi = scale_psi_hat*scale_M
    worst = _worse(worst, (-1.0)*psi_hat*M + psi, scale_psi)
    scale_Q2 = abs(adjoint)
    worst = _worse(worst, (-1.0)*adjoint + Q2, scale_Q2)
    scale_Q1_hat = average9*alpha*abs(1.0/beta)
    worst = _worse(worst, (-1.0)*average4*alpha*(1.0/beta) + Q1_hat, scale_Q1_hat)
    scale_Q2_hat = average10*alpha*abs(1.0/beta)
    worst = _worse(worst, (-1.0)*average5*alpha*(1.0/beta) + Q2_hat, scale_Q2_hat)
    scale_adjoint = zeta_hat**2 + (P**2)*(scale_psi_hat**2) + (S**2)*abs(adjoint) + abs(1.0/beta)*scale_Q2_hat + inverse_dimension*(T**(-2))*(m**2) + (P**2)*abs(1.0/beta)*scale_Q1_hat + beta*(T**(-2))*abs(adjoint)*abs(fraction)
    worst = _worse(worst, (-1.0)*(zeta_hat**2) + (-1.0)*(1.0/beta)*Q2_hat + (-1.0)*(psi_hat**2)*(P**2) + (-1.0)*(S**2)*adjoint + (-1.0)*inverse_dimension*(T**(-2))*(m**2) + (-1.0)*(1.0/beta)*(P**2)*Q1_hat + beta*(T**(-2))*adjoint*fraction, scale_adjoint)
    scale_Q1 = (P**2)*abs(adjoint) + (scale_psi_hat**2)*(scale_M**2) + (scale_M**2)*abs(1.0/beta)*scale_Q1_hat
    worst = _worse(worst, (-1.0)*(psi_hat**2)*(M**2) + (-1.0)*(P**2)*adjoint + (-1.0)*(1.0/beta)*(M**2)*Q1_hat + Q1, scale_Q1)
    return worst
