"""Where a law takes rows of equal norm, and the features of the model feel that theirs differ."""

from __future__ import annotations

from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model

_SPREAD = 1e-9  # of the eigenvalues of the inputs, relative


def caution(model: Model) -> str:
    """What to say of a model whose rows have norms that its law leaves out; empty elsewhere.

    The squared norm of a row in whitened inputs varies by 2 (E x^2 - 1)/d from neuron to neuron, x the eigenvalues of
    mean one, that of a Gaussian row by 2/d. An activation with an even part feels it, and so does an odd one with a
    bias. [THEORY section 5, norms of rows]
    """
    of, network = _unequal(model), model.network
    if not of or (network.bias == 0.0 and function_kernel(network.activation).PARITY == "odd"):
        return ""
    what = "srf" if model.step is None else "network"
    return (
        f"the law takes rows of equal norm; {of} the norms differ, which this activation feels: both errors may be "
        f"off by tens of percent, and giantstep simulate --what {what} shows by how much"
    )


def _unequal(model: Model) -> str:
    """Why the norms of the rows differ without the law knowing it; empty where they do not."""
    if model.bulk in ("trained", "matrix"):
        return ""
    if model.network.initialisation == "gaussian":
        return "of Gaussian rows"
    if model.inputs is None:
        return ""
    x, share = model.inputs.eigenvalues_and_weights()
    return "with these inputs" if float(share @ x**2) > 1.0 + _SPREAD else ""
