"""The Sherman-Morrison step: how taking the spike out of the quadratic form changes a resolvent."""

from __future__ import annotations

import sympy as sp

from derive.trace import Recorder


def sherman_morrison(resolvent: sp.Expr, weight: sp.Expr) -> sp.Expr:
    """``u.(A - x u u^T)^-1 u`` from ``I = u.A^-1 u`` and the weight x: the scalar ``I/(1 - x I)``.

    Solved from the defining linear system: with ``z = (A - x u u^T)^-1 u`` and ``q = u.z``, ``z = A^-1 u (1 + x q)``.
    Source: Sherman and Morrison (1950); used in [CUI24] eq. (108)-(116).
    """
    q = sp.Dummy("q")
    (root,) = sp.solve(sp.Eq(q, resolvent * (1 + weight * q)), q)
    return sp.factor(root)


def block_downdate(response: sp.MatrixExpr, weight: sp.MatrixExpr) -> sp.MatrixExpr:
    """The same for K blocks, where the spike couples to each: ``(I^-1 - X)^-1`` for the K x K response I."""
    return sp.Inverse(sp.MatAdd(sp.Inverse(response), sp.MatMul(-1, weight)).doit()).doit()


def record_downdate(trace: Recorder, spikes: int = 1) -> None:
    """Record the scalar identity and its value on the isotropic bulk, where the downdated response is T itself.

    Of several directions each is taken out in turn: on the isotropic bulk ``v_i^T W^T A^-1 W v_j`` vanishes for i != j.
    """
    scalar, weight = sp.Symbol("I"), sp.Symbol("Vhat_1")
    trace.record(
        "Sherman-Morrison", sp.Symbol("I_perp"), sherman_morrison(scalar, weight), kind="definition",
        source="[CUI24] eq. (108)-(116)",
        rule="the rank-one downdate of $WW^T$ by $(Wv)(Wv)^T$; $I=v^TW^TA^{-1}Wv$ before it",
    )  # fmt: skip
    size = sp.Symbol("K", integer=True, positive=True)
    t, v = sp.MatrixSymbol("T", size, size), sp.MatrixSymbol("Vhat_1", size, size)
    before = sp.Inverse(sp.MatAdd(sp.Inverse(t), v))
    after = block_downdate(before, v)
    if after != t:
        raise ValueError(f"the downdate of M on the isotropic bulk gave {after}, not T")
    trace.record(
        "Sherman-Morrison on the isotropic bulk", sp.Inverse(sp.MatAdd(sp.Inverse(before), -v, evaluate=False)), after,
        rule="$I=M$ there, so that the response along the spike is $T$ and along every other direction $M$",
        source="THEORY section 4", kind="result",
    )  # fmt: skip
    if spikes > 1:
        _record_several(trace, spikes)


def _record_several(trace: Recorder, spikes: int) -> None:
    """Projecting out q orthonormal directions: ``(I^-1 - V1_hat x 1)^-1`` of the Kq x Kq response ``I = M x 1_q``."""
    t, x = sp.symbols("T Vhat_1", positive=True)
    response = sp.eye(spikes) / (1 / t + x)
    after = (response.inv() - x * sp.eye(spikes)).inv().applyfunc(sp.simplify)
    if after != t * sp.eye(spikes):
        raise ValueError(f"the downdate of {spikes} directions on the isotropic bulk gave {after}, not T")
    trace.record(
        f"Sherman-Morrison-Woodbury, {spikes} directions", sp.Symbol("I_perp"), sp.MatMul(t, sp.Identity(spikes)),
        rule="taking out the orthonormal directions $v_j$ of the spike together: the isotropic bulk couples none, "
        "and the response along each is $T$",
        source="[CUI24] eq. (108)-(116) for one direction", kind="result",
    )  # fmt: skip


def record_variational_downdate(trace: Recorder) -> None:
    """Record the identity as a stationary value: the source before the downdate, x = I^-1 y, is extremised over.

    ``extr_{x, z} { x^2 I + 2 (h - x) z + w z^2 } = h^2 I/(1 - w I)``, for K blocks with matrices in place of I and w.
    """
    response, weight, h = sp.Symbol("I"), sp.Symbol("Vhat_1"), sp.Symbol("zeta_hat_perp")
    x, z = sp.Symbol("zeta_hat"), sp.Symbol("zeta")
    functional = x**2 * response + 2 * (h - x) * z + weight * z**2
    (root,) = sp.solve([sp.diff(functional, x), sp.diff(functional, z)], [x, z], dict=True)
    value = sp.factor(functional.subs(root))
    trace.record(
        "Sherman-Morrison", sp.Symbol("I_perp"), sherman_morrison(response, weight), kind="definition",
        source="[CUI24] eq. (108)-(116)",
        rule="the rank-one downdate of $WW^T$ by $(Wv)(Wv)^T$; $I=v^TW^TA^{-1}Wv$ before it",
    )  # fmt: skip
    trace.record(
        "Sherman-Morrison as an extremum", value, h**2 * sherman_morrison(response, weight), source="THEORY section 5",
        rule="stationarity of $I\\hat{\\zeta}^2+2(\\hat{\\zeta}_{\\perp}-\\hat{\\zeta})\\zeta"
        "+\\hat{V}^{(1)}\\zeta^2$ in $\\hat{\\zeta}$ and $\\zeta$: the source of the whole bulk and the overlap are "
        "kept instead of the resolvent after the downdate", kind="result",
    )  # fmt: skip
    before, scalar = functional.subs(root), sp.factor(root[z] / h)
    if sp.simplify(before - h**2 * scalar) != 0 or sp.simplify(scalar - sherman_morrison(response, weight)) != 0:
        raise ValueError(f"the extremum {value} is not that of the downdate")
