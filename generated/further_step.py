"""The map of a giant gradient step of a first layer that has a spike  [THEORY section 12].

Averages are sums over N nodes of kappa with the weights weight [N]; kappa_v [q, N]: coordinates along the spike;
y_1, y_2 [N], y_t [m, N]: E y, E y^2, E y t of the clean label there; mu0, h_1, h_2 [K, N]: E He_n(g) sigma of the
blocks, D_2 [K, N]: E sigma'^2. L [K, q], c [K]: loadings and bulk variances before the step; u, pi [K]: values of the
readout and their fractions. Rows gain P along the spike, ``across`` along theta_perp, and noise, of which two blocks
have in common what has the product sum_n weight_n xi_bn xi_cn; their bulk moves along itself by its share delta, and
gains the square varsigma across it.

Generated; do not edit. Signature 67e8d7b2f67a7c5d, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "67e8d7b2f67a7c5d6e64c39450eae18c8902d2b1f6a8273dfef181722763f46f"


def gradient(weight, kappa_v, y_1, y_t, y_2, mu0, h_1, h_2, D_2, c, u, pi, A, alpha_0, noise, flips):
    """What a step of rate A adds: P [K, q], across [K, m], noise xi [K, N]; delta, varsigma [K] of the bulk."""
    F = np.einsum('b,b,bn->n', pi, u, mu0)
    e_1 = y_1 - F - 2.0*flips*y_1
    e_t = y_t - 2.0*flips*y_t
    e_2 = noise + F**2 + 4.0*flips*F*y_1 + y_2 - 2.0*F*y_1
    D = np.einsum('b,bn->bn', c**-0.5, h_1)
    D_g = np.einsum('b,bn->bn', c**-0.5, h_2)
    P = A*np.einsum('be,b->be', np.einsum('n,bn,n,en->be', weight, D, e_1, kappa_v), u)
    across = A*np.einsum('bi,b->bi', np.einsum('n,bn,in->bi', weight, D, e_t), u)
    xi = A*(alpha_0**-0.5)*np.einsum('n,bn,b->bn', e_2**0.5, D, u)
    delta = A*(c**-0.5)*np.einsum('n,bn,n->b', weight, D_g, e_1)*u
    varsigma = (A**2)/alpha_0*(u**2)*np.einsum('n,bn,n->b', weight, D_2 - D**2, e_2)
    return P, across, xi, delta, varsigma


def after_step(L, c, P, delta, varsigma):
    """Loadings [K, q] and bulk variances [K] after it."""
    loadings = L + P
    variance = ((1.0 + delta)**2)*c + varsigma
    return loadings, variance
