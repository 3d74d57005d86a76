"""Theory against simulation of the spiked random features, at the simulated dimension.

Error model: the mean over seeds has the standard error that the seeds show; the theory with ``dimension`` has left out
only terms of order 1/d that do not grow with the overlap m, which at these sizes are below that. So |z| < 4.
"""

import pytest

from giantstep import Model, simulate, solve
from giantstep.observe.finite_system import at_dimension

# activation, width, readout values; link, noise; alpha, ridge; step (alpha0, rate) or spike (r, gamma, c)
MODELS = {
    "odd, smooth": ("tanh", 1.0, [1.0], "tanh", 0.0, 2.0, 0.05, ("step", 2.0, 1.0)),
    "discontinuous link": ("tanh", 0.5, [1.0], "sign", 0.0, 1.5, 0.1, ("step", 4.0, 1.0)),
    "discontinuous both": ("sign", 1.0, [1.0], "sign", 0.0, 2.0, 0.1, ("spike", 1.5, 0.8, 1.2)),
    "not odd": ("relu", 2.0, [1.0], "relu", 0.0, 1.0, 0.1, ("step", 1.0, 1.0)),
    "noise": ("erf", 1.0, [1.0], "tanh", 0.3, 3.0, 0.2, ("step", 1.0, 2.0)),
    "kinked, biased link": ("hard_tanh", 0.5, [1.0], "softplus", 0.1, 2.0, 0.1, ("step", 2.0, 1.5)),
    "wide": ("silu", 2.0, [1.0], "gelu", 0.0, 2.0, 0.05, ("spike", 1.0, 0.9, 1.1)),
    "plain random features": ("relu", 1.0, [1.0], "tanh", 0.0, 2.0, 0.1, None),
    "weak spike": ("tanh", 0.5, [1.0], "sign", 0.0, 4.0, 0.1, ("step", 16.0, 0.3)),
    "two blocks": ("tanh", 1.0, [1.0, 0.3], "sign", 0.0, 2.0, 0.1, ("step", 2.0, 2.0)),
    "two blocks, opposite": ("relu", 2.0, [1.0, -1.0], "quadratic", 0.1, 3.0, 0.2, ("spike", 1.5, 0.9, 1.2)),
    "two blocks, noise": ("softplus", 0.5, [1.0, 2.0], "step", 0.2, 2.0, 0.2, ("step", 1.0, 1.0)),
    "three blocks": ("tanh", 0.5, [1.0, -1.0, 0.3], "tanh", 0.0, 2.0, 0.05, ("step", 2.0, 2.0)),
    "three blocks, kinked": ("leaky_relu", 1.0, [1.0, -0.5, 0.5], "abs", 0.1, 2.0, 0.2, ("spike", 1.2, 0.7, 1.3)),
}


def model_of(name: str) -> Model:
    activation, width, values, link, noise, alpha, ridge, first = MODELS[name]
    readout = {"values": values, "fractions": [1 / len(values)] * len(values)}
    data = {
        "network": {"activation": activation, "width": width, "readout": readout},
        "target": {"link": link, "noise": noise},
        "fit": {"samples": alpha, "ridge": ridge},
    }
    if first and first[0] == "step":
        data["step"] = {"samples": first[1], "learning_rate": first[2]}
    elif first:
        data["spike"] = {"strength": first[1], "alignment": first[2], "bulk_variance": first[3]}
    return Model.from_dict(data)


def scores(model: Model, dimension: int, seeds: int, what: str = "srf") -> dict[str, float]:
    """z of the test and training error, against the theory at the simulated sizes."""
    found = simulate(model, dimension=dimension, seeds=seeds, what=what, seed=1).to_dict()
    theory = solve(at_dimension(model, dimension), dimension=dimension)
    return {
        name: (found[name]["mean"] - getattr(theory, name)) / found[name]["standard_error"]
        for name in ("test_error", "train_error")
    }


@pytest.mark.parametrize("name", MODELS)
def test_srf_at_400(name: str) -> None:
    found = scores(model_of(name), 400, 16)
    assert all(abs(z) < 4.0 for z in found.values()), found


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [400, 1000, 2000])
@pytest.mark.parametrize("name", MODELS)
def test_srf_at_larger_sizes(name: str, dimension: int) -> None:
    found = scores(model_of(name), dimension, {400: 32, 1000: 24, 2000: 16}[dimension])
    assert all(abs(z) < 4.0 for z in found.values()), found


def test_the_gap_to_the_limit_shrinks_and_is_explained() -> None:
    # the component of the readout along the constant direction adds m^2/p to its norm: large for a weak spike
    model = model_of("weak spike")
    limit = solve(model).test_error
    gaps, errors = [], []
    for dimension in (128, 512):
        found = simulate(model, dimension=dimension, seeds=24, what="gaussian").to_dict()["test_error"]
        gaps.append(found["mean"] - limit)
        errors.append(found["standard_error"])
        corrected = solve(model, dimension=dimension).test_error
        assert abs(found["mean"] - corrected) < 4.0 * found["standard_error"]
        assert abs(gaps[-1]) > 4.0 * errors[-1]
    assert gaps[0] - gaps[1] > 4.0 * (errors[0] ** 2 + errors[1] ** 2) ** 0.5


def test_the_network_follows_its_srf_model_where_the_batch_is_large() -> None:
    # the bulk of the network is not isotropic; with many samples in the batch it nearly is
    found = scores(model_of("weak spike"), 400, 16, what="network")
    assert all(abs(z) < 4.0 for z in found.values()), found
