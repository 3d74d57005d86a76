"""Saddle-point equations of the square loss, one block, K = 1  [CUI24, Result 3.3, App. C; THEORY section 4].

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
Generated; do not edit. Signature f2cd44f649eb19b7.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np
from numba import njit, types
from numba.extending import intrinsic

LOSS = "square"
SIGNATURE = "f2cd44f649eb19b76672477b6b67bb195e93b439ac2462fec03fa18ea0aaf433"


def workspace_size(K, N):
    """Length of the workspace for K blocks and N nodes."""
    return 52 + 5*N


def layout(K, N):
    """Start and shape of every unknown in the workspace."""
    return {
        "Delta": (38, (N,)),
        "M": (30, (K, K)),
        "P": (29, (K, K)),
        "Q1": (21, (K, K)),
        "Q1_hat": (36, (K, K)),
        "Q2": (35, (K,)),
        "Q2_hat": (37, (K,)),
        "S": (31, (K, K)),
        "T": (6, (K,)),
        "V": (38 + N, (N,)),
        "V1": (7, (K, K)),
        "V1_hat": (27, (K, K)),
        "V2": (26, (K,)),
        "V2_hat": (28, (K,)),
        "adjoint": (20, (K,)),
        "m": (14, (K,)),
        "mean": (38 + 2*N, (N,)),
        "psi": (34, (K,)),
        "psi_hat": (33, (K,)),
        "risk": (38 + 3*N, (N,)),
        "slope": (38 + 4*N, (N,)),
        "zeta": (15, (K,)),
        "zeta_hat": (32, (K,)),
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


@njit(cache=True, **INNER)
def _equations_1(table, fraction, work):
    """Block 1, nonlinear: V2, V, V1_hat, V2_hat, P, M, S."""
    _short()
    alpha = work[0]
    beta = work[1]
    ridge = work[2]
    N = table.shape[0]
    o_V = 38 + N
    T = work[6]
    V1 = work[7]
    V2 = T/beta
    E1_0 = 0.0
    E1_1 = 0.0
    for node in range(N):
        mu1_here = table[node, 6]
        mu2sq_here = table[node, 7]
        weight_here = table[node, 1]
        V_here = (mu1_here*mu1_here)*V1 + mu2sq_here*V2
        work[o_V + node] = V_here
        x0 = (1.0/(V_here + 1.0))
        w0 = weight_here*(mu1_here*mu1_here)*x0
        w1 = weight_here*mu2sq_here*x0
        E1_0 += w0
        E1_1 += w1
    V1_hat = alpha*E1_0/beta
    V2_hat = alpha*E1_1/beta
    P = 1.0/(T*V1_hat + 1.0)
    M = P*T
    S = P*V1_hat
    residual_T = -beta*fraction[0]/(ridge + S + V2_hat) + T
    residual_V1 = V1 - M/beta
    work[8] = residual_T
    work[9] = residual_V1
    work[26] = V2
    work[27] = V1_hat
    work[28] = V2_hat
    work[29] = P
    work[30] = M
    work[31] = S


@njit(cache=True, **INNER)
def _tangents_1(table, fraction, work):
    """Block 1: what the residuals do along a direction of T, V1."""
    _short()
    alpha = work[0]
    beta = work[1]
    ridge = work[2]
    N = table.shape[0]
    o_V = 38 + N
    d_T = work[10]
    d_V1 = work[11]
    V2_hat = work[28]
    P = work[29]
    M = work[30]
    S = work[31]
    d_V2 = d_T/beta
    D1_0 = 0.0
    D1_1 = 0.0
    for node in range(N):
        V_here = work[o_V + node]
        mu1_here = table[node, 6]
        mu2sq_here = table[node, 7]
        weight_here = table[node, 1]
        d_V_here = (mu1_here*mu1_here)*d_V1 + mu2sq_here*d_V2
        x0 = d_V_here/((V_here + 1.0)*(V_here + 1.0))
        w0 = weight_here*(mu1_here*mu1_here)*x0
        w1 = weight_here*mu2sq_here*x0
        D1_0 += w0
        D1_1 += w1
    d_V1_hat = -alpha*D1_0/beta
    d_V2_hat = -alpha*D1_1/beta
    d_M = -(M*M)*d_V1_hat + (P*P)*d_T
    d_S = (P*P)*d_V1_hat - (S*S)*d_T
    d_residual_T = beta*(d_S + d_V2_hat)*fraction[0]/((ridge + S + V2_hat)*(ridge + S + V2_hat)) + d_T
    d_residual_V1 = d_V1 - d_M/beta
    work[12] = d_residual_T
    work[13] = d_residual_V1


@njit(cache=True, **INNER)
def _equations_2(table, fraction, work):
    """Block 2, linear: mean, zeta_hat; one = 0: without the terms free of these."""
    _short()
    alpha = work[0]
    beta = work[1]
    inverse_dimension = work[4]
    one = work[5]
    N = table.shape[0]
    o_V = 38 + N
    o_mean = 38 + 2*N
    T = work[6]
    m = work[14]
    zeta = work[15]
    weight_m = beta/T
    E2_0 = 0.0
    E2_1 = 0.0
    for node in range(N):
        V_here = work[o_V + node]
        mu0_here = table[node, 5]
        mu1_here = table[node, 6]
        nu0_here = table[node, 2]
        kappa_here = table[node, 0]
        weight_here = table[node, 1]
        mean_here = kappa_here*mu1_here*zeta + mu0_here*m
        work[o_mean + node] = mean_here
        x0 = (mean_here - nu0_here*one)/(V_here + 1.0)
        w0 = weight_here*kappa_here*mu1_here*x0
        w1 = weight_here*mu0_here*x0
        E2_0 += w0
        E2_1 += w1
    zeta_hat = -alpha*E2_0/beta
    residual_m = alpha*E2_1 + beta*inverse_dimension*m/T
    residual_zeta = -T*zeta_hat + zeta
    work[16] = residual_m
    work[17] = residual_zeta
    work[18] = weight_m
    work[32] = zeta_hat


@njit(cache=True, **INNER)
def _equations_3(table, fraction, work):
    """Block 3, explicit: psi_hat, psi, slope."""
    _short()
    alpha = work[0]
    beta = work[1]
    N = table.shape[0]
    o_V = 38 + N
    o_slope = 38 + 4*N
    M = work[30]
    E3_0 = 0.0
    for node in range(N):
        V_here = work[o_V + node]
        mu1_here = table[node, 6]
        nu1_here = table[node, 3]
        weight_here = table[node, 1]
        w0 = weight_here*mu1_here*nu1_here/(V_here + 1.0)
        E3_0 += w0
    psi_hat = alpha*E3_0/beta
    psi = M*psi_hat
    for node in range(N):
        mu1_here = table[node, 6]
        slope_here = mu1_here*psi
        work[o_slope + node] = slope_here
    work[33] = psi_hat
    work[34] = psi


@njit(cache=True, **INNER)
def _equations_6(table, fraction, work):
    """Block 6, linear: Q2, Delta, risk, Q1_hat, Q2_hat; one = 0: without the terms free of these."""
    _short()
    alpha = work[0]
    beta = work[1]
    noise = work[3]
    inverse_dimension = work[4]
    one = work[5]
    N = table.shape[0]
    o_Delta = 38
    o_V = 38 + N
    o_mean = 38 + 2*N
    o_risk = 38 + 3*N
    o_slope = 38 + 4*N
    T = work[6]
    m = work[14]
    adjoint = work[20]
    Q1 = work[21]
    P = work[29]
    M = work[30]
    S = work[31]
    zeta_hat = work[32]
    psi_hat = work[33]
    Q2 = adjoint
    E6_0 = 0.0
    E6_1 = 0.0
    for node in range(N):
        V_here = work[o_V + node]
        mean_here = work[o_mean + node]
        mu1_here = table[node, 6]
        mu2sq_here = table[node, 7]
        nu0_here = table[node, 2]
        nu1_here = table[node, 3]
        nu2sq_here = table[node, 4]
        slope_here = work[o_slope + node]
        weight_here = table[node, 1]
        Delta_here = -one*(slope_here*slope_here) + (mu1_here*mu1_here)*Q1 + mu2sq_here*Q2
        work[o_Delta + node] = Delta_here
        risk_here = one*(noise + ((-mean_here + nu0_here)*(-mean_here + nu0_here)) + ((nu1_here - slope_here)*(nu1_here - slope_here)) + nu2sq_here) + Delta_here
        work[o_risk + node] = risk_here
        x0 = risk_here/((V_here + 1.0)*(V_here + 1.0))
        w0 = weight_here*(mu1_here*mu1_here)*x0
        w1 = weight_here*mu2sq_here*x0
        E6_0 += w0
        E6_1 += w1
    Q1_hat = alpha*E6_0/beta
    Q2_hat = alpha*E6_1/beta
    residual_adjoint = beta*adjoint*fraction[0]/(T*T) + one*(-inverse_dimension*(m*m)/(T*T) - (P*P)*(psi_hat*psi_hat) - (zeta_hat*zeta_hat)) - (S*S)*adjoint - (P*P)*Q1_hat/beta - Q2_hat/beta
    residual_Q1 = -one*(M*M)*(psi_hat*psi_hat) - (P*P)*adjoint + Q1 - (M*M)*Q1_hat/beta
    work[22] = residual_adjoint
    work[23] = residual_Q1
    work[35] = Q2
    work[36] = Q1_hat
    work[37] = Q2_hat


@njit(cache=True, **INNER)
def _observables(table, fraction, work, out):
    """out = (test_error, train_error, free_energy)."""
    _short()
    alpha = work[0]
    beta = work[1]
    inverse_dimension = work[4]
    N = table.shape[0]
    o_Delta = 38
    o_V = 38 + N
    o_mean = 38 + 2*N
    o_risk = 38 + 3*N
    o_slope = 38 + 4*N
    T = work[6]
    V1 = work[7]
    m = work[14]
    zeta = work[15]
    Q1 = work[21]
    V2 = work[26]
    V1_hat = work[27]
    V2_hat = work[28]
    M = work[30]
    zeta_hat = work[32]
    psi_hat = work[33]
    psi = work[34]
    Q2 = work[35]
    Q1_hat = work[36]
    Q2_hat = work[37]
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
    out[2] = alpha*EO_2 + ((1.0/2.0))*beta*inverse_dimension*(m*m)/T + beta*(-(1.0/2.0)*M*(psi_hat*psi_hat) - (1.0/2.0)*Q1*V1_hat + ((1.0/2.0))*Q1_hat*V1 - (1.0/2.0)*Q2*V2_hat + ((1.0/2.0))*Q2_hat*V2 - (1.0/2.0)*T*(zeta_hat*zeta_hat) + psi*psi_hat + zeta*zeta_hat - (1.0/2.0)*(M*Q1_hat + Q2_hat*T)/beta)


PIECES = (_equations_1, _tangents_1, _equations_2, _equations_3, _equations_6, _solve_system, _step, _strengthen, _observables)


@njit(cache=True, error_model="numpy", nogil=True, no_cfunc_wrapper=True)
def solve(table, fraction, parameters, work, out):
    """Solve the system; out = (test error, training error, free energy).

    table[N, 5 + 3K]: kappa, weight, nu0, nu1, nu2sq, then mu0, mu1, mu2sq per block; fraction[K];
    parameters: (alpha, beta, ridge, noise, inverse_dimension); work[workspace_size(K, N)] holds the unknowns afterwards.
    Returns the number of Newton iterations and linear solves, or minus the block that failed.

    A nonlinear block: Newton from above; the map is monotone and concave, so from a point above the solution, here that
    without data (alpha = 0), it descends to it. A linear block: one solve and one refinement; where it is singular, the
    limit d -> infinity of its finite-size term, by proximal iterations from zero.
    """
    _short()
    N = table.shape[0]
    o_T = 6
    o_m = 14
    o_adjoint = 20
    o_jacobian = 40 + 5*N
    o_scratch = 44 + 5*N
    for i in range(5):
        work[i] = parameters[i]
    total = 0
    for stage in range(3):
        if stage == 0:
            number = 1
            split = 1
            n = 2
            unknown = o_T
        elif stage == 1:
            number = 2
            split = 1
            n = 2
            unknown = o_m
        elif stage == 2:
            _equations_3(table, fraction, work)
            number = 6
            split = 1
            n = 2
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
    V2 = float(work[26])
    V1_hat = float(work[27])
    V2_hat = float(work[28])
    P = float(work[29])
    M = float(work[30])
    S = float(work[31])
    T = float(work[6])
    V1 = float(work[7])
    zeta_hat = float(work[32])
    m = float(work[14])
    zeta = float(work[15])
    psi_hat = float(work[33])
    psi = float(work[34])
    Q2 = float(work[35])
    Q1_hat = float(work[36])
    Q2_hat = float(work[37])
    adjoint = float(work[20])
    Q1 = float(work[21])
    fraction = 1.0
    V = V1*(mu1**2) + V2*mu2sq
    slope = psi*mu1
    mean = m*mu0 + zeta*kappa*mu1
    Delta = Q1*(mu1**2) + Q2*mu2sq - slope**2
    risk = noise + (nu0 - mean)**2 + (nu1 - slope)**2 + Delta + nu2sq
    worst = 0.0
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
    average12 = np.dot(mu1, x8*kappa)
    average13 = np.dot(x11, x9*abs(kappa))
    scale_V2 = abs(1.0/beta)*abs(T)
    worst = _worse(worst, V2 - T/beta, scale_V2)
    scale_V1_hat = average2*alpha*abs(1.0/beta)
    worst = _worse(worst, V1_hat - average0*alpha/beta, scale_V1_hat)
    scale_V2_hat = average3*alpha*abs(1.0/beta)
    worst = _worse(worst, V2_hat - average1*alpha/beta, scale_V2_hat)
    scale_P = 1.0 + (1.0 + abs(T)*scale_V1_hat)*abs(P)
    worst = _worse(worst, -1.0 + (1.0 + T*V1_hat)*P, scale_P)
    scale_M = abs(T)*abs(P)
    worst = _worse(worst, M - T*P, scale_M)
    scale_S = abs(P)*scale_V1_hat
    worst = _worse(worst, S - P*V1_hat, scale_S)
    scale_T = beta*abs(fraction)/abs(ridge + V2_hat + S)
    worst = _worse(worst, T - beta*fraction/(ridge + V2_hat + S), scale_T)
    scale_V1 = abs(1.0/beta)*scale_M
    worst = _worse(worst, V1 - M/beta, scale_V1)
    scale_zeta_hat = average13*alpha*abs(1.0/beta)
    worst = _worse(worst, average12*alpha/beta + zeta_hat, scale_zeta_hat)
    scale_m = average8*alpha + inverse_dimension*beta*abs(m)/abs(T)
    worst = _worse(worst, average6*alpha + inverse_dimension*beta*m/T, scale_m)
    scale_zeta = scale_T*scale_zeta_hat
    worst = _worse(worst, zeta - T*zeta_hat, scale_zeta)
    scale_psi_hat = average11*alpha*abs(1.0/beta)
    worst = _worse(worst, psi_hat - average7*alpha/beta, scale_psi_hat)
    scale_psi = scale_psi_hat*scale_M
    worst = _worse(worst, psi - psi_hat*M, scale_psi)
    scale_Q2 = abs(adjoint)
    worst = _worse(worst, Q2 - adjoint, scale_Q2)
    scale_Q1_hat = average9*alpha*abs(1.0/beta)
    worst = _worse(worst, Q1_hat - average4*alpha/beta, scale_Q1_hat)
    scale_Q2_hat = average10*alpha*abs(1.0/beta)
    worst = _worse(worst, Q2_hat - average5*alpha/beta, scale_Q2_hat)
    scale_adjoint = zeta_hat**2 + (P**2)*(scale_psi_hat**2) + (S**2)*abs(adjoint) + abs(1.0/beta)*scale_Q2_hat + inverse_dimension*(m**2)/T**2 + (P**2)*abs(1.0/beta)*scale_Q1_hat + beta*abs(adjoint)*abs(fraction)/T**2
    worst = _worse(worst, beta*adjoint*fraction/T**2 - zeta_hat**2 - Q2_hat/beta - (psi_hat**2)*(P**2) - (S**2)*adjoint - inverse_dimension*(m**2)/T**2 - (P**2)*Q1_hat/beta, scale_adjoint)
    scale_Q1 = (P**2)*abs(adjoint) + (scale_psi_hat**2)*(scale_M**2) + (scale_M**2)*abs(1.0/beta)*scale_Q1_hat
    worst = _worse(worst, Q1 - (psi_hat**2)*(M**2) - (P**2)*adjoint - (M**2)*Q1_hat/beta, scale_Q1)
    return worst
