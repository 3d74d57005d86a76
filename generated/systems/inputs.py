"""Equations of any convex loss, structured inputs, 1 direction(s) beside the spike, any number of blocks K [THEORY
section 5].

Generated; do not edit. Signature d73c6cecadf8d293.
Regenerate with: giantstep generate
"""

# fmt: off

from generated.runtime.array_certificate import ArrayCertificate
from generated.runtime.tangents import TangentEquations, Text

SIGNATURE = "d73c6cecadf8d29337b79d991c0614e6df07059b061c3f4f70381d61e0752dff"


UNKNOWNS = ('adjoint', 'm', 'Q1', 'T', 'V1', 'norm', 'psi', 'zeta')
INNER = ()


EQUATIONS = """
V := sum(mu2sq[b]*V2[b], b) + sum(sum(mu1[b]*mu1[c]*V1[b, c], b), c)
slope := sum(mu1[b]*psi[b], b)
mean := sum(kappa*mu1[b]*zeta[b] + mu0[b]*m[b] + mu_c[b]*norm[b], b)
Delta := -slope**2 + sum(mu2sq[b]*Q2[b], b) + sum(sum(mu1[b]*mu1[c]*Q1[b, c], b), c)
Q2[b] = adjoint[b]  # d/dV2_hat
V2[b] = T[b]/beta  # d/dQ2_hat
norm_hat[b] = alpha*E(avg_g*mu_c[b])/beta  # d/dnorm
Q1_hat[b, c] = alpha*E(avg_gg*mu1[b]*mu1[c])/beta  # d/dV1
Q2_hat[b] = alpha*E(avg_gg*mu2sq[b])/beta  # d/dV2
V1_hat[b, c] = alpha*E(avg_h*mu1[b]*mu1[c])/beta  # d/dQ1
V2_hat[b] = alpha*E(avg_h*mu2sq[b])/beta  # d/dQ2
psi_hat[b] = alpha*E((avg_h*slope + avg_tg)*mu1[b])/beta  # d/dpsi
matrix_Px[e, c, x] := delta[c, e] + Sigma[c, x]*T[c]*V1_hat[e, c]
0 = -delta[b, c] + sum(Px[b, e, x]*matrix_Px[e, c, x], e)  # Px
zeta_hat[b] = alpha*E(kappa*avg_g*mu1[b])/beta + sum(V1_hat[a, b]*zeta[a], a)  # d/dzeta
Mx[b, c, x] = Px[b, c, x]*Sigma[b, x]*T[b]  # Mx
Sx[b, c, x] = sum(Px[b, e, x]*V1_hat[e, c], e)  # Sx
# adjoint
0 = (beta*adjoint[b]*fraction[b]/T[b]**2 - inverse_dimension*m[b]**2/T[b]**2
    - sum(sum(Sigma[a, c]*Sigma[b, c]*Sx[a, b, c]**2*law_tr[c], c)*adjoint[a], a)
    - sum(sum(Px[b, c, a]*psi_hat[c], c)**2*Sigma[b, a]*law_oo[a], a)
    - sum(sum(Px[b, c, a]*zeta_hat[c], c)**2*Sigma[b, a]*law_vv[a], a)
    - 2*sum(sum(Px[b, c, a]*psi_hat[c], c)*sum(Px[b, c, a]*zeta_hat[c], c)*Sigma[b, a]*law_vo[a], a)
    - chi[b]*norm_hat[b]**2 - sum(sum(sum(Px[b, d, a]*Q1_hat[c, d], d)*Px[b, c, a], c)*Sigma[b, a]*law_tr[a], a)/beta
    - Q2_hat[b]/beta)
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b]  # d/dm
# d/dV1_hat
Q1[b, c] = (sum(sum(Px[a, b, d]*Px[a, c, d]*Sigma[a, d]*law_tr[d], d)*adjoint[a], a)
    + sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_oo[a], a)
    + sum(sum(Mx[b, d, a]*psi_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vo[a], a)
    + sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*psi_hat[d], d)*law_vo[a], a)
    + sum(sum(Mx[b, d, a]*zeta_hat[d], d)*sum(Mx[c, d, a]*zeta_hat[d], d)*law_vv[a], a) - zeta[b]*zeta[c]
    + sum(sum(sum(Mx[c, e, a]*Q1_hat[d, e], e)*Mx[b, d, a], d)*law_tr[a], a)/beta)
T[b] = beta*fraction[b]/(ridge + sum(Sigma[b, a]*Sx[b, b, a]*law_tr[a], a) + V2_hat[b])  # dL/dT
V1[b, c] = sum(Mx[b, c, a]*law_tr[a], a)/beta  # d/dQ1_hat
norm[b] = T[b]*chi[b]*norm_hat[b]  # d/dnorm_hat
# d/dpsi_hat
psi[b] = sum(sum(Mx[b, c, a]*psi_hat[c], c)*law_oo[a], a) + sum(sum(Mx[b, c, a]*zeta_hat[c], c)*law_vo[a], a)
# d/dzeta_hat
zeta[b] = sum(sum(Mx[b, c, a]*psi_hat[c], c)*law_vo[a], a) + sum(sum(Mx[b, c, a]*zeta_hat[c], c)*law_vv[a], a)
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
d_Px[b, c, x] := (-sum(sum(Px[b, d, x]*V1_hat[a, d], d)*Px[a, c, x]*Sigma[a, x]*d_T[a], a)
    - sum(sum(Px[b, d, x]*V1_hat[a, d], d)*Px[a, c, x]*T[a]*d_Sigma[a, x], a)
    - sum(sum(Px[b, d, x]*d_V1_hat[a, d], d)*Px[a, c, x]*Sigma[a, x]*T[a], a))
d_Mx[b, c, x] := (-sum(sum(Mx[b, d, x]*d_V1_hat[a, d], d)*Mx[a, c, x], a)
    + sum(Px[a, b, x]*Px[a, c, x]*Sigma[a, x]*d_T[a], a) + sum(Px[a, b, x]*Px[a, c, x]*T[a]*d_Sigma[a, x], a))
d_Sx[b, c, x] := (sum(sum(Px[b, d, x]*d_V1_hat[a, d], d)*Px[c, a, x], a)
    - sum(Sigma[a, x]*Sx[a, b, x]*Sx[a, c, x]*d_T[a], a) - sum(Sx[a, b, x]*Sx[a, c, x]*T[a]*d_Sigma[a, x], a))
"""
OBSERVABLES = """
test_error := E((-mean + nu0)**2 + (nu1 - slope)**2 + Delta + nu2sq)
train_error := E(avg_l)
free_energy := (alpha*E(avg_M) + beta*inverse_dimension*sum(m[b]**2/(2*T[b]), b)
    + beta*(-sum(sum(sum(Mx[b, c, a]*psi_hat[c], c)*psi_hat[b], b)*law_oo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*psi_hat[c], c)*zeta_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*zeta_hat[c], c)*psi_hat[b], b)*law_vo[a], a)/2
    - sum(sum(sum(Mx[b, c, a]*zeta_hat[c], c)*zeta_hat[b], b)*law_vv[a], a)/2 - sum(T[a]*chi[a]*norm_hat[a]**2, a)/2
    + sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2 + sum(norm[b]*norm_hat[b] + psi[b]*psi_hat[b] + zeta[b]*zeta_hat[b],
    b) - sum(sum(V1_hat[b, c]*zeta[b]*zeta[c], b), c)/2 + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b),
    c)/2 - (sum(sum(sum(Mx[b, c, a]*Q1_hat[b, c], c), b)*law_tr[a], a) + sum(Q2_hat[a]*T[a], a))/(2*beta)))
"""
tangents = TangentEquations(Text(EQUATIONS, ('adjoint', 'm', 'Q1', 'T', 'V1', 'norm', 'psi', 'zeta'),
    ('Sigma', 'law_tr', 'law_vv', 'law_vo', 'law_oo', 'chi'), RULES, OBSERVABLES), COLUMNS,
    features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
