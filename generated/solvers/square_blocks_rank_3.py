"""Saddle-point equations of the square loss, spike of rank 3, any number of blocks K  [CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
    1. nonlinear in T, V1; then V2, V, V1_hat, V2_hat, P, M, S
    2. linear in m, zeta_1, zeta_2, zeta_3; then mean, zeta_hat_1, zeta_hat_2, zeta_hat_3
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
    zeta_hat_1: d/dzeta_1
    zeta_1: d/dzeta_hat_1
    zeta_hat_2: d/dzeta_2
    zeta_2: d/dzeta_hat_2
    zeta_hat_3: d/dzeta_3
    zeta_3: d/dzeta_hat_3
    Q1_hat: d/dV1
    Q2_hat: d/dV2
    Q1: d/dV1_hat
    Q2: d/dV2_hat
    m: d/dm
Generated; do not edit. Signature a36d466bbd1a2700.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np
from numba import njit, types
from numba.extending import intrinsic

LOSS = "square"
SIGNATURE = "a36d466bbd1a270017ebd89362ccc9d8500f18d08e8bb346f9a80611e4673972"


def workspace_size(K, N):
    """Length of the workspace for K blocks and N nodes."""
    return 6 + 34*K + 20*K*K + 4*K*K*K + 2*K*K*K*K + 5*N


def layout(K, N):
    """Start and shape of every unknown in the workspace."""
    return {
        "Delta": (6 + 30*K + 15*K*K, (N,)),
        "M": (6 + 21*K + 9*K*K, (K, K)),
        "P": (6 + 21*K + 8*K*K, (K, K)),
        "Q1": (6 + 17*K + 4*K*K, (K, K)),
        "Q1_hat": (6 + 27*K + 11*K*K, (K, K)),
        "Q2": (6 + 26*K + 11*K*K, (K,)),
        "Q2_hat": (6 + 27*K + 12*K*K, (K,)),
        "S": (6 + 21*K + 10*K*K, (K, K)),
        "T": (6, (K,)),
        "V": (6 + 30*K + 15*K*K + N, (N,)),
        "V1": (6 + K, (K, K)),
        "V1_hat": (6 + 20*K + 7*K*K, (K, K)),
        "V2": (6 + 19*K + 7*K*K, (K,)),
        "V2_hat": (6 + 20*K + 8*K*K, (K,)),
        "adjoint": (6 + 16*K + 4*K*K, (K,)),
        "m": (6 + 4*K + 4*K*K, (K,)),
        "mean": (6 + 30*K + 15*K*K + 2*N, (N,)),
        "psi": (6 + 25*K + 11*K*K, (K,)),
        "psi_hat": (6 + 24*K + 11*K*K, (K,)),
        "risk": (6 + 30*K + 15*K*K + 3*N, (N,)),
        "slope": (6 + 30*K + 15*K*K + 4*N, (N,)),
        "zeta_1": (6 + 5*K + 4*K*K, (K,)),
        "zeta_2": (6 + 6*K + 4*K*K, (K,)),
        "zeta_3": (6 + 7*K + 4*K*K, (K,)),
        "zeta_hat_1": (6 + 21*K + 11*K*K, (K,)),
        "zeta_hat_2": (6 + 22*K + 11*K*K, (K,)),
        "zeta_hat_3": (6 + 23*K + 11*K*K, (K,)),
    }


INNER = {"error_model": "numpy", "nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@intrinsic
def _short(typingctx):
    """Ask LLVM for short code: its loops run over a few blocks, and unrolled they take long to compile and to run."""

    def generate(context, builder, signature, arguments):
        builder.function.attributes.add("optsize")
        return context.get_dummy_value()

    return types.none(), generate


@njit(cache=True, **INNER)
def _solve_system(work, n, matrix, vector, scratch, smallest):
    """work[vector:] = matrix^-1 work[vector:] by elimination in scaled rows; the n x n matrix at work[matrix:], column by column, is kept.

    False where the smallest pivot, rows and columns scaled, is no more than ``smallest`` times the largest.
    """
    _short()
    scale = scratch + n*n
    for j in range(n):
        work[scale + j] = 0.0
    for i in range(n):
        row = i*n
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(work[matrix + j*n + i]))
        for j in range(n):
            entry = work[matrix + j*n + i]/largest
            work[scratch + row + j] = entry
            work[scale + j] = max(work[scale + j], abs(entry))
        work[vector + i] /= largest
    low, high = np.inf, 0.0
    for k in range(n):
        top = scratch + k*n
        pivot = k
        for i in range(k + 1, n):
            if abs(work[scratch + i*n + k]) > abs(work[scratch + pivot*n + k]):
                pivot = i
        row = scratch + pivot*n
        for j in range(k, n):
            entry = work[top + j]
            work[top + j] = work[row + j]
            work[row + j] = entry
        entry = work[vector + k]
        work[vector + k] = work[vector + pivot]
        work[vector + pivot] = entry
        size = abs(work[top + k])/work[scale + k]
        low = min(low, size)
        high = max(high, size)
        if not (size > 0.0 and low > smallest*high):
            return False
        for i in range(k + 1, n):
            row = scratch + i*n
            factor = work[row + k]/work[top + k]
            for j in range(k + 1, n):
                work[row + j] -= factor*work[top + j]
            work[vector + i] -= factor*work[vector + k]
    for i in range(n):
        k = n - 1 - i
        row = scratch + k*n
        for j in range(k + 1, n):
            work[vector + k] -= work[row + j]*work[vector + j]
        work[vector + k] /= work[row + k]
    return True


@njit(cache=True, **INNER)
def _step(work, start, step, count):
    """Subtract a step from one family; its largest change relative to its largest member, infinite where that is nan."""
    _short()
    change, scale = 0.0, 0.0
    for i in range(count):
        size = abs(work[step + i])
        if not size < np.inf:
            return np.inf
        work[start + i] -= work[step + i]
        change = max(change, size)
        scale = max(scale, abs(work[start + i]))
    return change/scale if scale > 0.0 else 0.0  # a family that vanishes has converged


@njit(cache=True, **INNER)
def _strengthen(work, n, matrix, weights):
    """Raise the finite-size term of a matrix to 1e-9 of the rows it is in; False where there is none."""
    _short()
    largest, weight = 0.0, 0.0
    for i in range(n):
        weight = max(weight, work[weights + i])
        for j in range(n):
            if work[weights + i] > 0.0:
                largest = max(largest, abs(work[matrix + j*n + i]))
    if weight == 0.0:
        return False
    factor = 1e-9*largest/weight if largest > 0.0 else 1.0/weight
    for i in range(n):
        work[matrix + i*n + i] += factor*work[weights + i]
    return True


@njit(**INNER)
def _invert(work, n, start):
    """Invert an n x n matrix in place; without pivoting, as it is a positive definite one times a positive diagonal."""
    _short()
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


@njit(cache=True, **INNER)
def _equations_1(table, fraction, work):
    """Block 1, nonlinear: V2, V, V1_hat, V2_hat, P, M, S."""
    _short()
    alpha = work[0]
    beta = work[1]
    ridge = work[2]
    K = fraction.shape[0]
    N = table.shape[0]
    o_mu1 = 7 + K
    o_mu2sq = 7 + 2*K
    o_T = 6
    o_V1 = o_T + K
    o_residual_T = o_V1 + K*K
    o_residual_V1 = o_residual_T + K
    o_V2 = o_residual_V1 + 17*K + 6*K*K
    o_V1_hat = o_V2 + K
    o_V2_hat = o_V1_hat + K*K
    o_P = o_V2_hat + K
    o_M = o_P + K*K
    o_S = o_M + K*K
    o_V = o_S + 9*K + 5*K*K + N
    for b in range(K):
        work[o_V2 + b] = work[o_T + b]/beta
    for i in range(o_V1_hat, o_V1_hat + K + K*K):
        work[i] = 0.0
    factor0 = alpha/beta
    for node in range(N):
        weight_here = table[node, 1]
        sum1 = 0.0
        sum2 = 0.0
        for b in range(K):
            for a in range(K):
                sum2 += table[node, o_mu1 + a]*table[node, o_mu1 + b]*work[o_V1 + a*K + b]
            sum1 += table[node, o_mu2sq + b]*work[o_V2 + b]
        V_here = sum1 + sum2
        work[o_V + node] = V_here
        x0 = (1.0/(V_here + 1.0))
        w0 = factor0*weight_here*x0
        for b0 in range(K):
            work[o_V2_hat + b0] += w0*table[node, o_mu2sq + b0]
            for b1 in range(K):
                work[o_V1_hat + b0*K + b1] += w0*table[node, o_mu1 + b0]*table[node, o_mu1 + b1]
    for b in range(K):
        for c in range(K):
            work[o_P + b*K + c] = (1.0 if b == c else 0.0) + work[o_T + c]*work[o_V1_hat + b*K + c]
    _invert(work, K, o_P)
    for b in range(K):
        for c in range(K):
            sum3 = 0.0
            for e in range(K):
                sum3 += work[o_P + b*K + e]*work[o_V1_hat + e*K + c]
            work[o_M + b*K + c] = work[o_P + b*K + c]*work[o_T + b]
            work[o_S + b*K + c] = sum3
            work[o_residual_V1 + b*K + c] = work[o_V1 + b*K + c] - work[o_M + b*K + c]/beta
        work[o_residual_T + b] = -beta*fraction[b]/(ridge + work[o_S + b*K + b] + work[o_V2_hat + b]) + work[o_T + b]


@njit(cache=True, **INNER)
def _tangents_1(table, fraction, work):
    """Block 1: what the residuals do along a direction of T, V1."""
    _short()
    alpha = work[0]
    beta = work[1]
    ridge = work[2]
    K = fraction.shape[0]
    N = table.shape[0]
    o_mu1 = 7 + K
    o_mu2sq = 7 + 2*K
    o_d_T = 6 + 2*K + 2*K*K
    o_d_V1 = o_d_T + K
    o_d_residual_T = o_d_V1 + K*K
    o_d_residual_V1 = o_d_residual_T + K
    o_V2_hat = o_d_residual_V1 + 16*K + 5*K*K
    o_P = o_V2_hat + K
    o_M = o_P + K*K
    o_S = o_M + K*K
    o_d_V2 = o_S + 7*K + 2*K*K
    o_d_V1_hat = o_d_V2 + K
    o_d_V2_hat = o_d_V1_hat + K*K
    o_d_M = o_d_V2_hat + K
    o_d_S = o_d_M + K*K
    o_V = o_d_S + K*K + N
    for b in range(K):
        work[o_d_V2 + b] = work[o_d_T + b]/beta
    for i in range(o_d_V1_hat, o_d_V1_hat + K + K*K):
        work[i] = 0.0
    factor0 = -alpha/beta
    for node in range(N):
        V_here = work[o_V + node]
        weight_here = table[node, 1]
        sum1 = 0.0
        sum2 = 0.0
        for a in range(K):
            sum3 = 0.0
            for b in range(K):
                sum3 += table[node, o_mu1 + b]*work[o_d_V1 + a*K + b]
            sum1 += sum3*table[node, o_mu1 + a]
            sum2 += table[node, o_mu2sq + a]*work[o_d_V2 + a]
        d_V_here = sum1 + sum2
        x0 = d_V_here/((V_here + 1.0)*(V_here + 1.0))
        w0 = factor0*weight_here*x0
        for b0 in range(K):
            work[o_d_V2_hat + b0] += w0*table[node, o_mu2sq + b0]
            for b1 in range(K):
                work[o_d_V1_hat + b0*K + b1] += w0*table[node, o_mu1 + b0]*table[node, o_mu1 + b1]
    for b in range(K):
        for c in range(K):
            sum4 = 0.0
            sum5 = 0.0
            sum6 = 0.0
            sum7 = 0.0
            for a in range(K):
                sum8 = 0.0
                sum9 = 0.0
                for d in range(K):
                    sum8 += work[o_M + b*K + d]*work[o_d_V1_hat + a*K + d]
                    sum9 += work[o_P + b*K + d]*work[o_d_V1_hat + a*K + d]
                sum4 += sum8*work[o_M + a*K + c]
                sum5 += work[o_P + a*K + b]*work[o_P + a*K + c]*work[o_d_T + a]
                sum6 += work[o_S + a*K + b]*work[o_S + a*K + c]*work[o_d_T + a]
                sum7 += sum9*work[o_P + c*K + a]
            work[o_d_M + b*K + c] = -sum4 + sum5
            work[o_d_S + b*K + c] = -sum6 + sum7
            work[o_d_residual_V1 + b*K + c] = work[o_d_V1 + b*K + c] - work[o_d_M + b*K + c]/beta
        work[o_d_residual_T + b] = beta*(work[o_d_S + b*K + b] + work[o_d_V2_hat + b])*fraction[b]/((ridge + work[o_S + b*K + b] + work[o_V2_hat + b])*(ridge + work[o_S + b*K + b] + work[o_V2_hat + b])) + work[o_d_T + b]


@njit(cache=True, **INNER)
def _equations_2(table, fraction, work):
    """Block 2, linear: mean, zeta_hat_1, zeta_hat_2, zeta_hat_3; one = 0: without the terms free of these."""
    _short()
    alpha = work[0]
    beta = work[1]
    inverse_dimension = work[4]
    one = work[5]
    K = fraction.shape[0]
    N = table.shape[0]
    o_mu0 = 7
    o_mu1 = 7 + K
    o_T = 6
    o_m = o_T + 4*K + 4*K*K
    o_zeta_1 = o_m + K
    o_zeta_2 = o_zeta_1 + K
    o_zeta_3 = o_zeta_2 + K
    o_residual_m = o_zeta_3 + K
    o_residual_zeta_1 = o_residual_m + K
    o_residual_zeta_2 = o_residual_zeta_1 + K
    o_residual_zeta_3 = o_residual_zeta_2 + K
    o_weight_m = o_residual_zeta_3 + K
    o_zeta_hat_1 = o_weight_m + 9*K + 7*K*K
    o_zeta_hat_2 = o_zeta_hat_1 + K
    o_zeta_hat_3 = o_zeta_hat_2 + K
    o_V = o_zeta_hat_3 + 7*K + 4*K*K + N
    o_mean = o_V + N
    o_E2_3 = o_mean + 3*K + 5*K*K + 4*K*K*K + 2*K*K*K*K + 3*N
    for b in range(K):
        work[o_weight_m + b] = beta/work[o_T + b]
    for b0 in range(K):
        work[o_zeta_hat_1 + b0] = 0.0
        work[o_zeta_hat_2 + b0] = 0.0
        work[o_zeta_hat_3 + b0] = 0.0
        work[o_E2_3 + b0] = 0.0
    factor0 = -alpha/beta
    for node in range(N):
        V_here = work[o_V + node]
        kappa_1_here = table[node, 0]
        kappa_2_here = table[node, 5]
        kappa_3_here = table[node, 6]
        nu0_here = table[node, 2]
        weight_here = table[node, 1]
        sum1 = 0.0
        for b in range(K):
            sum1 += kappa_1_here*table[node, o_mu1 + b]*work[o_zeta_1 + b] + kappa_2_here*table[node, o_mu1 + b]*work[o_zeta_2 + b] + kappa_3_here*table[node, o_mu1 + b]*work[o_zeta_3 + b] + table[node, o_mu0 + b]*work[o_m + b]
        mean_here = sum1
        work[o_mean + node] = mean_here
        x0 = (mean_here - nu0_here*one)/(V_here + 1.0)
        w0 = factor0*weight_here*kappa_1_here*x0
        w1 = factor0*weight_here*kappa_2_here*x0
        w2 = factor0*weight_here*kappa_3_here*x0
        w3 = weight_here*x0
        for b0 in range(K):
            work[o_zeta_hat_1 + b0] += w0*table[node, o_mu1 + b0]
            work[o_zeta_hat_2 + b0] += w1*table[node, o_mu1 + b0]
            work[o_zeta_hat_3 + b0] += w2*table[node, o_mu1 + b0]
            work[o_E2_3 + b0] += w3*table[node, o_mu0 + b0]
    for b in range(K):
        work[o_residual_m + b] = alpha*work[o_E2_3 + b] + beta*inverse_dimension*work[o_m + b]/work[o_T + b]
        work[o_residual_zeta_1 + b] = -work[o_T + b]*work[o_zeta_hat_1 + b] + work[o_zeta_1 + b]
        work[o_residual_zeta_2 + b] = -work[o_T + b]*work[o_zeta_hat_2 + b] + work[o_zeta_2 + b]
        work[o_residual_zeta_3 + b] = -work[o_T + b]*work[o_zeta_hat_3 + b] + work[o_zeta_3 + b]


@njit(cache=True, **INNER)
def _equations_3(table, fraction, work):
    """Block 3, explicit: psi_hat, psi, slope."""
    _short()
    alpha = work[0]
    beta = work[1]
    K = fraction.shape[0]
    N = table.shape[0]
    o_mu1 = 7 + K
    o_M = 6 + 21*K + 9*K*K
    o_psi_hat = o_M + 3*K + 2*K*K
    o_psi = o_psi_hat + K
    o_V = o_psi + 5*K + 4*K*K + N
    o_slope = o_V + 3*N
    for i in range(o_psi_hat, o_psi_hat + K):
        work[i] = 0.0
    factor0 = alpha/beta
    for node in range(N):
        V_here = work[o_V + node]
        nu1_here = table[node, 3]
        weight_here = table[node, 1]
        w0 = factor0*weight_here*nu1_here/(V_here + 1.0)
        for b0 in range(K):
            work[o_psi_hat + b0] += w0*table[node, o_mu1 + b0]
    for b in range(K):
        sum1 = 0.0
        for a in range(K):
            sum1 += work[o_M + a*K + b]*work[o_psi_hat + a]
        work[o_psi + b] = sum1
    for node in range(N):
        sum2 = 0.0
        for b in range(K):
            sum2 += table[node, o_mu1 + b]*work[o_psi + b]
        slope_here = sum2
        work[o_slope + node] = slope_here


@njit(cache=True, **INNER)
def _equations_6(table, fraction, work):
    """Block 6, linear: Q2, Delta, risk, Q1_hat, Q2_hat; one = 0: without the terms free of these."""
    _short()
    alpha = work[0]
    beta = work[1]
    noise = work[3]
    inverse_dimension = work[4]
    one = work[5]
    K = fraction.shape[0]
    N = table.shape[0]
    o_mu1 = 7 + K
    o_mu2sq = 7 + 2*K
    o_T = 6
    o_m = o_T + 4*K + 4*K*K
    o_adjoint = o_m + 12*K
    o_Q1 = o_adjoint + K
    o_residual_adjoint = o_Q1 + K*K
    o_residual_Q1 = o_residual_adjoint + K
    o_P = o_residual_Q1 + 3*K + 3*K*K
    o_M = o_P + K*K
    o_S = o_M + K*K
    o_zeta_hat_1 = o_S + K*K
    o_zeta_hat_2 = o_zeta_hat_1 + K
    o_zeta_hat_3 = o_zeta_hat_2 + K
    o_psi_hat = o_zeta_hat_3 + K
    o_Q2 = o_psi_hat + 2*K
    o_Q1_hat = o_Q2 + K
    o_Q2_hat = o_Q1_hat + K*K
    o_Delta = o_Q2_hat + 3*K + 3*K*K
    o_V = o_Delta + N
    o_mean = o_V + N
    o_risk = o_mean + N
    o_slope = o_risk + N
    for b in range(K):
        work[o_Q2 + b] = work[o_adjoint + b]
    for i in range(o_Q1_hat, o_Q1_hat + K + K*K):
        work[i] = 0.0
    factor0 = alpha/beta
    for node in range(N):
        V_here = work[o_V + node]
        mean_here = work[o_mean + node]
        nu0_here = table[node, 2]
        nu1_here = table[node, 3]
        nu2sq_here = table[node, 4]
        slope_here = work[o_slope + node]
        weight_here = table[node, 1]
        sum1 = 0.0
        sum2 = 0.0
        for b in range(K):
            for a in range(K):
                sum2 += table[node, o_mu1 + a]*table[node, o_mu1 + b]*work[o_Q1 + a*K + b]
            sum1 += table[node, o_mu2sq + b]*work[o_Q2 + b]
        Delta_here = -one*(slope_here*slope_here) + sum1 + sum2
        work[o_Delta + node] = Delta_here
        risk_here = one*(noise + ((-mean_here + nu0_here)*(-mean_here + nu0_here)) + ((nu1_here - slope_here)*(nu1_here - slope_here)) + nu2sq_here) + Delta_here
        work[o_risk + node] = risk_here
        x0 = risk_here/((V_here + 1.0)*(V_here + 1.0))
        w0 = factor0*weight_here*x0
        for b0 in range(K):
            work[o_Q2_hat + b0] += w0*table[node, o_mu2sq + b0]
            for b1 in range(K):
                work[o_Q1_hat + b0*K + b1] += w0*table[node, o_mu1 + b0]*table[node, o_mu1 + b1]
    for b in range(K):
        sum3 = 0.0
        sum4 = 0.0
        sum5 = 0.0
        for a in range(K):
            sum6 = 0.0
            for c in range(K):
                sum6 += work[o_P + b*K + c]*work[o_Q1_hat + a*K + c]
            sum3 += (work[o_S + a*K + b]*work[o_S + a*K + b])*work[o_adjoint + a]
            sum4 += work[o_P + b*K + a]*work[o_psi_hat + a]
            sum5 += sum6*work[o_P + b*K + a]
        work[o_residual_adjoint + b] = beta*work[o_adjoint + b]*fraction[b]/(work[o_T + b]*work[o_T + b]) + one*(-inverse_dimension*(work[o_m + b]*work[o_m + b])/(work[o_T + b]*work[o_T + b]) - (sum4*sum4) - (work[o_zeta_hat_1 + b]*work[o_zeta_hat_1 + b]) - (work[o_zeta_hat_2 + b]*work[o_zeta_hat_2 + b]) - (work[o_zeta_hat_3 + b]*work[o_zeta_hat_3 + b])) - sum3 - sum5/beta - work[o_Q2_hat + b]/beta
        for c in range(K):
            sum7 = 0.0
            sum8 = 0.0
            sum9 = 0.0
            sum10 = 0.0
            for a in range(K):
                sum11 = 0.0
                for d in range(K):
                    sum11 += work[o_M + c*K + d]*work[o_Q1_hat + a*K + d]
                sum7 += work[o_P + a*K + b]*work[o_P + a*K + c]*work[o_adjoint + a]
                sum8 += sum11*work[o_M + a*K + b]
                sum9 += work[o_M + a*K + b]*work[o_psi_hat + a]
                sum10 += work[o_M + a*K + c]*work[o_psi_hat + a]
            work[o_residual_Q1 + b*K + c] = -one*sum10*sum9 - sum7 + work[o_Q1 + b*K + c] - sum8/beta


@njit(cache=True, **INNER)
def _observables(table, fraction, work, out):
    """out = (test_error, train_error, free_energy)."""
    _short()
    alpha = work[0]
    beta = work[1]
    inverse_dimension = work[4]
    K = fraction.shape[0]
    N = table.shape[0]
    o_T = 6
    o_V1 = o_T + K
    o_m = o_V1 + 3*K + 4*K*K
    o_zeta_1 = o_m + K
    o_zeta_2 = o_zeta_1 + K
    o_zeta_3 = o_zeta_2 + K
    o_Q1 = o_zeta_3 + 10*K
    o_V2 = o_Q1 + 2*K + 3*K*K
    o_V1_hat = o_V2 + K
    o_V2_hat = o_V1_hat + K*K
    o_M = o_V2_hat + K + K*K
    o_zeta_hat_1 = o_M + 2*K*K
    o_zeta_hat_2 = o_zeta_hat_1 + K
    o_zeta_hat_3 = o_zeta_hat_2 + K
    o_psi_hat = o_zeta_hat_3 + K
    o_psi = o_psi_hat + K
    o_Q2 = o_psi + K
    o_Q1_hat = o_Q2 + K
    o_Q2_hat = o_Q1_hat + K*K
    o_Delta = o_Q2_hat + 3*K + 3*K*K
    o_V = o_Delta + N
    o_mean = o_V + N
    o_risk = o_mean + N
    o_slope = o_risk + N
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
        weight_here = table[node, 1]
        x0 = V_here + 1.0
        x1 = ((1.0/2.0))*risk_here
        w0 = weight_here*(Delta_here + nu2sq_here + ((-mean_here + nu0_here)*(-mean_here + nu0_here)) + ((nu1_here - slope_here)*(nu1_here - slope_here)))
        w1 = weight_here*x1/(x0*x0)
        w2 = weight_here*x1/x0
        EO_0 += w0
        EO_1 += w1
        EO_2 += w2
    out[0] = EO_0
    out[1] = 2.0*EO_1
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
            sum2 += -work[o_Q1 + a*K + b]*work[o_V1_hat + a*K + b] + work[o_Q1_hat + a*K + b]*work[o_V1 + a*K + b]
            sum8 += work[o_M + b*K + a]*work[o_Q1_hat + b*K + a]
            sum11 += work[o_M + b*K + a]*work[o_psi_hat + a]
        sum1 += -work[o_Q2 + b]*work[o_V2_hat + b] + work[o_Q2_hat + b]*work[o_V2 + b]
        sum3 += work[o_T + b]*(work[o_zeta_hat_1 + b]*work[o_zeta_hat_1 + b])
        sum4 += work[o_T + b]*(work[o_zeta_hat_2 + b]*work[o_zeta_hat_2 + b])
        sum5 += work[o_T + b]*(work[o_zeta_hat_3 + b]*work[o_zeta_hat_3 + b])
        sum6 += sum11*work[o_psi_hat + b]
        sum7 += work[o_Q2_hat + b]*work[o_T + b]
        sum9 += work[o_psi + b]*work[o_psi_hat + b] + work[o_zeta_1 + b]*work[o_zeta_hat_1 + b] + work[o_zeta_2 + b]*work[o_zeta_hat_2 + b] + work[o_zeta_3 + b]*work[o_zeta_hat_3 + b]
        sum10 += ((1.0/2.0))*(work[o_m + b]*work[o_m + b])/work[o_T + b]
    out[2] = alpha*EO_2 + beta*inverse_dimension*sum10 + beta*(((1.0/2.0))*sum1 + ((1.0/2.0))*sum2 - (1.0/2.0)*sum3 - (1.0/2.0)*sum4 - (1.0/2.0)*sum5 - (1.0/2.0)*sum6 + sum9 - (1.0/2.0)*(sum7 + sum8)/beta)


PIECES = (_equations_1, _tangents_1, _equations_2, _equations_3, _equations_6, _solve_system, _step, _strengthen, _observables)


@njit(cache=True, error_model="numpy", nogil=True, no_cfunc_wrapper=True)
def solve(table, fraction, parameters, work, out):
    """Solve the system; out = (test error, training error, free energy).

    table[N, 7 + 3K]: kappa_1, weight, nu0, nu1, nu2sq, kappa_2, kappa_3, then mu0, mu1, mu2sq per block; fraction[K];
    parameters: (alpha, beta, ridge, noise, inverse_dimension); work[workspace_size(K, N)] holds the unknowns afterwards.
    Returns the number of Newton iterations and linear solves, or minus the block that failed.

    A nonlinear block: Newton from above; the map is monotone and concave, so from a point above the solution, here that
    without data (alpha = 0), it descends to it. A linear block: one solve and one refinement; where it is singular, the
    limit d -> infinity of its finite-size term, by proximal iterations from zero.
    """
    _short()
    K = fraction.shape[0]
    N = table.shape[0]
    o_T = 6
    o_m = o_T + 4*K + 4*K*K
    o_adjoint = o_m + 12*K
    o_jacobian = o_adjoint + 15*K + 12*K*K + 5*N
    o_scratch = o_jacobian + K*K + 2*K*K*K + K*K*K*K
    for i in range(5):
        work[i] = parameters[i]
    total = 0
    for stage in range(3):
        if stage == 0:
            number = 1
            split = K
            n = K + K*K
            unknown = o_T
        elif stage == 1:
            number = 2
            split = K
            n = 4*K
            unknown = o_m
        elif stage == 2:
            _equations_3(table, fraction, work)
            number = 6
            split = K
            n = K + K*K
            unknown = o_adjoint
        newton = stage == 0
        # beside the residuals: directions of a nonlinear block and what they lead to, or weights of the finite-size term
        residual = unknown + n
        direction = unknown
        image = residual
        start = 0.0
        iteration = 0
        last = 1
        if newton:
            direction = residual + n
            image = direction + n
            start = 1.0
            iteration = -2
            last = 201
        for i in range(n):
            work[unknown + i] = start
            work[residual + n + i] = 0.0
        vector = o_jacobian - n  # read as column -1
        columns = n
        previous = np.inf
        done = False
        while True:
            # the residuals, and as long as they change the columns of the Jacobian
            work[0] = parameters[0] if iteration >= 0 else 0.0
            for column in range(-1, columns if iteration >= 0 else 0):
                unit = 1.0 if column >= 0 else 0.0
                place = direction + max(column, 0)
                work[place] += unit
                work[5] = 1.0 - unit
                if stage == 0 and column >= 0:
                    _tangents_1(table, fraction, work)
                elif stage == 0:
                    _equations_1(table, fraction, work)
                elif stage == 1:
                    _equations_2(table, fraction, work)
                elif stage == 2:
                    _equations_6(table, fraction, work)
                work[place] -= unit
                left = image if column >= 0 else residual
                for i in range(n):
                    work[o_jacobian + column*n + i] = work[left + i]
            if done:
                break
            if iteration >= 0 and not _solve_system(work, n, o_jacobian, vector, o_scratch, 1e-13):
                if newton or last > 1 or not _strengthen(work, n, o_jacobian, residual + n):
                    return -number
                last = 20
                columns = 0
                continue
            change = 0.0
            for family in range(2):
                first = family*split
                count = n - split if family > 0 else split
                change = max(change, _step(work, unknown + first, vector + first, count))
            if not change < np.inf or iteration > last:
                return -number
            iteration += 1
            done = iteration > last
            if newton:
                done = iteration > 0 and (change < 4e-16 or (change < 1e-9 and change >= 0.5*previous))
            columns = n if newton and not done else 0
            previous = change
        total += iteration if newton else 1
    _observables(table, fraction, work, out)
    return total


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
    kappa_1 = columns[0]
    weight = columns[1]
    nu0 = columns[2]
    nu1 = columns[3]
    nu2sq = columns[4]
    kappa_2 = columns[5]
    kappa_3 = columns[6]
    mu0 = columns[7 + 0*K:7 + 0*K + K]
    mu1 = columns[7 + 1*K:7 + 1*K + K]
    mu2sq = columns[7 + 2*K:7 + 2*K + K]
    V2 = work[6 + 19*K + 7*K*K:6 + 19*K + 7*K*K + K]
    V1_hat = work[6 + 20*K + 7*K*K:6 + 20*K + 7*K*K + K*K].reshape(K, K)
    V2_hat = work[6 + 20*K + 8*K*K:6 + 20*K + 8*K*K + K]
    P = work[6 + 21*K + 8*K*K:6 + 21*K + 8*K*K + K*K].reshape(K, K)
    M = work[6 + 21*K + 9*K*K:6 + 21*K + 9*K*K + K*K].reshape(K, K)
    S = work[6 + 21*K + 10*K*K:6 + 21*K + 10*K*K + K*K].reshape(K, K)
    T = work[6:6 + K]
    V1 = work[6 + K:6 + K + K*K].reshape(K, K)
    zeta_hat_1 = work[6 + 21*K + 11*K*K:6 + 21*K + 11*K*K + K]
    zeta_hat_2 = work[6 + 22*K + 11*K*K:6 + 22*K + 11*K*K + K]
    zeta_hat_3 = work[6 + 23*K + 11*K*K:6 + 23*K + 11*K*K + K]
    m = work[6 + 4*K + 4*K*K:6 + 4*K + 4*K*K + K]
    zeta_1 = work[6 + 5*K + 4*K*K:6 + 5*K + 4*K*K + K]
    zeta_2 = work[6 + 6*K + 4*K*K:6 + 6*K + 4*K*K + K]
    zeta_3 = work[6 + 7*K + 4*K*K:6 + 7*K + 4*K*K + K]
    psi_hat = work[6 + 24*K + 11*K*K:6 + 24*K + 11*K*K + K]
    psi = work[6 + 25*K + 11*K*K:6 + 25*K + 11*K*K + K]
    Q2 = work[6 + 26*K + 11*K*K:6 + 26*K + 11*K*K + K]
    Q1_hat = work[6 + 27*K + 11*K*K:6 + 27*K + 11*K*K + K*K].reshape(K, K)
    Q2_hat = work[6 + 27*K + 12*K*K:6 + 27*K + 12*K*K + K]
    adjoint = work[6 + 16*K + 4*K*K:6 + 16*K + 4*K*K + K]
    Q1 = work[6 + 17*K + 4*K*K:6 + 17*K + 4*K*K + K*K].reshape(K, K)
    V = np.einsum('b,bn->n', V2, mu2sq) + np.einsum('cn->n', np.einsum('bc,bn,cn->cn', V1, mu1, mu1))
    slope = np.einsum('b,bn->n', psi, mu1)
    mean = np.einsum('bn->n', np.einsum('b,bn->bn', m, mu0) + np.einsum('b,n,bn->bn', zeta_1, kappa_1, mu1) + np.einsum('b,n,bn->bn', zeta_2, kappa_2, mu1) + np.einsum('b,n,bn->bn', zeta_3, kappa_3, mu1))
    Delta = np.einsum('b,bn->n', Q2, mu2sq) + np.einsum('cn->n', np.einsum('bc,bn,cn->cn', Q1, mu1, mu1)) - slope**2
    risk = noise + (nu0 - mean)**2 + (nu1 - slope)**2 + Delta + nu2sq
    worst = 0.0
    scale_V2 = abs(1.0/beta)*abs(T)
    worst = _worse(worst, V2 - 1.0/beta*T, scale_V2)
    scale_V1_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn,cn->bc', weight, abs(1.0/(1.0 + V)), abs(mu1), abs(mu1))
    worst = _worse(worst, V1_hat - alpha/beta*np.einsum('n,n,bn,cn->bc', weight, 1.0/(1.0 + V), mu1, mu1), scale_V1_hat)
    scale_V2_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn->b', weight, abs(1.0/(1.0 + V)), abs(mu2sq))
    worst = _worse(worst, V2_hat - alpha/beta*np.einsum('n,n,bn->b', weight, 1.0/(1.0 + V), mu2sq), scale_V2_hat)
    scale_P = np.einsum('ce,be->bc', np.einsum('c,ce->ce', abs(T), np.einsum('ec->ce', scale_V1_hat)) + identity, abs(P)) + identity
    worst = _worse(worst, np.einsum('ce,be->bc', np.einsum('c,ce->ce', T, np.einsum('ec->ce', V1_hat)) + identity, P) - identity, scale_P)
    scale_M = np.einsum('b,bc->bc', abs(T), abs(P))
    worst = _worse(worst, M - np.einsum('b,bc->bc', T, P), scale_M)
    scale_S = np.einsum('be,ce->bc', abs(P), np.einsum('ec->ce', scale_V1_hat))
    worst = _worse(worst, S - np.einsum('be,ce->bc', P, np.einsum('ec->ce', V1_hat)), scale_S)
    scale_T = beta*abs(1.0/(ridge + V2_hat + np.einsum('bb->b', S)))*abs(fraction)
    worst = _worse(worst, T - beta*fraction/(ridge + V2_hat + np.einsum('bb->b', S)), scale_T)
    scale_V1 = abs(1.0/beta)*scale_M
    worst = _worse(worst, V1 - 1.0/beta*M, scale_V1)
    scale_zeta_hat_1 = alpha*abs(1.0/beta)*np.einsum('n,n,n,n,bn->b', weight, abs(mean) + abs(nu0), abs(1.0/(1.0 + V)), abs(kappa_1), abs(mu1))
    worst = _worse(worst, alpha/beta*np.einsum('n,n,n,n,bn->b', weight, 1.0/(1.0 + V), mean - nu0, kappa_1, mu1) + zeta_hat_1, scale_zeta_hat_1)
    scale_zeta_hat_2 = alpha*abs(1.0/beta)*np.einsum('n,n,n,n,bn->b', weight, abs(mean) + abs(nu0), abs(1.0/(1.0 + V)), abs(kappa_2), abs(mu1))
    worst = _worse(worst, alpha/beta*np.einsum('n,n,n,n,bn->b', weight, 1.0/(1.0 + V), mean - nu0, kappa_2, mu1) + zeta_hat_2, scale_zeta_hat_2)
    scale_zeta_hat_3 = alpha*abs(1.0/beta)*np.einsum('n,n,n,n,bn->b', weight, abs(mean) + abs(nu0), abs(1.0/(1.0 + V)), abs(kappa_3), abs(mu1))
    worst = _worse(worst, alpha/beta*np.einsum('n,n,n,n,bn->b', weight, 1.0/(1.0 + V), mean - nu0, kappa_3, mu1) + zeta_hat_3, scale_zeta_hat_3)
    scale_m = alpha*np.einsum('n,n,n,bn->b', weight, abs(mean) + abs(nu0), abs(1.0/(1.0 + V)), abs(mu0)) + inverse_dimension*beta*abs(1.0/T)*abs(m)
    worst = _worse(worst, alpha*np.einsum('n,n,n,bn->b', weight, 1.0/(1.0 + V), mean - nu0, mu0) + inverse_dimension*beta*m/T, scale_m)
    scale_zeta_1 = scale_T*scale_zeta_hat_1
    worst = _worse(worst, zeta_1 - T*zeta_hat_1, scale_zeta_1)
    scale_zeta_2 = scale_T*scale_zeta_hat_2
    worst = _worse(worst, zeta_2 - T*zeta_hat_2, scale_zeta_2)
    scale_zeta_3 = scale_T*scale_zeta_hat_3
    worst = _worse(worst, zeta_3 - T*zeta_hat_3, scale_zeta_3)
    scale_psi_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn,n->b', weight, abs(1.0/(1.0 + V)), abs(mu1), abs(nu1))
    worst = _worse(worst, psi_hat - alpha/beta*np.einsum('n,n,bn,n->b', weight, 1.0/(1.0 + V), mu1, nu1), scale_psi_hat)
    scale_psi = np.einsum('a,ab->b', scale_psi_hat, scale_M)
    worst = _worse(worst, psi - np.einsum('a,ab->b', psi_hat, M), scale_psi)
    scale_Q2 = abs(adjoint)
    worst = _worse(worst, Q2 - adjoint, scale_Q2)
    scale_Q1_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn,cn,n->bc', weight, abs(1.0/(1.0 + V)**2), abs(mu1), abs(mu1), abs(risk))
    worst = _worse(worst, Q1_hat - alpha/beta*np.einsum('n,n,bn,cn,n->bc', weight, 1.0/(1.0 + V)**2, mu1, mu1, risk), scale_Q1_hat)
    scale_Q2_hat = alpha*abs(1.0/beta)*np.einsum('n,n,bn,n->b', weight, abs(1.0/(1.0 + V)**2), abs(mu2sq), abs(risk))
    worst = _worse(worst, Q2_hat - alpha/beta*np.einsum('n,n,bn,n->b', weight, 1.0/(1.0 + V)**2, mu2sq, risk), scale_Q2_hat)
    scale_adjoint = np.einsum('ab,a->b', abs(np.einsum('ba->ab', P)), scale_psi_hat)**2 + zeta_hat_1**2 + zeta_hat_2**2 + zeta_hat_3**2 + abs(1.0/beta)*np.einsum('ab,ab->b', abs(np.einsum('ba->ab', P)), np.einsum('bc,ac->ab', abs(P), scale_Q1_hat)) + abs(1.0/beta)*scale_Q2_hat + inverse_dimension*(m**2)*abs(1.0/T**2) + beta*abs(1.0/T**2)*abs(adjoint)*abs(fraction) + np.einsum('ab,a->b', S**2, abs(adjoint))
    worst = _worse(worst, beta*adjoint*fraction/T**2 - np.einsum('a,ab->b', psi_hat, np.einsum('ba->ab', P))**2 - zeta_hat_1**2 - zeta_hat_2**2 - zeta_hat_3**2 - np.einsum('ab,a->b', S**2, adjoint) - 1.0/beta*np.einsum('ab,ab->b', np.einsum('bc,ac->ab', P, Q1_hat), np.einsum('ba->ab', P)) - 1.0/beta*Q2_hat - inverse_dimension*(m**2)/T**2, scale_adjoint)
    scale_Q1 = abs(1.0/beta)*np.einsum('ac,ab->bc', np.einsum('cd,ad->ac', scale_M, scale_Q1_hat), scale_M) + np.einsum('b,c->bc', np.einsum('a,ab->b', scale_psi_hat, scale_M), np.einsum('a,ac->c', scale_psi_hat, scale_M)) + np.einsum('a,ab,ac->bc', abs(adjoint), abs(P), abs(P))
    worst = _worse(worst, Q1 - np.einsum('a,ab,ac->bc', adjoint, P, P) - 1.0/beta*np.einsum('ac,ab->bc', np.einsum('cd,ad->ac', M, Q1_hat), M) - np.einsum('b,c->bc', np.einsum('a,ab->b', psi_hat, M), np.einsum('a,ac->c', psi_hat, M)), scale_Q1)
    return worst
