"""Equations of any convex loss, given bulk of several blocks, 1 direction(s) beside the spike, any number of blocks K
[THEORY section 5].

Generated; do not edit. Signature ad4260b254b90490.
Regenerate with: giantstep generate
"""

# fmt: off

from generated.runtime.array_certificate import ArrayCertificate
from generated.runtime.tangents import TangentEquations, Text

SIGNATURE = "ad4260b254b90490c58c588275ba24e42aaa71729e8a5090473c6b5373a0eca7"


UNKNOWNS = ('adjoint', 'm', 'Q1', 'T', 'V1', 'norm', 'psi', 'zeta')
INNER = ()


EQUATIONS = """
V := sum(mu2sq[b]*V2[b], b) + sum(sum(mu1[b]*mu1[c]*V1[b, c], b), c)
slope := sum(mu1[b]*psi[b], b)
mean := sum(kappa*mu1[b]*zeta[b] + mu0[b]*m[b] + mu_c[b]*norm[b], b)
Delta := -slope**2 + sum(mu2sq[b]*Q2[b], b) + sum(sum(mu1[b]*mu1[c]*Q1[b, c], b), c)
Q2[b] = adjoint[b]  # Q2
V2[b] = T[b]/beta  # d/dQ2_hat
norm_hat[b] = alpha*E(avg_g*mu_c[b])/beta  # d/dnorm
Q1_hat[b, c] = alpha*E(avg_gg*mu1[b]*mu1[c])/beta  # d/dV1
Q2_hat[b] = alpha*E(avg_gg*mu2sq[b])/beta  # d/dV2
V1_hat[b, c] = alpha*E(avg_h*mu1[b]*mu1[c])/beta  # d/dQ1
V2_hat[b] = alpha*E(avg_h*mu2sq[b])/beta  # d/dQ2
psi_hat[b] = alpha*E((avg_h*slope + avg_tg)*mu1[b])/beta  # d/dpsi
adjoint_T[b] = inverse_dimension*m[b]**2/T[b]**2 + Q2_hat[b]/beta  # adjoint_T
zeta_hat[b] = alpha*E(kappa*avg_g*mu1[b])/beta + sum(V1_hat[a, b]*zeta[a], a)  # d/dzeta
# A
A[i, j] = ((ridge*sum(member[a, i], a) + sum(V2_hat[a]*member[a, i], a))*unit_G[i, j]
    + sum(sum(V1_hat[a, b]*member[b, j], b)*member[a, i], a)*gram[i, j])
adjoint_own[i] = beta*sum(adjoint_T[a]*member[a, i], a)/sum(unit_G[a, a], a)  # adjoint_own
# Coupling
Coupling[i, j] = (sum(sum(Q1_hat[b, a]*member[b, i], b)*member[a, j], a)*gram[i, j]/sum(unit_G[a, a], a)
    + sum(member[a, i]*norm_hat[a], a)*sum(member[a, j]*norm_hat[a], a)*law_nn[i, j]
    + sum(member[a, i]*norm_hat[a], a)*sum(member[a, j]*psi_hat[a], a)*law_on[j, i]
    + sum(member[a, i]*norm_hat[a], a)*sum(member[a, j]*zeta_hat[a], a)*law_vn[j, i]
    + sum(member[a, i]*psi_hat[a], a)*sum(member[a, j]*norm_hat[a], a)*law_on[i, j]
    + sum(member[a, i]*psi_hat[a], a)*sum(member[a, j]*psi_hat[a], a)*law_oo[i, j]
    + sum(member[a, i]*psi_hat[a], a)*sum(member[a, j]*zeta_hat[a], a)*law_vo[j, i]
    + sum(member[a, i]*zeta_hat[a], a)*sum(member[a, j]*norm_hat[a], a)*law_vn[i, j]
    + sum(member[a, i]*zeta_hat[a], a)*sum(member[a, j]*psi_hat[a], a)*law_vo[i, j]
    + sum(member[a, i]*zeta_hat[a], a)*sum(member[a, j]*zeta_hat[a], a)*law_vv[i, j])
matrix_G[e, j] := A[e, j]
0 = sum(G[i, e]*matrix_G[e, j], e) - unit_G[i, j]  # G
adjoint_A[i, j] = -sum(sum(Coupling[b, a]*G[j, b], b)*G[a, i], a) - sum(G[a, i]*G[j, a]*adjoint_own[a], a)  # adjoint_A
own[i] = G[i, i]  # own
adjoint[b] = -sum(adjoint_A[a, a]*member[b, a], a)  # d/dV2_hat
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b]  # d/dm
Q1[b, c] = -sum(sum(adjoint_A[d, a]*gram[d, a]*member[b, d], d)*member[c, a], a) - zeta[b]*zeta[c]  # d/dV1_hat
T[b] = beta*sum(member[b, a]*own[a], a)/sum(unit_G[a, a], a)  # T
V1[b, c] = sum(sum(G[a, d]*gram[d, a]*member[b, d], d)*member[c, a], a)/sum(unit_G[a, a], a)  # d/dQ1_hat
# d/dnorm_hat
norm[b] = (sum(sum(member[c, a]*norm_hat[c], c)*sum(G[a, c]*law_nn[a, c]*member[b, c], c), a)/2
    + sum(sum(member[c, a]*psi_hat[c], c)*sum(G[a, c]*law_on[a, c]*member[b, c], c), a)/2
    + sum(sum(member[c, a]*zeta_hat[c], c)*sum(G[a, c]*law_vn[a, c]*member[b, c], c), a)/2
    + sum(sum(sum(member[d, c]*norm_hat[d], d)*G[a, c]*law_nn[a, c], c)*member[b, a], a)/2
    + sum(sum(sum(member[d, c]*psi_hat[d], d)*G[a, c]*law_on[c, a], c)*member[b, a], a)/2
    + sum(sum(sum(member[d, c]*zeta_hat[d], d)*G[a, c]*law_vn[c, a], c)*member[b, a], a)/2)
# d/dpsi_hat
psi[b] = (sum(sum(member[c, a]*norm_hat[c], c)*sum(G[a, c]*law_on[c, a]*member[b, c], c), a)/2
    + sum(sum(member[c, a]*psi_hat[c], c)*sum(G[a, c]*law_oo[c, a]*member[b, c], c), a)/2
    + sum(sum(member[c, a]*zeta_hat[c], c)*sum(G[a, c]*law_vo[a, c]*member[b, c], c), a)/2
    + sum(sum(sum(member[d, c]*norm_hat[d], d)*G[a, c]*law_on[a, c], c)*member[b, a], a)/2
    + sum(sum(sum(member[d, c]*psi_hat[d], d)*G[a, c]*law_oo[c, a], c)*member[b, a], a)/2
    + sum(sum(sum(member[d, c]*zeta_hat[d], d)*G[a, c]*law_vo[c, a], c)*member[b, a], a)/2)
# d/dzeta_hat
zeta[b] = (sum(sum(member[c, a]*norm_hat[c], c)*sum(G[a, c]*law_vn[c, a]*member[b, c], c), a)/2
    + sum(sum(member[c, a]*psi_hat[c], c)*sum(G[a, c]*law_vo[c, a]*member[b, c], c), a)/2
    + sum(sum(member[c, a]*zeta_hat[c], c)*sum(G[a, c]*law_vv[c, a]*member[b, c], c), a)/2
    + sum(sum(sum(member[d, c]*norm_hat[d], d)*G[a, c]*law_vn[a, c], c)*member[b, a], a)/2
    + sum(sum(sum(member[d, c]*psi_hat[d], d)*G[a, c]*law_vo[a, c], c)*member[b, a], a)/2
    + sum(sum(sum(member[d, c]*zeta_hat[d], d)*G[a, c]*law_vv[c, a], c)*member[b, a], a)/2)
"""
COLUMNS = ('kappa', 'weight', 'nu0', 'nu1', 'nu2sq')
CERTIFICATE = ArrayCertificate(EQUATIONS, COLUMNS, odd=('avg_g', 'avg_tg'), features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
check = CERTIFICATE.check


RULES = """
d_avg_M := -avg_g*d_mean - avg_gg*d_V/2 + avg_h*d_Delta/2 - avg_tg*d_slope
d_avg_g := -avg_gh*d_V - avg_h*d_mean - avg_hx*d_Delta/2 - avg_th*d_slope
d_avg_gg := -2*avg_ggh*d_V - 2*avg_gh*d_mean - avg_ghx*d_Delta - 2*avg_tgh*d_slope
d_avg_h := avg_ghx*d_V + avg_hx*d_mean + avg_hxx*d_Delta/2 + avg_thx*d_slope
d_avg_l := ((V*avg_ggh - avg_gg)*d_V + (V*avg_gh - avg_g)*d_mean + (V*avg_ghx/2 + avg_h/2)*d_Delta
    + (V*avg_tgh - avg_tg)*d_slope)
d_avg_tg := -avg_tgh*d_V - avg_th*d_mean - avg_thx*d_Delta/2 - avg_tth*d_slope
d_G[i, j] := -sum(sum(G[i, b]*d_A[b, a], b)*G[a, j], a)
"""
OBSERVABLES = """
test_error := E((-mean + nu0)**2 + (nu1 - slope)**2 + Delta + nu2sq)
train_error := E(avg_l)
free_energy := (alpha*E(avg_M) + beta*inverse_dimension*sum(m[b]**2/(2*T[b]), b)
    + beta*(sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2 + sum(norm[b]*norm_hat[b] + psi[b]*psi_hat[b]
    + zeta[b]*zeta_hat[b], b) - sum(sum(Coupling[i, j]*G[j, i], i), j)/2
    - sum(sum(V1_hat[b, c]*zeta[b]*zeta[c], b), c)/2 + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b), c)/2
    - sum(Q2_hat[b]*T[b], b)/(2*beta)))
"""
tangents = TangentEquations(Text(EQUATIONS, ('adjoint', 'm', 'Q1', 'T', 'V1', 'norm', 'psi', 'zeta'), (), RULES,
    OBSERVABLES), COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
