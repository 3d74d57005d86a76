"""Equations of any convex loss, stretched bulk, 2 direction(s) beside the spike, any number of blocks K [THEORY section
5].

Generated; do not edit. Signature 2e35e1170787f5e0.
Regenerate with: giantstep generate
"""

# fmt: off

from generated.runtime.array_certificate import ArrayCertificate
from generated.runtime.tangents import TangentEquations, Text

SIGNATURE = "2e35e1170787f5e0f7b781f906c61574ae7ab4676a931334ad81af4b1dba254a"


UNKNOWNS = ('adjoint', 'm', 'Q1', 'T', 'V1', 'norm', 'psi_1', 'psi_2', 'zeta')
INNER = ('X_own', 'adjoint_X_own')


EQUATIONS = """
V := sum(mu2sq[b]*V2[b], b) + sum(sum(mu1[b]*mu1[c]*V1[b, c], b), c)
slope_1 := sum(mu1[b]*psi_1[b], b)
slope_2 := sum(mu1[b]*psi_2[b], b)
mean := sum(kappa*mu1[b]*zeta[b] + mu0[b]*m[b] + mu_c[b]*norm[b], b)
Delta := -slope_1**2 - slope_2**2 + sum(mu2sq[b]*Q2[b], b) + sum(sum(mu1[b]*mu1[c]*Q1[b, c], b), c)
Q2[b] = adjoint[b]  # d/dV2_hat
X[p, q] = sum(sum(sum(X_own[a, b, c]*own_rows[a, c, q], c)*own_rows[a, b, p], b), a) + base[p, q]  # X
out[i, p] = -sum(T[b]*last[b, i]*upper[b, p], b) + lower[i, p]  # out
V2[b] = T[b]/beta  # d/dQ2_hat
norm_hat[b] = alpha*E(avg_g*mu_c[b])/beta  # d/dnorm
Q1_hat[b, c] = alpha*E(avg_gg*mu1[b]*mu1[c])/beta  # d/dV1
Q2_hat[b] = alpha*E(avg_gg*mu2sq[b])/beta  # d/dV2
V1_hat[b, c] = alpha*E(avg_h*mu1[b]*mu1[c])/beta  # d/dQ1
V2_hat[b] = alpha*E(avg_h*mu2sq[b])/beta  # d/dQ2
psi_hat_1[b] = alpha*E((avg_h*slope_1 + avg_t_1g)*mu1[b])/beta  # d/dpsi_1
psi_hat_2[b] = alpha*E((avg_h*slope_2 + avg_t_2g)*mu1[b])/beta  # d/dpsi_2
norm_left[p, x] = sum(T[b]*along[b, p, x]*norm_hat[b], b)  # norm_left
norm_right[p, x] = sum(along[b, p, x]*norm_hat[b], b)  # norm_right
matrix_G[e, j] := (sum(sum(V1_hat[b, c]*last[b, j], b)*first[c, e], c)/2
    + sum(sum(V1_hat[b, c]*last[c, j], c)*first[b, e], b)/2 + sum(sum(X[p, q]*inside[q, j], q)*out[e, p], p)
    + fixed[e, j])
0 = sum(G[i, e]*matrix_G[e, j], e) - unit_G[i, j]  # G
zeta_hat[b] = alpha*E(kappa*avg_g*mu1[b])/beta + sum(V1_hat[a, b]*zeta[a], a)  # d/dzeta
H[c, p] = sum(sum(G[i, j]*first[c, j], j)*inside[p, i], i)  # H
H_left[b, p] = -sum(sum(G[i, j]*out[j, p], j)*last[b, i], i)  # H_left
M[b, c] = sum(sum(G[a, d]*first[b, d], d)*last[c, a], a)/2 + sum(sum(G[a, d]*first[c, d], d)*last[b, a], a)/2  # M
Res[p, q] = sum(sum(G[a, b]*out[b, q], b)*inside[p, a], a)  # Res
j_along[b, d] = gamma[d]*zeta_hat[b] + mix_1[d]*psi_hat_1[b] + mix_2[d]*psi_hat_2[b]  # j_along
Res_own[s, p, q] = sum(sum(Res[k, l]*own_rows[s, q, l], l)*own_rows[s, p, k], k)  # Res_own
mean_views[i, j] = sum(sum(sum(Res[p, q]*mean_right[a, q, j], q)*mean_left[a, p, i], p), a)  # mean_views
H_j[d, p] = sum(H[c, p]*j_along[c, d], c)  # H_j
adjoint_M[b, c] = sum(j_along[b, a]*j_along[c, a], a) + Q1_hat[b, c]/beta  # adjoint_M
j_H[d, p] = sum(H_left[b, p]*j_along[b, d], b)  # j_H
Res_at[p, q, x] = sum(Res_own[s, p, q]*of_step[s, x], s)  # Res_at
h_right[i] = sum(sum(H_j[d, p]*seen[d, p, i], p), d)  # h_right
h_left[i] = sum(sum(j_H[d, p]*seen[d, p, i], p), d)  # h_left
matrix_D[e, q, x] := sum(Res_at[e, r, x]*sample[r, q, x], r) + unit_D[e, q]
0 = sum(D[p, e, x]*matrix_D[e, q, x], e) - unit_D[p, q]  # D
earlier_mean[f, p, x] = sum(Res_at[p, q, x]*earlier[f, q, x], q)  # earlier_mean
norm_mean[p, x] = sum(Res_at[p, q, x]*norm_right[q, x], q)  # norm_mean
adjoint_on_views[i] = h_left[i]  # adjoint_on_views
F[p, q, x] = sum(D[r, q, x]*sample[p, r, x], r)  # F
earlier_left[f, q, x] = sum(D[p, q, x]*earlier[f, p, x], p)  # earlier_left
put_left[q, x] = sum(D[p, q, x]*norm_left[p, x], p)  # put_left
X_along[e, p, q] = sum(F[p, q, x]*law_along[e, x], x)  # X_along
earlier_back[f, p, x] = -sum(F[p, q, x]*earlier_mean[f, q, x], q) + earlier[f, p, x]  # earlier_back
put_back[p, x] = -sum(F[p, q, x]*norm_mean[q, x], q) + norm_right[p, x]  # put_back
earlier_left_seen[f, i] = sum(sum(sum(earlier_left[f, p, x]*law_t[v, x], x)*place[v, p, i], p), v)  # earlier_left_seen
on_left[i] = sum(sum(sum(law_t[v, x]*put_left[p, x], x)*place[v, p, i], p), v)  # on_left
added_views[i, j] = sum(sum(sum(X_along[e, p, q]*place_right[e, q, j], q)*place_left[e, p, i], p), e)  # added_views
earlier_seen[f, i] = sum(sum(sum(earlier_back[f, p, x]*law_t[v, x], x)*place[v, p, i], p), v)  # earlier_seen
on_samples[i] = sum(sum(sum(law_t[v, x]*put_back[p, x], x)*place[v, p, i], p), v)  # on_samples
matrix_Z[e, j] := sum(added_views[l, j]*mean_views[e, l], l) + unit_Z[e, j]
0 = sum(Z[i, e]*matrix_Z[e, j], e) - unit_Z[i, j]  # Z
earlier_field[f, i] = -sum(sum(earlier_seen[f, l]*mean_views[j, l], l)*Z[i, j], j)  # earlier_field
field_views[i] = sum((-sum(mean_views[j, l]*on_samples[l], l) + h_right[j])*Z[i, j], j)  # field_views
matrix_U[e, g] := (-sum((-sum(sum(earlier_left[a, p, x]*earlier_mean[g, p, x], p)*law_own[x], x)
    + sum(earlier_field[g, i]*earlier_left_seen[a, i], i))*swap[e, a], a) + tie[e, g])
0 = sum(U[f, e]*matrix_U[e, g], e) - unit_U[f, g]  # U
adjoint_on_left[i] = field_views[i]  # adjoint_on_left
# met_all
met_all[f] = (-sum(sum(earlier_left[f, p, x]*norm_mean[p, x], p)*law_own[x], x)
    + sum(earlier_left_seen[f, i]*field_views[i], i) + sum(norm_hat[b]*tie_last[f, b], b))
on_views[i] = sum(added_views[i, j]*field_views[j], j) + on_samples[i]  # on_views
# adjoint_put_left
adjoint_put_left[q, x] = sum(sum(adjoint_on_left[b]*place[a, q, b], b)*law_t[a, x], a) - law_own[x]*norm_mean[q, x]
adjoint_U[f, g] = sum(T[a]*of_block[f, a], a)*sum(met_all[a]*swap[g, a], a)*met_all[f]  # adjoint_U
# adjoint_met_all
adjoint_met_all[f] = (sum(sum(met_all[b]*swap[a, b], b)*U[f, a], a)*sum(T[a]*of_block[f, a], a)
    + sum(sum(T[b]*of_block[a, b], b)*sum(U[a, b]*swap[b, f], b)*met_all[a], a))
adjoint_h_left[i] = on_views[i]  # adjoint_h_left
adjoint_norm_left[p, x] = sum(D[p, a, x]*adjoint_put_left[a, x], a)  # adjoint_norm_left
adjoint_matrix_U[f, g] = sum(sum(U[g, b]*adjoint_U[a, b], b)*U[a, f], a)  # adjoint_matrix_U
# adjoint_field_views
adjoint_field_views[i] = (sum(added_views[a, i]*adjoint_on_views[a], a)
    + sum(adjoint_met_all[a]*earlier_left_seen[a, i], a) + on_left[i])
adjoint_j_H[d, p] = sum(adjoint_h_left[a]*seen[d, p, a], a)  # adjoint_j_H
# adjoint_earlier_field
adjoint_earlier_field[f, i] = sum(sum(earlier_left_seen[b, i]*swap[a, b], b)*adjoint_matrix_U[a, f], a)
# adjoint_earlier_left_seen
adjoint_earlier_left_seen[f, i] = (sum(sum(adjoint_matrix_U[b, a]*swap[b, f], b)*earlier_field[a, i], a)
    + adjoint_met_all[f]*field_views[i])
adjoint_h_right[i] = sum(Z[a, i]*adjoint_field_views[a], a)  # adjoint_h_right
# adjoint_on_samples
adjoint_on_samples[i] = -sum(sum(Z[b, a]*adjoint_field_views[b], b)*mean_views[a, i], a) + adjoint_on_views[i]
adjoint_H_left[b, p] = sum(adjoint_j_H[a, p]*j_along[b, a], a)  # adjoint_H_left
# adjoint_Z
adjoint_Z[i, j] = (-sum(sum(earlier_seen[a, b]*mean_views[j, b], b)*adjoint_earlier_field[a, i], a)
    - sum(mean_views[j, a]*on_samples[a], a)*adjoint_field_views[i] + adjoint_field_views[i]*h_right[j])
# adjoint_earlier_seen
adjoint_earlier_seen[f, i] = -sum(sum(Z[a, b]*mean_views[b, i], b)*adjoint_earlier_field[f, a], a)
# adjoint_earlier_left
adjoint_earlier_left[f, q, x] = (-sum(sum(adjoint_matrix_U[b, a]*swap[b, f], b)*earlier_mean[a, q, x], a)*law_own[x]
    + sum(sum(law_t[b, x]*place[b, q, a], b)*adjoint_earlier_left_seen[f, a], a)
    - adjoint_met_all[f]*law_own[x]*norm_mean[q, x])
adjoint_H_j[d, p] = sum(adjoint_h_right[a]*seen[d, p, a], a)  # adjoint_H_j
adjoint_put_back[p, x] = sum(sum(adjoint_on_samples[b]*place[a, p, b], b)*law_t[a, x], a)  # adjoint_put_back
adjoint_matrix_Z[i, j] = sum(sum(Z[j, b]*adjoint_Z[a, b], b)*Z[a, i], a)  # adjoint_matrix_Z
# adjoint_earlier_back
adjoint_earlier_back[f, p, x] = sum(sum(law_t[b, x]*place[b, p, a], b)*adjoint_earlier_seen[f, a], a)
adjoint_H[c, p] = sum(adjoint_H_j[a, p]*j_along[c, a], a)  # adjoint_H
# adjoint_j_along
adjoint_j_along[b, d] = (sum(H[b, a]*adjoint_H_j[d, a], a) + sum(H_left[b, a]*adjoint_j_H[d, a], a)
    + 2*sum(M[a, b]*j_along[a, d], a))
# adjoint_norm_mean
adjoint_norm_mean[p, x] = (-sum(F[a, p, x]*adjoint_put_back[a, x], a)
    - sum(adjoint_met_all[a]*earlier_left[a, p, x], a)*law_own[x] - law_own[x]*put_left[p, x])
# adjoint_added_views
adjoint_added_views[i, j] = -sum(adjoint_matrix_Z[a, j]*mean_views[a, i], a) + adjoint_on_views[i]*field_views[j]
# adjoint_mean_views
adjoint_mean_views[i, j] = (-sum(sum(adjoint_earlier_field[b, a]*earlier_seen[b, j], b)*Z[a, i], a)
    - sum(Z[a, i]*adjoint_field_views[a], a)*on_samples[j] - sum(added_views[j, a]*adjoint_matrix_Z[i, a], a))
# adjoint_earlier_mean
adjoint_earlier_mean[f, p, x] = (-sum(sum(earlier_left[b, p, x]*swap[a, b], b)*adjoint_matrix_U[a, f], a)*law_own[x]
    - sum(F[a, p, x]*adjoint_earlier_back[f, a, x], a))
# adjoint_norm_right
adjoint_norm_right[p, x] = sum(Res_at[a, p, x]*adjoint_norm_mean[a, x], a) + adjoint_put_back[p, x]
# adjoint_X_along
adjoint_X_along[e, p, q] = sum(sum(adjoint_added_views[b, a]*place_left[e, p, b], b)*place_right[e, q, a], a)
# adjoint_F
adjoint_F[p, q, x] = (sum(adjoint_X_along[a, p, q]*law_along[a, x], a)
    + sum(adjoint_X_own[a, p, q]*of_step[a, x], a)*law_tr[x] - sum(adjoint_earlier_back[a, p, x]*earlier_mean[a, q, x],
    a) - adjoint_put_back[p, x]*norm_mean[q, x])
# adjoint_D
adjoint_D[p, q, x] = (sum(adjoint_F[a, q, x]*sample[a, p, x], a)
    + sum(adjoint_earlier_left[a, q, x]*earlier[a, p, x], a) + adjoint_put_left[q, x]*norm_left[p, x])
adjoint_matrix_D[p, q, x] = sum(sum(D[q, b, x]*adjoint_D[a, b, x], b)*D[a, p, x], a)  # adjoint_matrix_D
# adjoint_Res_at
adjoint_Res_at[p, q, x] = (sum(adjoint_earlier_mean[a, p, x]*earlier[a, q, x], a)
    - sum(adjoint_matrix_D[p, a, x]*sample[q, a, x], a) + adjoint_norm_mean[p, x]*norm_right[q, x])
adjoint_Res_own[s, p, q] = sum(adjoint_Res_at[p, q, a]*of_step[s, a], a)  # adjoint_Res_own
# adjoint_Res
adjoint_Res[p, q] = (sum(sum(sum(adjoint_mean_views[c, b]*mean_left[a, p, c], c)*mean_right[a, q, b], b), a)
    + sum(sum(sum(adjoint_Res_own[c, b, a]*own_rows[c, a, q]*own_rows[c, b, p], c), b), a))
# adjoint_G
adjoint_G[i, j] = (sum(sum(adjoint_H[b, a]*first[b, j], b)*inside[a, i], a)
    - sum(sum(adjoint_H_left[b, a]*last[b, i], b)*out[j, a], a)
    + sum(sum(adjoint_M[b, a]*first[b, j], b)*last[a, i], a)/2
    + sum(sum(adjoint_M[b, a]*last[b, i], b)*first[a, j], a)/2
    + sum(sum(adjoint_Res[b, a]*inside[b, i], b)*out[j, a], a)
    + sum(sum(sum(X[b, c]*inside[c, i], c)*upper[a, b], b)*adjoint[a]*last[a, j], a))
adjoint_matrix_G[i, j] = sum(sum(G[j, b]*adjoint_G[a, b], b)*G[a, i], a)  # adjoint_matrix_G
# adjoint_X
adjoint_X[p, q] = (-sum(sum(adjoint_matrix_G[b, a]*out[b, p], b)*inside[q, a], a)
    + sum(sum(sum(G[b, c]*last[a, c], c)*inside[q, b], b)*adjoint[a]*upper[a, p], a))
# adjoint_out
adjoint_out[i, p] = (sum(sum(G[b, i]*inside[a, b], b)*adjoint_Res[a, p], a)
    - sum(sum(G[b, i]*last[a, b], b)*adjoint_H_left[a, p], a)
    - sum(sum(X[p, b]*inside[b, a], b)*adjoint_matrix_G[i, a], a))
# adjoint
0 = (beta*adjoint[b]*fraction[b]/T[b]**2 - inverse_dimension*m[b]**2/T[b]**2
    + sum(sum(adjoint_out[c, a]*last[b, c], c)*upper[b, a], a)
    - sum(sum(sum(met_all[d]*swap[c, d], d)*U[a, c], c)*met_all[a]*of_block[a, b], a)
    - sum(sum(adjoint_norm_left[c, a]*along[b, c, a], c), a)*norm_hat[b] - chi[b]*norm_hat[b]**2 - Q2_hat[b]/beta)
0 = -alpha*E(avg_g*mu0[b]) + beta*inverse_dimension*m[b]/T[b]  # d/dm
# d/dV1_hat
Q1[b, c] = (sum(sum(adjoint_matrix_G[d, a]*first[b, d], d)*last[c, a], a)/2
    + sum(sum(adjoint_matrix_G[d, a]*first[c, d], d)*last[b, a], a)/2 - zeta[b]*zeta[c])
# dL/dT
T[b] = (beta*fraction[b]/(ridge - sum(sum(sum(X[c, d]*inside[d, a], d)*upper[b, c], c)*sum(G[a, c]*last[b, c], c), a)
    + V2_hat[b]))
V1[b, c] = M[b, c]/beta  # d/dQ1_hat
# d/dnorm_hat
norm[b] = (sum(adjoint_met_all[a]*tie_last[a, b], a)/2 + sum(sum(adjoint_norm_left[c, a]*along[b, c, a], c), a)*T[b]/2
    + sum(sum(adjoint_norm_right[c, a]*along[b, c, a], c), a)/2 + T[b]*chi[b]*norm_hat[b])
psi_1[b] = sum(adjoint_j_along[b, a]*mix_1[a], a)/2  # d/dpsi_hat_1
psi_2[b] = sum(adjoint_j_along[b, a]*mix_2[a], a)/2  # d/dpsi_hat_2
zeta[b] = sum(adjoint_j_along[b, a]*gamma[a], a)/2  # d/dzeta_hat
X_own[s, p, q] = sum(F[p, q, a]*law_tr[a]*of_step[s, a], a)  # X_own
adjoint_X_own[s, p, q] = sum(sum(adjoint_X[b, a]*own_rows[s, p, b], b)*own_rows[s, q, a], a)  # adjoint_X_own
"""
COLUMNS = ('kappa', 'weight', 'nu0', 'nu1_1', 'nu1_2', 'nu2sq')
CERTIFICATE = ArrayCertificate(EQUATIONS, COLUMNS, odd=('avg_g', 'avg_t_1g', 'avg_t_2g'),
    features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
check = CERTIFICATE.check


RULES = """
d_avg_M := -avg_g*d_mean - avg_gg*d_V/2 + avg_h*d_Delta/2 - avg_t_1g*d_slope_1 - avg_t_2g*d_slope_2
d_avg_g := -avg_gh*d_V - avg_h*d_mean - avg_hx*d_Delta/2 - avg_t_1h*d_slope_1 - avg_t_2h*d_slope_2
d_avg_gg := -2*avg_ggh*d_V - 2*avg_gh*d_mean - avg_ghx*d_Delta - 2*avg_t_1gh*d_slope_1 - 2*avg_t_2gh*d_slope_2
d_avg_h := avg_ghx*d_V + avg_hx*d_mean + avg_hxx*d_Delta/2 + avg_t_1hx*d_slope_1 + avg_t_2hx*d_slope_2
d_avg_l := ((V*avg_ggh - avg_gg)*d_V + (V*avg_gh - avg_g)*d_mean + (V*avg_ghx/2 + avg_h/2)*d_Delta
    + (V*avg_t_1gh - avg_t_1g)*d_slope_1 + (V*avg_t_2gh - avg_t_2g)*d_slope_2)
d_avg_t_1g := -avg_t_1gh*d_V - avg_t_1h*d_mean - avg_t_1hx*d_Delta/2 - avg_t_1t_1h*d_slope_1 - avg_t_1t_2h*d_slope_2
d_avg_t_2g := -avg_t_1t_2h*d_slope_1 - avg_t_2gh*d_V - avg_t_2h*d_mean - avg_t_2hx*d_Delta/2 - avg_t_2t_2h*d_slope_2
d_G[i, j] := (-sum(sum(sum(sum(X[c, d]*inside[d, a], d)*d_out[b, c], c)*G[i, b], b)*G[a, j], a)
    - sum(sum(sum(sum(d_V1_hat[c, d]*last[d, a], d)*first[c, b], c)*G[i, b], b)*G[a, j], a)
    - sum(sum(sum(sum(d_X[c, d]*inside[d, a], d)*out[b, c], c)*G[i, b], b)*G[a, j], a))
d_D[p, q, x] := (-sum(sum(sum(Res_at[b, c, x]*d_sample[c, a, x], c)*D[p, b, x], b)*D[a, q, x], a)
    - sum(sum(sum(d_Res_at[b, c, x]*sample[c, a, x], c)*D[p, b, x], b)*D[a, q, x], a))
d_Z[i, j] := (-sum(sum(sum(added_views[c, a]*d_mean_views[b, c], c)*Z[i, b], b)*Z[a, j], a)
    - sum(sum(sum(d_added_views[c, a]*mean_views[b, c], c)*Z[i, b], b)*Z[a, j], a))
d_U[f, g] := (-sum(sum(sum(sum(sum(d_earlier_left[c, e, d]*earlier_mean[a, e, d], e)*law_own[d], d)*swap[b, c], c)*U[f,
    b], b)*U[a, g], a) - sum(sum(sum(sum(sum(d_earlier_mean[a, e, d]*earlier_left[c, e, d], e)*law_own[d], d)*swap[b,
    c], c)*U[f, b], b)*U[a, g], a) + sum(sum(sum(sum(d_earlier_field[a, d]*earlier_left_seen[c, d], d)*swap[b, c],
    c)*U[f, b], b)*U[a, g], a) + sum(sum(sum(sum(d_earlier_left_seen[c, d]*earlier_field[a, d], d)*swap[b, c], c)*U[f,
    b], b)*U[a, g], a))
"""
OBSERVABLES = """
test_error := E((-mean + nu0)**2 + (nu1_1 - slope_1)**2 + (nu1_2 - slope_2)**2 + Delta + nu2sq)
train_error := E(avg_l)
free_energy := (alpha*E(avg_M) + beta*inverse_dimension*sum(m[b]**2/(2*T[b]), b)
    + beta*(sum(sum(norm_mean[b, a]*put_left[b, a], b)*law_own[a], a)/2 - sum(field_views[a]*on_left[a], a)/2
    - sum(h_left[a]*on_views[a], a)/2 - sum(sum(sum(met_all[c]*swap[b, c], c)*U[a, b], b)*sum(T[b]*of_block[a, b],
    b)*met_all[a], a)/2 - sum(T[a]*chi[a]*norm_hat[a]**2, a)/2 + sum(-Q2[b]*V2_hat[b] + Q2_hat[b]*V2[b], b)/2
    + sum(norm[b]*norm_hat[b] + psi_1[b]*psi_hat_1[b] + psi_2[b]*psi_hat_2[b] + zeta[b]*zeta_hat[b], b)
    - sum(sum(sum(j_along[a, c]*j_along[b, c], c)*M[a, b], b), a)/2 - sum(sum(V1_hat[b, c]*zeta[b]*zeta[c], b), c)/2
    + sum(sum(-Q1[b, c]*V1_hat[b, c] + Q1_hat[b, c]*V1[b, c], b), c)/2
    - (sum(Q2_hat[a]*T[a], a) + sum(sum(M[a, b]*Q1_hat[a, b], b), a))/(2*beta)))
slope_own[s, f, g, h, k] := (-sum(sum(D[b, g, a]*sample[k, b, a], b)*sum(D[b, h, a]*sample[f, b, a],
    b)*law_tr[a]*of_step[s, a]**2, a))
slope_Res[s, h, k, t, y, z] := (-sum(sum(sum(sum(inside[d, c]*own_rows[t, z, d], d)*G[c, b], c)*out[b, a],
    b)*own_rows[s, k, a], a)*sum(sum(sum(sum(out[c, d]*own_rows[t, y, d], d)*G[b, c], c)*inside[a, b], b)*own_rows[s,
    h, a], a))
"""
tangents = TangentEquations(Text(EQUATIONS, ('adjoint', 'm', 'Q1', 'T', 'V1', 'norm', 'psi_1', 'psi_2', 'zeta',
    'X_own', 'adjoint_X_own'), ('sample', 'base', 'chi', 'along', 'earlier', 'tie_last'), RULES, OBSERVABLES), COLUMNS,
    features=('mu0', 'mu1', 'mu2sq', 'mu_c'))
