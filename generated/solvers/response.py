"""Saddle-point equations of the features' response at complex ridge, any number of blocks K  [CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
    1. nonlinear in T, V1; then V2, V, V1_hat, V2_hat, P, M, S
    2. linear in m, zeta; then mean, zeta_hat
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
Generated; do not edit. Signature 58ed30b692850779.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np
from numba import njit, types
from numba.extending import intrinsic

LOSS = "square"
SIGNATURE = "58ed30b692850779499700c44b641f71b718278d4e16ecc6578d3638cd3a8455"


UNKNOWNS = ('T', 'V1')
OVERLAPS = ('m', 'zeta')


def workspace_size(K, N):
    """Length of the complex workspace for K blocks and N nodes."""
    return 6 + 15*K + 12*K*K + 3*N


def layout(K, N):
    """Start and shape of every unknown in the workspace."""
    return {
        "M": (6 + 11*K + 7*K*K, (K, K)),
        "P": (6 + 11*K + 6*K*K, (K, K)),
        "S": (6 + 11*K + 8*K*K, (K, K)),
        "T": (6, (K,)),
        "V": (6 + 14*K + 12*K*K, (N,)),
        "V1": (6 + K, (K, K)),
        "V1_hat": (6 + 10*K + 5*K*K, (K, K)),
        "V2": (6 + 9*K + 5*K*K, (K,)),
        "V2_hat": (6 + 10*K + 6*K*K, (K,)),
    }


INNER = {"error_model": "numpy", "nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@intrinsic
def _short(typingctx):
    """Ask LLVM for short code: its loops run over a few blocks, and unrolled they take long to compile and to run."""

    def generate(context, builder, signature, arguments):
        builder.function.attributes.add("optsize")
        return context.get_dummy_value()

    return types.none(), generate


@njit(**INNER)
def _invert(work, n, start):
    """Invert an n x n matrix in place, rows exchanged for the largest pivot."""
    _short()
    order = np.arange(n)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(work[start + i*n + k]) > abs(work[start + best*n + k]):
                best = i
        if best != k:
            order[k], order[best] = order[best], order[k]
            for j in range(n):
                entry = work[start + k*n + j]
                work[start + k*n + j] = work[start + best*n + j]
                work[start + best*n + j] = entry
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
    for k in range(n):  # the columns back into their order
        while order[k] != k:
            other = order[k]
            for i in range(n):
                entry = work[start + i*n + k]
                work[start + i*n + k] = work[start + i*n + other]
                work[start + i*n + other] = entry
            order[k], order[other] = order[other], order[k]


@njit(cache=True, **INNER)
def _response(table, fraction, work):
    """Residuals of T, V1."""
    _short()
    alpha = work[0]
    beta = work[1]
    ridge = work[2]
    K = fraction.shape[0]
    N = table.shape[0]
    o_mu1 = 5 + K
    o_mu2sq = 5 + 2*K
    o_T = 6
    o_V1 = o_T + K
    o_residual_T = o_V1 + K*K
    o_residual_V1 = o_residual_T + K
    o_V2 = o_residual_V1 + 7*K + 4*K*K
    o_V1_hat = o_V2 + K
    o_V2_hat = o_V1_hat + K*K
    o_P = o_V2_hat + K
    o_M = o_P + K*K
    o_S = o_M + K*K
    o_V = o_S + 3*K + 4*K*K
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
def _tangents(table, fraction, work):
    """What the residuals do along a direction of T, V1."""
    _short()
    alpha = work[0]
    beta = work[1]
    ridge = work[2]
    K = fraction.shape[0]
    N = table.shape[0]
    o_mu1 = 5 + K
    o_mu2sq = 5 + 2*K
    o_d_T = 6 + 2*K + 2*K*K
    o_d_V1 = o_d_T + K
    o_d_residual_T = o_d_V1 + K*K
    o_d_residual_V1 = o_d_residual_T + K
    o_V2_hat = o_d_residual_V1 + 6*K + 3*K*K
    o_P = o_V2_hat + K
    o_M = o_P + K*K
    o_S = o_M + K*K
    o_d_V2 = o_S + K*K
    o_d_V1_hat = o_d_V2 + K
    o_d_V2_hat = o_d_V1_hat + K*K
    o_d_M = o_d_V2_hat + K
    o_d_S = o_d_M + K*K
    o_V = o_d_S + K + K*K
    o_d_V = o_V + N
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
        work[o_d_V + node] = d_V_here
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
def _slopes(table, fraction, work):
    """Derivatives of the residuals in the ridge."""
    _short()
    beta = work[1]
    ridge = work[2]
    K = fraction.shape[0]
    o_slope_T = 6 + 4*K + 4*K*K
    o_slope_V1 = o_slope_T + K
    o_V2_hat = o_slope_V1 + 5*K + 2*K*K
    o_S = o_V2_hat + K + 2*K*K
    for b in range(K):
        work[o_slope_T + b] = beta*fraction[b]/((ridge + work[o_S + b*K + b] + work[o_V2_hat + b])*(ridge + work[o_S + b*K + b] + work[o_V2_hat + b]))
        for c in range(K):
            work[o_slope_V1 + b*K + c] = 0.0


@njit(cache=True, **INNER)
def _overlaps(table, fraction, work):
    """Residuals of m, zeta; one = 0: their linear part."""
    _short()
    alpha = work[0]
    beta = work[1]
    inverse_dimension = work[4]
    one = work[5]
    K = fraction.shape[0]
    N = table.shape[0]
    o_mu0 = 5
    o_mu1 = 5 + K
    o_T = 6
    o_m = o_T + 5*K + 5*K*K
    o_zeta = o_m + K
    o_residual_m = o_zeta + K
    o_residual_zeta = o_residual_m + K
    o_zeta_hat = o_residual_zeta + 5*K + 7*K*K
    o_V = o_zeta_hat + K
    o_mean = o_V + 2*N
    o_L_1 = o_mean + N
    for b0 in range(K):
        work[o_zeta_hat + b0] = 0.0
        work[o_L_1 + b0] = 0.0
    factor0 = -alpha/beta
    for node in range(N):
        V_here = work[o_V + node]
        nu0_here = table[node, 2]
        kappa_here = table[node, 0]
        weight_here = table[node, 1]
        sum1 = 0.0
        for b in range(K):
            sum1 += kappa_here*table[node, o_mu1 + b]*work[o_zeta + b] + table[node, o_mu0 + b]*work[o_m + b]
        mean_here = sum1
        work[o_mean + node] = mean_here
        x0 = (mean_here - nu0_here*one)/(V_here + 1.0)
        w0 = factor0*weight_here*kappa_here*x0
        w1 = weight_here*x0
        for b0 in range(K):
            work[o_zeta_hat + b0] += w0*table[node, o_mu1 + b0]
            work[o_L_1 + b0] += w1*table[node, o_mu0 + b0]
    for b in range(K):
        work[o_residual_m + b] = alpha*work[o_L_1 + b] + beta*inverse_dimension*work[o_m + b]/work[o_T + b]
        work[o_residual_zeta + b] = -work[o_T + b]*work[o_zeta_hat + b] + work[o_zeta + b]


@njit(cache=True, error_model="numpy", nogil=True, no_cfunc_wrapper=True)
def newton(table, fraction, work, matrix, slope):
    """Residuals and unknowns stay in ``work``; matrix[i, k] = d residual i/d unknown k, slope[i] = d residual i/d ridge.

    table[N, 5 + 3K]: kappa, weight, nu0, nu1, nu2sq (not read), then mu0, mu1, mu2sq per block; fraction[K]; work: complex,
    its first entries (alpha, beta, ridge, noise, inverse_dimension, one), then the unknowns.
    """
    _short()
    K = fraction.shape[0]
    o_T = 6
    o_m = o_T + 5*K + 5*K*K
    n = K + K*K
    _response(table, fraction, work)
    _slopes(table, fraction, work)
    for i in range(n):
        slope[i] = work[o_T + 4*n + i]
        work[o_T + 2*n + i] = 0.0
    for column in range(n):
        work[o_T + 2*n + column] = 1.0
        _tangents(table, fraction, work)
        work[o_T + 2*n + column] = 0.0
        for i in range(n):
            matrix[i, column] = work[o_T + 3*n + i]


@njit(cache=True, error_model="numpy", nogil=True, no_cfunc_wrapper=True)
def residual(table, fraction, work):
    """Residuals of the response, and all that leads to them, from the unknowns in ``work``."""
    _short()
    _response(table, fraction, work)


@njit(cache=True, error_model="numpy", nogil=True, no_cfunc_wrapper=True)
def overlap_matrix(table, fraction, work, matrix):
    """matrix[i, k] = d residual i/d overlap k of the linear equations of the overlaps, given the response in ``work``."""
    _short()
    K = fraction.shape[0]
    o_T = 6
    o_m = o_T + 5*K + 5*K*K
    n = 2*K
    _response(table, fraction, work)
    work[5] = 0.0
    for i in range(n):
        work[o_m + i] = 0.0
    for column in range(n):
        work[o_m + column] = 1.0
        _overlaps(table, fraction, work)
        work[o_m + column] = 0.0
        for i in range(n):
            matrix[i, column] = work[o_m + n + i]
    work[5] = 1.0
