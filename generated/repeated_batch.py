"""A second giant step on the batch of the step before  [THEORY section 12].

Averages are sums over N nodes of a sample of the batch with the weights weight [N]; kappa_v [q, N], t [m, N]: its
coordinates along the spike before both steps and along the rest of the target; e_0, F_0 [N]: residual and output at the
first step; D [K, N]: E sigma' of the blocks there; given the sample the averages over the rows at the second step S_0
[K, N] of sigma, S_1 of sigma', S_2 of sigma'', S_g of g sigma', S_s of sigma' in both steps, S_q of sigma'^2. c [K]:
bulk variances before both steps; u, pi [K]: values of the readout and their fractions; delta, varsigma [K]: what the
first step has done to the bulk; A, A_2: rates. The noise of two blocks has the product sum_n weight_n xi_bn xi_cn.

Generated; do not edit. Signature 1631b184b14b2633, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "1631b184b14b2633c2053c18eb250fd0b2fd36ca79e8e197419b5549fa6a7726"


def own_term(e_0, u, A, alpha_0):
    """What samples have added to their own pre-activations, [K, N], over the slopes then."""
    own = A/alpha_0*np.einsum('b,n->bn', u, e_0)
    return own


def samples(weight, kappa_v, t, e_0, F_0, D, S_0, S_1, S_2, S_g, S_s, S_q, u, pi):
    """The common weights phi and G [K, N] of samples in both steps, and sums over samples for ``rows``."""
    e_1 = F_0 + e_0 - np.einsum('b,b,bn->n', pi, u, S_0)
    phi = np.einsum('bn,n->bn', D, e_0)
    G = np.einsum('bn,n->bn', S_1, e_1)
    G_v = np.einsum('n,bn,en->be', weight, G, kappa_v)
    G_t = np.einsum('n,bn,in->bi', weight, G, t)
    pair = np.einsum('n,bn,cn->bc', weight, S_1, S_1)
    turn = np.einsum('n,bn,n->b', weight, S_2, e_1)
    tilt = np.einsum('n,bn,n->b', weight, S_g, e_1)
    memory = np.einsum('n,bn,n,n->b', weight, S_s - D*S_1, e_0, e_1)
    own = np.einsum('n,n,bn->b', weight, e_1**2, S_q - S_1**2)
    return phi, G, (G_v, G_t, pair, turn, tilt, memory, own)


def rows(identity, c, u, pi, delta, varsigma, A, A_2, alpha_0, sums):
    """What the second step adds: P_2 [K, q], P_t2 [K, m]; J [K, K]; delta_2, varsigma_2 [K] of both steps."""
    G_v, G_t, pair, turn, tilt, memory, own = sums
    P_2 = A_2*np.einsum('b,be->be', u, G_v)
    P_t2 = A_2*np.einsum('b,bi->bi', u, G_t)
    J = np.einsum('b,bc->bc', turn, identity) - np.einsum('c,c,bc->bc', pi, u, pair)
    delta_2 = A_2*(c**-0.5)*tilt*u + delta
    varsigma_2 = (
        ((1.0 + A_2*turn*u)**2)*varsigma + A_2*(A_2/alpha_0*own*u + 2.0*A/alpha_0*memory*u +
        2.0*A*A_2/alpha_0*(u**2)*memory*turn)*u
    )
    return P_2, P_t2, J, delta_2, varsigma_2


def noise(phi, G, J, u, A, A_2, alpha_0):
    """The noise xi [K, N] of the rows of every block after both steps, of samples with the weights phi and G."""
    xi = (
        (alpha_0**-0.5)*(A*np.einsum('b,bn->bn', u, phi) + A_2*np.einsum('bn,b->bn', A*np.einsum('c,bc,cn->bn', u, J,
        phi) + G, u))
    )
    return xi
