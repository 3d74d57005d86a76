"""What learnable says about prices, bounds and activations, and the simulated steps beside it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import giantstep as gs
from giantstep.cli.main import main
from giantstep.functions import numpy_function
from giantstep.giant_simulation import GiantSteps
from giantstep.learnable_plot import rendered_overlaps
from giantstep.simulate import SimulationError
from giantstep.simulate.giant_steps import GiantStepSystem, _gradient, giant_steps
from giantstep.simulate.layer import sphere_rows

PHI0 = 1.0 / math.sqrt(2.0 * math.pi)


def model(link: str, activation: str = "tanh", bias: float = 0.0, **target: float) -> gs.Model:
    return gs.Model(
        network=gs.Network(activation, width=1.0, bias=bias),
        target=gs.Target(link, **target),
        fit=gs.Fit(samples=1.0, ridge=0.1),
    )


def test_prices_of_a_staircase() -> None:
    found = gs.learnable("z1+z1*z2*z3").to_dict()
    first, second = found["stages"]
    assert (first["samples"], first["step_size"], first["sgd"], first["kernel"]) == ("d", "p", "d", ["d"])
    assert (second["samples"], second["step_size"], second["sgd"]) == ("d^2", "p d^(1/2)", "d log d")
    # a kernel cannot use that z1 is known: z2 and z3 are held by C_3 only
    assert second["kernel"] == ["d^3", "d^3"]
    assert found["kernel"] == [{"samples": "d", "names": ["z1"]}, {"samples": "d^3", "names": ["z2", "z3"]}]


@pytest.mark.parametrize(
    ("link", "degrees"), [("z1+z1*z2", [1, 2]), ("z1*z2*z3", [3, 3, 3]), ("z1+z1*z2+z1*z2*z3", [1, 2, 3])]
)
def test_kernels_need_the_degree_that_holds_a_direction(link: str, degrees: list[int]) -> None:
    found = gs.learnable(link)
    assert [k for stage in found.stages for k in stage.kernel] == degrees


@pytest.mark.parametrize(
    ("link", "errors"),
    [
        ("z1+z1*z2", [2.0, 1.0, 0.0]),
        ("sign(z1)+sign(z1*z2*z3)", [2.0, 1.0, 0.0]),
        ("sign(z1*z2*z3)", [1.0, 0.0]),
        # max = (s + |t|)/sqrt 2 for the sum s and the difference t
        ("max(z1,z2)", [1.0 - 1.0 / math.pi, 0.5 * (1.0 - 2.0 / math.pi), 0.0]),
        # E f | z2 = E relu z2, and E relu^2 = 1/2
        ("relu(z1)*z2", [0.5, 0.5 - PHI0**2, 0.0]),
        ("(z1+z2)+(z1+z2)*(z1-z2)", [6.0, 4.0, 0.0]),
        # P(sign is +|z3) by Gauss' law of z1 z2: left to the two quadratures, and to the limit of one
        ("z1+tanh(z1*z2)", [1.2773959452672132, 0.2773959452672132, 0.0]),
    ],
)
def test_bounds_on_what_a_readout_can_do(link: str, errors: list[float]) -> None:
    found = gs.learnable(link)
    assert [found.variance, *(s.error for s in found.stages)] == pytest.approx(errors, abs=1e-7)


def test_an_odd_activation_sees_odd_degrees_only() -> None:
    found = gs.learnable(model("z1+z1*z2"))
    assert found.seen is not None and [s.names for s in found.seen] == [("z1",)]
    assert found.missing_seen == ("z2",) and not found.sees_all
    assert found.error_seen == pytest.approx(1.0)
    assert "tanh does not find z2" in str(found)
    assert gs.learnable(model("z1+z1*z2", bias=0.5)).sees_all


def test_relu_is_blind_for_odd_degrees_above_one() -> None:
    assert gs.learnable(model("z1+z1*z2+z1*z2*z3", "relu")).missing_seen == ("z3",)
    found = gs.learnable(model("He(3,z)", "relu"))
    assert found.seen == () and found.error_seen == pytest.approx(6.0)
    # at a variance other than one a bias brings the third degree back
    assert gs.learnable(model("He(3,z)", "relu", bias=0.5)).sees_all


def test_a_polynomial_activation_sees_no_more_than_its_degree() -> None:
    assert gs.learnable(model("z1*z2*z3", "z**2+z")).missing_seen == ("z1", "z2", "z3")
    assert gs.learnable(model("z1*z2*z3", "z**3")).sees_all
    # He_3 has no linear coefficient at the start, but has one at any other variance
    assert gs.learnable(model("z1", "He(3,z)")).seen == ()


def test_terms_of_the_population_overlap() -> None:
    found = {o.order: o for o in gs.learnable(model("z**2+2*z", "relu")).overlap}
    assert found[1].activation == pytest.approx(0.5, abs=1e-14)
    assert found[1].target == pytest.approx(2.0)
    assert found[2].activation == pytest.approx(PHI0 / math.sqrt(2.0), abs=1e-14)
    assert found[2].product == pytest.approx(PHI0)
    assert set(found) == {1, 2}


def test_probit_noise_widens_the_link_and_keeps_the_bound() -> None:
    """E[sign(z + n) | z] = erf(z/sqrt 2) at a variance of one, whose first coefficient is 1/sqrt(pi)."""
    noisy, clean = gs.learnable(model("sign", probit=1.0)), gs.learnable(model("erf(z/sqrt(2))"))
    assert [o.target for o in noisy.overlap] == pytest.approx([o.target for o in clean.overlap], abs=1e-12)
    assert noisy.variance == pytest.approx(1.0)


def test_pure_noise_is_refused() -> None:
    with pytest.raises(gs.BadInput, match="do not depend"):
        gs.learnable(model("sign", flips=0.5))


def system(
    link: str, activation: str, orders: tuple[int, ...], groups: list[list[list[float]]], **more: float
) -> GiantStepSystem:
    from giantstep.link import link_values

    values = link_values(link)
    return GiantStepSystem(
        activation=numpy_function(activation),
        labels=lambda points, source: values(points),
        indices=len(groups[0][0]),
        groups=tuple(np.array(group) for group in groups),
        orders=orders,
        width=more.get("width", 1.0),
        bias=more.get("bias", 0.0),
        samples=more.get("samples", 16.0),
        rate=more.get("rate", 3.0),
    )


def test_the_gradient_is_that_of_the_loss() -> None:
    """Minus p u_k times the derivative of (1/2n) sum (y - f)^2 in w_k, by central differences."""
    small = system("z1*z2", "softplus(z)", (1,), [[[1.0, 0.0], [0.0, 1.0]]], bias=0.3)
    rows = sphere_rows(np.random.default_rng(1), 6, 5)
    signs = np.repeat([1.0, -1.0], 3)
    count = 40

    def loss(w: np.ndarray) -> float:
        x = np.random.default_rng(7).standard_normal((count, 5))
        f = small.activation(x @ w.T + 0.3)[0] @ signs / 6
        return float(np.sum((x[:, 0] * x[:, 1] - f) ** 2) / (2 * count))

    found = _gradient(small, rows, signs, count, np.random.default_rng(7))
    for place in [(0, 0), (2, 3), (5, 1)]:
        shift = np.zeros(rows.shape)
        shift[place] = 1e-5
        slope = (loss(rows + shift) - loss(rows - shift)) / 2e-5
        assert found[place] == pytest.approx(-slope * 6 * signs[place[0]], rel=1e-6, abs=1e-9)


def test_the_first_step_aligns_as_the_spike_does() -> None:
    """gamma = s1/sqrt(s1^2 + E y^2/alpha0), THEORY section 2; terms of order 1/d and the spread of 6 seeds are left."""
    found = giant_steps(system("sign(z)", "tanh", (1,), [[[1.0]]], samples=4.0), 300, 6)
    s1 = 2.0 * PHI0
    assert found.overlaps[:, 1, 0].mean() == pytest.approx(s1 / math.sqrt(s1**2 + 0.25), abs=0.02)
    assert found.overlaps[:, 0, 0].mean() < 4.0 * found.chance


def test_what_the_theory_says_is_found_is_found_and_nothing_else() -> None:
    """relu sees z1 z2 in one step of order 2; tanh, which is odd, stays at chance."""
    by_relu, by_tanh = (
        gs.learnable(model("z1*z2", name), dimension=64, seeds=3).simulation for name in ("relu", "tanh")
    )
    assert by_relu is not None and by_tanh is not None
    assert by_relu.mean[1, 0] > 0.9
    # the root mean square of a random plane is chance = 0.18; its spread is about a half of that
    assert by_tanh.mean[:, 0].max() < 3.0 * by_tanh.chance


@pytest.fixture(scope="module")
def staircase() -> GiantSteps:
    found = gs.learnable(model("z1+z1*z2", "relu"), dimension=128, seeds=4, steps=3).simulation
    assert found is not None
    return found


def test_a_staircase_is_climbed_step_by_step(staircase: GiantSteps) -> None:
    assert staircase.names == ("z1", "z2")
    first, second = staircase.mean[1], staircase.mean[3]
    assert first[0] > 0.9 and first[1] < 0.65 and second[0] > 0.9 and second[1] > 0.9
    assert staircase.found.batches == (32 * 128,) * 3


def test_seeds_do_not_depend_on_how_many_there_are(staircase: GiantSteps) -> None:
    fewer = gs.learnable(model("z1+z1*z2", "relu"), dimension=128, seeds=1, steps=3).simulation
    assert fewer is not None
    np.testing.assert_array_equal(fewer.overlaps[0], staircase.overlaps[0])
    assert np.isnan(fewer.standard_error).all()


def test_what_cannot_be_simulated_is_refused_before_the_work() -> None:
    big = system("z1*z2*z3", "relu", (3,), [np.eye(3).tolist()])
    with pytest.raises(SimulationError, match="largest dimension that fits"):
        giant_steps(big, 2000, 1)
    with pytest.raises(SimulationError, match="bytes"):
        giant_steps(big, 60, 1, memory_limit_bytes=10_000)
    with pytest.raises(SimulationError, match="too small"):
        giant_steps(big, 5, 1)
    with pytest.raises(gs.BadInput, match="delta function"):
        gs.learnable(model("z1*z2", "sign"), dimension=50)
    with pytest.raises(gs.BadInput, match="no network"):
        gs.learnable("z1*z2", dimension=50)
    for wrong in ({"samples": 0.0}, {"rate": math.nan}, {"steps": 0}, {"seeds": 0}, {"steps": 1000}):
        with pytest.raises(gs.BadInput):
            gs.learnable(model("z"), dimension=50, **wrong)  # type: ignore[arg-type]


EXAMPLE = str(Path(__file__).parents[1] / "examples" / "tanh_sign.toml")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "overlaps.png"
    command = ["learnable", EXAMPLE, "--set", "target.link=z1 + z1*z2*z3"]
    assert (
        main([*command, "--json", "--simulate", "--dimension", "24", "--seeds", "2", "--plot", str(picture)])
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert (found["information_exponent"], found["leap"]) == (1, 2)
    assert np.shape(found["simulation"]["mean"]) == (4, 2)
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "leap                  2" in text and "p d^(1/2)" in text


@pytest.mark.parametrize(
    "options",
    [
        ["--simulate"],
        ["--plot", "x.png"],
        ["--set", "target.link=sign(z1"],
        ["--simulate", "--dimension", "1"],
    ],
)
def test_the_command_refuses(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learnable", EXAMPLE, *options]) == 2
    assert capsys.readouterr().err.startswith("giantstep: ")


def test_a_picture_needs_a_simulation() -> None:
    with pytest.raises(gs.BadInput, match="no simulated overlaps"):
        rendered_overlaps([gs.learnable("z1*z2")])
