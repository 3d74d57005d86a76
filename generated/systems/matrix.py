"""Equations of any convex loss, given bulk, 1 direction(s) beside the spike, any number of blocks K [THEORY section 5].

Generated; do not edit. Signature 583f914cc0ecef83.
Regenerate with: giantstep generate
"""

# fmt: off

from generated.runtime.array_certificate import ArrayCertificate
from generated.runtime.tangents import TangentEquations, Text

SIGNATURE = "583f914cc0ecef83f541c99e42f2584b4918a240048ee286e6938f7176c76cd1"


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
zeta_hat[b] = alpha*E(kappa*avg_g*mu1[b])/beta + sum(V1_hat[a, b]*zeta[a], a)  # d/dzeta
matrix_Px[e, c, x] := (ridge + V2_hat[e])*delta[c, e] + V1_hat[e, c]*spectrum[x]
0 = -delta[b, c] + sum(Px[b, e, x]*matrix_Px[e, c, x], e)  # Px
# d/dV2_hat
adjoint[b] = (inverse_dimension*sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*m[a]**2/T[a]**2, a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*law_on[c, a]*norm_hat[c], c), a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*law_vn[c, a]*norm_hat[c], c), a)
    + sum(sum(Px[c, b, a]*psi_hat[c], c)*sum(Px[b, c, a]*law_on[c, a]*norm_hat[c], c), a)
    + sum(sum(Px[c, b, a]*zeta_hat[c], c)*sum(Px[b, c, a]*law_vn[c, a]*norm_hat[c], c), a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*sum(Px[c, b, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a)
    + sum(sum(sum(Px[d, b, a]*law_nn[c, d, a]*norm_hat[d], d)*Px[b, c, a]*norm_hat[c], c), a)
    + sum(sum(Px[a, b, c]*Px[b, a, c]*law_rows[c], c)*Q2_hat[a], a)/beta
    + sum(sum(sum(Px[d, b, a]*Q1_hat[c, d], d)*Px[b, c, a], c)*law_rows[a]*spectrum[a], a)/beta)
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b]  # d/dm
# d/dV1_hat
Q1[b, c] = (inverse_dimension*sum(sum(Px[a, b, d]*Px[c, a, d]*law_rows[d]*spectrum[d], d)*m[a]**2/T[a]**2, a)
    + sum(sum(sum(Px[e, b, a]*law_nn[d, e, a]*norm_hat[e], e)*Px[c, d, a]*norm_hat[d], d)*spectrum[a], a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*law_on[d, a]*norm_hat[d], d)*spectrum[a], a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*law_vn[d, a]*norm_hat[d], d)*spectrum[a], a)
    + sum(sum(Px[d, b, a]*psi_hat[d], d)*sum(Px[c, d, a]*law_on[d, a]*norm_hat[d], d)*spectrum[a], a)
    + sum(sum(Px[d, b, a]*zeta_hat[d], d)*sum(Px[c, d, a]*law_vn[d, a]*norm_hat[d], d)*spectrum[a], a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*psi_hat[d], d)*law_oo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*psi_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*psi_hat[d], d)*law_vo[a]*spectrum[a]**2, a)
    + sum(sum(Px[c, d, a]*zeta_hat[d], d)*sum(Px[d, b, a]*zeta_hat[d], d)*law_vv[a]*spectrum[a]**2, a)
    - zeta[b]*zeta[c] + sum(sum(Px[a, b, d]*Px[c, a, d]*law_rows[d]*spectrum[d], d)*Q2_hat[a], a)/beta
    + sum(sum(sum(Px[e, b, a]*Q1_hat[d, e], e)*Px[c, d, a], d)*law_rows[a]*spectrum[a]**2, a)/beta)
T[b] = sum(Px[b, b, a]*law_rows[a], a)  # T
V1[b, c] = sum(Px[c, b, a]*law_rows[a]*spectrum[a], a)/beta  # d/dQ1_hat
# d/dnorm_hat
norm[b] = (sum(sum(Px[b, c, a]*psi_hat[c], c)*law_on[b, a], a)/2
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*law_vn[b, a], a)/2 + sum(sum(Px[c, b, a]*psi_hat[c], c)*law_on[b, a], a)/2
    + sum(sum(Px[c, b, a]*zeta_hat[c], c)*law_vn[b, a], a)/2 + sum(sum(Px[b, c, a]*law_nn[b, c, a]*norm_hat[c], c),
    a)/2 + sum(sum(Px[c, b, a]*law_nn[b, c, a]*norm_hat[c], c), a)/2)
# d/dpsi_hat
psi[b] = (sum(sum(Px[b, c, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)/2
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    + sum(sum(Px[c, b, a]*psi_hat[c], c)*law_oo[a]*spectrum[a], a)/2
    + sum(sum(Px[c, b, a]*zeta_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    + sum(sum(Px[b, c, a]*law_on[c, a]*norm_hat[c], c), a)/2 + sum(sum(Px[c, b, a]*law_on[c, a]*norm_hat[c], c), a)/2)
# d/dzeta_hat
zeta[b] = (sum(sum(Px[b, c, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    + sum(sum(Px[b, c, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a)/2
    + sum(sum(Px[c, b, a]*psi_hat[c], c)*law_vo[a]*spectrum[a], a)/2
    + sum(sum(Px[c, b, a]*zeta_hat[c], c)*law_vv[a]*spectrum[a], a)/2
    + sum(sum(Px[b, c, a]*law_vn[c, a]*norm_hat[c], c), a)/2 + sum(sum(Px[c, b, a]*law_vn[c, a]*norm_hat[c], c), a)/2)
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
d_Px[b, c, x] := (-d_ridge*sum(Px[a, c, x]*Px[b, a, x], a) - sum(sum(Px[b, d, x]*d_V1_hat[a, d], d)*Px[a, c, x],
    a)*spectrum[x] - sum(Px[a, c, x]*Px[b, a, x]*d_V2_hat[a], a))
"""
OBSERVABLES = """
test_error := E((-mean + nu0)**2 + (nu1 - slope)**2 + Delta + nu2sq)
train_error := E(avg_l)
free_energy := (alpha*E(avg_M) + beta*inverse_dimension*sum(m[b]**2/(2*T[b]), b)
    + beta*(-sum(sum(sum(Px[c, b, a]*psi_hat[c], c)*psi_hat[b], b)*law_oo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*psi_hat[c], c)*zeta_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*zeta_hat[c], c)*psi_hat[b], b)*law_vo[a]*spectrum[a], a)/2
    - sum(sum(sum(Px[c, b, a]*zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a]*spectrum[a], a)/2
    + sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2 + sum(norm[b]*norm_hat[b] + psi[b]*psi_hat[b] + zeta[b]*zeta_hat[b],
    b) - sum(sum(sum(Px[c, b, a]*law_nn[b, c, a]*norm_hat[c], c)*norm_hat[b], b), a)/2
    - sum(sum(sum(Px[c, b, a]*law_on[c, a]*norm_hat[c], c)*psi_hat[b], b), a)/2
    - sum(sum(sum(Px[c, b, a]*law_vn[c, a]*norm_hat[c], c)*zeta_hat[b], b), a)/2
    - sum(sum(sum(Px[c, b, a]*psi_hat[c], c)*law_on[b, a]*norm_hat[b], b), a)/2
    - sum(sum(sum(Px[c, b, a]*zeta_hat[c], c)*law_vn[b, a]*norm_hat[b], b), a)/2
    - sum(sum(V1_hat[b, c]*zeta[b]*zeta[c], b), c)/2 + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b), c)/2
    - (sum(Q2_hat[a]*T[a], a) + sum(sum(sum(Px[c, b, a]*Q1_hat[b, c], c), b)*law_rows[a]*spectrum[a], a))/(2*beta)))
"""
tangents = TangentEquations(Text(EQUATIONS, ('adjoint', 'm', 'Q1', 'T', 'V1', 'norm', 'psi', 'zeta'), (), RULES,
    OBSERVABLES), COLUMNS, features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
