"""Tangents of the coupled system, 1 direction(s) beside the spike  [THEORY section 4].

Generated; do not edit. Signature dbc28b228ede6eea.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "dbc28b228ede6eea9e1fb235de1aa28ebda55378d6e8c1510a03f2fafcbc79d9"


def response(table, change, fraction, parameters, rates, state, moves):
    """Tangents (residuals by unknown, (test error, training error, free energy), fields of kappa) along a motion.

    change[3, K, N]: of mu0, mu1, mu2sq at the nodes; rates: of alpha, beta, ridge; state: families, fields and
    averages at the solution; moves: tangents of the torn unknowns.
    """
    K = fraction.shape[0]
    alpha, beta, ridge, noise, inverse_dimension = parameters.tolist()
    d_alpha, d_beta, d_ridge = rates
    identity = np.eye(K)
    columns = np.ascontiguousarray(table.T)
    kappa = columns[0]
    weight = columns[1]
    nu0 = columns[2]
    nu1 = columns[3]
    nu2sq = columns[4]
    mu0 = columns[5 + 0*K:5 + 1*K]
    d_mu0 = change[0]
    mu1 = columns[5 + 1*K:5 + 2*K]
    d_mu1 = change[1]
    mu2sq = columns[5 + 2*K:5 + 3*K]
    d_mu2sq = change[2]
    Delta = state["Delta"]
    M = state["M"]
    P = state["P"]
    Q1 = state["Q1"]
    Q1_hat = state["Q1_hat"]
    Q2 = state["Q2"]
    Q2_hat = state["Q2_hat"]
    S = state["S"]
    T = state["T"]
    V = state["V"]
    V1 = state["V1"]
    V1_hat = state["V1_hat"]
    V2 = state["V2"]
    V2_hat = state["V2_hat"]
    adjoint = state["adjoint"]
    avg_M = state["avg_M"]
    avg_g = state["avg_g"]
    avg_gg = state["avg_gg"]
    avg_ggh = state["avg_ggh"]
    avg_gh = state["avg_gh"]
    avg_ghx = state["avg_ghx"]
    avg_h = state["avg_h"]
    avg_hx = state["avg_hx"]
    avg_hxx = state["avg_hxx"]
    avg_tg = state["avg_tg"]
    avg_tgh = state["avg_tgh"]
    avg_th = state["avg_th"]
    avg_thx = state["avg_thx"]
    avg_tth = state["avg_tth"]
    m = state["m"]
    mean = state["mean"]
    psi = state["psi"]
    psi_hat = state["psi_hat"]
    slope = state["slope"]
    zeta = state["zeta"]
    zeta_hat = state["zeta_hat"]
    d_adjoint = moves["adjoint"]
    d_m = moves["m"]
    d_Q1 = moves["Q1"]
    d_T = moves["T"]
    d_V1 = moves["V1"]
    d_psi = moves["psi"]
    d_zeta = moves["zeta"]
    d_Q2 = d_adjoint
    d_slope = np.einsum('a,an->n', d_psi, mu1) + np.einsum('a,an->n', psi, d_mu1)
    d_V2 = 1.0/beta*d_T - d_beta/beta**2*T
    d_mean = (kappa*np.einsum('a,an->n', d_zeta, mu1) + kappa*np.einsum('a,an->n', zeta, d_mu1)
        + np.einsum('a,an->n', d_m, mu0) + np.einsum('a,an->n', m, d_mu0))
    d_Delta = (np.einsum('an,an->n', np.einsum('ab,bn->an', Q1, d_mu1), mu1)
        + np.einsum('an,an->n', np.einsum('ab,bn->an', Q1, mu1), d_mu1)
        + np.einsum('an,an->n', np.einsum('ab,bn->an', d_Q1, mu1), mu1) + np.einsum('a,an->n', Q2, d_mu2sq)
        + np.einsum('a,an->n', d_Q2, mu2sq) - 2.0*d_slope*slope)
    d_V = (np.einsum('an,an->n', np.einsum('ab,bn->an', V1, d_mu1), mu1)
        + np.einsum('an,an->n', np.einsum('ab,bn->an', V1, mu1), d_mu1)
        + np.einsum('an,an->n', np.einsum('ab,bn->an', d_V1, mu1), mu1) + np.einsum('a,an->n', V2, d_mu2sq)
        + np.einsum('a,an->n', d_V2, mu2sq))
    d_avg_g = -avg_gh*d_V - avg_h*d_mean - avg_th*d_slope - 0.5*avg_hx*d_Delta
    d_avg_gg = -avg_ghx*d_Delta - 2.0*avg_ggh*d_V - 2.0*avg_gh*d_mean - 2.0*avg_tgh*d_slope
    d_avg_h = avg_ghx*d_V + avg_hx*d_mean + avg_thx*d_slope + 0.5*avg_hxx*d_Delta
    d_avg_tg = -avg_tgh*d_V - avg_th*d_mean - avg_tth*d_slope - 0.5*avg_thx*d_Delta
    d_zeta_hat = (d_alpha/beta*np.einsum('n,n,n,bn->b', weight, kappa, avg_g, mu1)
        + alpha/beta*np.einsum('n,n,bn->b', weight, kappa, np.einsum('n,bn->bn', avg_g, d_mu1)
        + np.einsum('n,bn->bn', d_avg_g, mu1)) - d_beta*alpha/beta**2*np.einsum('n,n,n,bn->b', weight, kappa, avg_g,
        mu1))
    d_Q1_hat = (d_alpha/beta*np.einsum('n,n,bn,cn->bc', weight, avg_gg, mu1, mu1)
        + alpha/beta*np.einsum('n,bcn->bc', weight, np.einsum('n,bn,cn->bcn', avg_gg, d_mu1, mu1)
        + np.einsum('n,cn,bn->bcn', avg_gg, d_mu1, mu1) + np.einsum('n,bn,cn->bcn', d_avg_gg, mu1, mu1))
        - d_beta*alpha/beta**2*np.einsum('n,n,bn,cn->bc', weight, avg_gg, mu1, mu1))
    d_Q2_hat = (d_alpha/beta*np.einsum('n,n,bn->b', weight, avg_gg, mu2sq)
        + alpha/beta*np.einsum('n,bn->b', weight, np.einsum('n,bn->bn', avg_gg, d_mu2sq)
        + np.einsum('n,bn->bn', d_avg_gg, mu2sq)) - d_beta*alpha/beta**2*np.einsum('n,n,bn->b', weight, avg_gg, mu2sq))
    d_V1_hat = (d_alpha/beta*np.einsum('n,n,bn,cn->bc', weight, avg_h, mu1, mu1)
        + alpha/beta*np.einsum('n,bcn->bc', weight, np.einsum('n,bn,cn->bcn', avg_h, d_mu1, mu1)
        + np.einsum('n,cn,bn->bcn', avg_h, d_mu1, mu1) + np.einsum('n,bn,cn->bcn', d_avg_h, mu1, mu1))
        - d_beta*alpha/beta**2*np.einsum('n,n,bn,cn->bc', weight, avg_h, mu1, mu1))
    d_V2_hat = (d_alpha/beta*np.einsum('n,n,bn->b', weight, avg_h, mu2sq)
        + alpha/beta*np.einsum('n,bn->b', weight, np.einsum('n,bn->bn', avg_h, d_mu2sq)
        + np.einsum('n,bn->bn', d_avg_h, mu2sq)) - d_beta*alpha/beta**2*np.einsum('n,n,bn->b', weight, avg_h, mu2sq))
    d_psi_hat = (d_alpha/beta*np.einsum('n,n,bn->b', weight, avg_h*slope + avg_tg, mu1)
        + alpha/beta*np.einsum('n,bn->b', weight, np.einsum('n,bn->bn', avg_h*slope + avg_tg, d_mu1)
        + np.einsum('n,bn->bn', avg_h*d_slope + d_avg_h*slope + d_avg_tg, mu1))
        - d_beta*alpha/beta**2*np.einsum('n,n,bn->b', weight, avg_h*slope + avg_tg, mu1))
    d_P = (-np.einsum('ab,a,ac->bc', np.einsum('bd,ad->ab', P, V1_hat), d_T, P)
        - np.einsum('ab,a,ac->bc', np.einsum('bd,ad->ab', P, d_V1_hat), T, P))
    d_M = np.einsum('a,ab,ac->bc', d_T, P, P) - np.einsum('ab,ac->bc', np.einsum('bd,ad->ab', M, d_V1_hat), M)
    d_S = (np.einsum('ab,ac->bc', np.einsum('bd,ad->ab', P, d_V1_hat), np.einsum('ca->ac', P))
        - np.einsum('a,ab,ac->bc', d_T, S, S))
    d_residual_adjoint = (d_beta/beta**2*np.einsum('ab,ab->b', np.einsum('bc,ac->ab', P, Q1_hat),
        np.einsum('ba->ab', P)) + d_beta/beta**2*Q2_hat + d_beta*adjoint*fraction/T**2 + beta*d_adjoint*fraction/T**2
        + 2.0*inverse_dimension*(m**2)*d_T/T**3 - np.einsum('ab,a->b', S**2, d_adjoint)
        - 2.0*np.einsum('a,ab,ab->b', adjoint, S, d_S) - 1.0/beta*(np.einsum('ab,ab->b',
        np.einsum('bc,ac->ab', P, Q1_hat), np.einsum('ba->ab', d_P))
        + np.einsum('ab,ab->b', np.einsum('bc,ac->ab', P, d_Q1_hat), np.einsum('ba->ab', P))
        + np.einsum('ab,ab->b', np.einsum('ac,bc->ab', Q1_hat, d_P), np.einsum('ba->ab', P))) - 1.0/beta*d_Q2_hat
        - 2.0*(np.einsum('a,ab->b', d_psi_hat, np.einsum('ba->ab', P))
        + np.einsum('a,ab->b', psi_hat, np.einsum('ba->ab', d_P)))*np.einsum('a,ab->b', psi_hat,
        np.einsum('ba->ab', P)) - 2.0*d_zeta_hat*zeta_hat - 2.0*inverse_dimension*d_m*m/T**2
        - 2.0*beta*adjoint*d_T*fraction/T**3)
    d_residual_m = (d_beta*inverse_dimension*m/T + inverse_dimension*beta*d_m/T
        - d_alpha*np.einsum('n,n,bn->b', weight, avg_g, mu0) - alpha*np.einsum('n,bn->b', weight,
        np.einsum('n,bn->bn', avg_g, d_mu0) + np.einsum('n,bn->bn', d_avg_g, mu0)) - inverse_dimension*beta*d_T*m/T**2)
    d_residual_Q1 = (d_beta/beta**2*np.einsum('ac,ab->bc', np.einsum('cd,ad->ac', M, Q1_hat), M) + d_Q1
        - np.einsum('a,ab,ac->bc', adjoint, P, d_P) - np.einsum('a,ac,ab->bc', adjoint, P, d_P)
        - np.einsum('a,ab,ac->bc', d_adjoint, P, P) - 1.0/beta*(np.einsum('ac,ab->bc',
        np.einsum('cd,ad->ac', M, Q1_hat), d_M) + np.einsum('ac,ab->bc', np.einsum('cd,ad->ac', M, d_Q1_hat), M)
        + np.einsum('ac,ab->bc', np.einsum('ad,cd->ac', Q1_hat, d_M), M))
        - np.einsum('b,c->bc', np.einsum('a,ab->b', d_psi_hat, M) + np.einsum('a,ab->b', psi_hat, d_M),
        np.einsum('a,ac->c', psi_hat, M)) - np.einsum('c,b->bc', np.einsum('a,ac->c', d_psi_hat, M)
        + np.einsum('a,ac->c', psi_hat, d_M), np.einsum('a,ab->b', psi_hat, M)))
    d_residual_T = (beta*(d_ridge + d_V2_hat + np.einsum('bb->b', d_S))*fraction/(ridge + V2_hat
        + np.einsum('bb->b', S))**2 + d_T - d_beta*fraction/(ridge + V2_hat + np.einsum('bb->b', S)))
    d_residual_V1 = d_beta/beta**2*M + d_V1 - 1.0/beta*d_M
    d_residual_psi = d_psi - np.einsum('a,ab->b', d_psi_hat, M) - np.einsum('a,ab->b', psi_hat, d_M)
    d_residual_zeta = d_zeta - T*d_zeta_hat - d_T*zeta_hat
    d_test_error = np.dot(weight, (d_Delta - 2.0*(nu0 - mean)*d_mean - 2.0*(nu1 - slope)*d_slope))
    d_train_error = np.dot(weight, (0.5*avg_h*d_Delta - avg_g*d_mean - avg_gg*d_V - avg_tg*d_slope - 0.5*V*d_avg_gg))
    d_free_energy = (d_alpha*np.dot(weight, avg_M) + d_beta*(0.5*np.einsum('a,a->', Q2_hat, V2)
        + 0.5*np.einsum('a->', np.einsum('ab,ab->a', Q1_hat, V1)) + np.einsum('a,a->', psi, psi_hat)
        + np.einsum('a,a->', zeta, zeta_hat) - 0.5*np.einsum('a,a->', zeta_hat**2, T)
        - 0.5*np.einsum('a,a->', np.einsum('b,ab->a', psi_hat, M), psi_hat) - 0.5*np.einsum('a,a->', Q2, V2_hat)
        - 0.5*np.einsum('a->', np.einsum('ab,ab->a', Q1, V1_hat))
        - 0.5*(np.einsum('a,a->', Q2_hat, T) + np.einsum('a->', np.einsum('ab,ab->a', M, Q1_hat)))/beta)
        + alpha*np.dot(weight, (0.5*avg_h*d_Delta - avg_g*d_mean - avg_tg*d_slope - 0.5*avg_gg*d_V))
        + beta*(0.5*np.einsum('a,a->', Q2_hat, d_V2) + 0.5*np.einsum('a,a->', V2, d_Q2_hat)
        + 0.5*np.einsum('a->', np.einsum('ab,ab->a', Q1_hat, d_V1))
        + 0.5*np.einsum('a->', np.einsum('ab,ab->a', V1, d_Q1_hat))
        + 0.5*d_beta*(np.einsum('a,a->', Q2_hat, T) + np.einsum('a->', np.einsum('ab,ab->a', M, Q1_hat)))/beta**2
        + np.einsum('a,a->', d_psi, psi_hat) + np.einsum('a,a->', d_psi_hat, psi)
        + np.einsum('a,a->', d_zeta, zeta_hat) + np.einsum('a,a->', d_zeta_hat, zeta)
        - np.einsum('a,a,a->', T, d_zeta_hat, zeta_hat) - 0.5*np.einsum('a,a->', zeta_hat**2, d_T)
        - 0.5*np.einsum('a,a->', np.einsum('b,ab->a', d_psi_hat, M), psi_hat)
        - 0.5*np.einsum('a,a->', np.einsum('b,ab->a', psi_hat, M), d_psi_hat)
        - 0.5*np.einsum('a,a->', np.einsum('b,ab->a', psi_hat, d_M), psi_hat) - 0.5*np.einsum('a,a->', Q2, d_V2_hat)
        - 0.5*np.einsum('a,a->', V2_hat, d_Q2) - 0.5*np.einsum('a->', np.einsum('ab,ab->a', Q1, d_V1_hat))
        - 0.5*np.einsum('a->', np.einsum('ab,ab->a', V1_hat, d_Q1))
        - 0.5*(np.einsum('a,a->', Q2_hat, d_T) + np.einsum('a,a->', T, d_Q2_hat)
        + np.einsum('a->', np.einsum('ab,ab->a', M, d_Q1_hat))
        + np.einsum('a->', np.einsum('ab,ab->a', Q1_hat, d_M)))/beta)
        + inverse_dimension*beta*(np.einsum('a,a,a->', 1.0/T, d_m, m) - 0.5*np.einsum('a,a,a->', 1.0/T**2, m**2, d_T))
        + 0.5*d_beta*inverse_dimension*np.einsum('a,a->', 1.0/T, m**2))
    residuals = {"adjoint": d_residual_adjoint, "m": d_residual_m, "Q1": d_residual_Q1, "T": d_residual_T,
        "V1": d_residual_V1, "psi": d_residual_psi, "zeta": d_residual_zeta}
    observables = (d_test_error, d_train_error, d_free_energy)
    fields = {"V": d_V, "slope": d_slope, "mean": d_mean, "Delta": d_Delta}
    return residuals, observables, fields
