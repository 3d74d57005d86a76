"""What learnable says about prices, bounds and activations, and the simulated steps beside it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import giantstep as gs
from giantstep.cli.main import main
from giantstep.law.spike import spike_of
from giantstep.observe.learnable.simulated_steps import GiantSteps
from giantstep.simulate.errors import SimulationError
from giantstep.simulate.first_layer import sphere_rows
from giantstep.simulate.giant_steps import GiantStepSystem, correlations, giant_steps, without_growth
from giantstep.spec.expressions import numpy_function

PHI0 = 1.0 / math.sqrt(2.0 * math.pi)


def model(link: str, activation: str = "tanh", bias: float = 0.0, **target: float) -> gs.Model:
    return gs.Model(
        network=gs.Network(activation, width=0.5, bias=bias),
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
    seen = gs.learnable(model("He(3,z1)+z2", "He(3,z)")).seen
    assert seen is not None and [s.names for s in seen] == [("z1",), ("z2",)]


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
    from giantstep.spec.link import link_values

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


def test_the_gradient_is_that_of_the_correlation() -> None:
    """The derivative of the mean of y sigma(w_k.x + bias) in w_k, by central differences."""
    small = system("z1*z2", "softplus(z)", (1,), [[[1.0, 0.0], [0.0, 1.0]]], bias=0.3)
    rows = sphere_rows(np.random.default_rng(1), 6, 5)

    def correlation(w: np.ndarray) -> np.ndarray:
        x = np.random.default_rng(7).standard_normal((40, 5))
        return np.mean((x[:, 0] * x[:, 1])[:, None] * small.activation(x @ w.T + 0.3)[0], axis=0)

    found = correlations(small, rows, 40, np.random.default_rng(7))
    for k, i in [(0, 0), (2, 3), (5, 1)]:
        shift = np.zeros(rows.shape)
        shift[k, i] = 1e-5
        slope = (correlation(rows + shift) - correlation(rows - shift))[k] / 2e-5
        assert found[k, i] == pytest.approx(slope, rel=1e-6, abs=1e-9)


def test_growth_of_a_row_is_left_out_and_what_it_looks_for_is_not() -> None:
    source = np.random.default_rng(3)
    found, new = np.eye(30)[0], np.eye(30)[1]
    rest = np.column_stack([np.zeros((12, 2)), sphere_rows(source, 12, 28)])
    rows = np.sqrt(0.8) * np.outer(np.repeat([1.0, -1.0], 6), found) + np.sqrt(0.2) * rest
    pull = np.outer(source.standard_normal(12), new)
    np.testing.assert_allclose(without_growth(pull + 5.0 * rows, rows, 1), pull, atol=1e-12)
    # neither is what pulls along what has been found, but for what random rows mix into its singular vector
    along = np.outer(source.standard_normal(12), found)
    np.testing.assert_allclose(without_growth(along, rows, 1), along, atol=0.5 * np.abs(along).max())


def test_the_first_step_aligns_as_the_spike_does() -> None:
    """A row is w + r v + bulk, THEORY section 2: overlap^2 = r^2 gamma^2/(r^2 + c), up to terms of order 1/d."""
    samples, rate = 4.0, 3.0
    found = giant_steps(system("sign(z)", "tanh", (1,), [[[1.0]]], samples=samples, rate=rate), 300, 6)
    spiked = model("sign").replace(
        {
            "network.readout.values": [1.0, -1.0],
            "network.readout.fractions": [0.5, 0.5],
            "step.samples": samples,
            "step.learning_rate": rate * 0.5,  # eta/d = (eta/p) (p/d)
        }
    )
    spike = spike_of(spiked)
    r, gamma, c = spike.strength, float(spike.alignments[0]), float(spike.bulk_variance[0])
    expected = math.sqrt(((r * gamma) ** 2 + c / 300) / (r**2 + c))
    mean, error = found.overlaps[:, 1, 0].mean(), found.overlaps[:, 1, 0].std(ddof=1) / math.sqrt(6)
    assert abs(mean - expected) < 4.0 * error + 2.0 / 300
    assert found.overlaps[:, 0, 0].mean() == pytest.approx(found.chance[0], abs=0.01)


def test_what_the_theory_says_is_found_is_found_and_nothing_else() -> None:
    """relu sees z1 z2 in one step of order 2; tanh, which is odd, stays at chance."""
    for name, low, high in (("relu", 0.7, 1.0), ("tanh", 0.0, 0.3)):
        found = gs.learnable(model("z1*z2", name), dimension=48, seeds=3).simulation
        assert found is not None
        assert found.chance == (pytest.approx(math.sqrt(2.0 / 48.0)),)
        assert low < found.mean[1:, 0].min() and found.mean[1:, 0].max() < high


def test_a_linear_number_of_samples_does_not_find_a_leap_of_two() -> None:
    """z2, z3 beside z1: found with d^2 samples; with a multiple of d their overlap falls like 1/sqrt(d)."""
    target = model("z1+z1*z2*z3")
    right = gs.learnable(target, dimension=64, seeds=3, steps=2).simulation
    few = [gs.learnable(target, dimension=d, seeds=3, steps=(1, 1), samples=16.0).simulation for d in (64, 512)]
    assert right is not None and few[0] is not None and few[1] is not None
    assert right.mean[1, 1] < 0.3 and right.mean[2, 1] > 0.5
    assert few[1].mean[2, 1] < 0.6 * few[0].mean[2, 1] < 0.3
    assert min(f.mean[2, 0] for f in few) > 0.9


@pytest.fixture(scope="module")
def staircase() -> GiantSteps:
    found = gs.learnable(model("z1+z1*z2", "relu"), dimension=128, seeds=4, steps=3).simulation
    assert found is not None
    return found


def test_a_staircase_is_climbed_step_by_step(staircase: GiantSteps) -> None:
    assert staircase.names == ("z1", "z2")
    first, second = staircase.mean[1], staircase.mean[3]
    assert first[0] > 0.7 and first[1] < 0.3 and second[0] > 0.9 and second[1] > 0.8
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
    for wrong in (
        {"samples": 0.0},
        {"rate": math.nan},
        {"steps": 0},
        {"seeds": 0},
        {"steps": 1000},
        {"steps": (1, 0)},
        {"steps": ()},
    ):
        with pytest.raises(gs.BadInput):
            gs.learnable(model("z"), dimension=50, **wrong)  # type: ignore[arg-type]


EXAMPLE = str(Path(__file__).parents[2] / "examples" / "tanh_sign.toml")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "overlaps.png"
    command = ["learnable", EXAMPLE, "--set", "target.link=z1 + z1*z2*z3"]
    assert main([*command, "--json", "--simulate", "--dimension", "24", "--seeds", "2", "--plot", str(picture)]) == 0
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
        ["--simulate", "--dimension", "40", "--steps", "1,x"],
        ["--set", "target.link=sign(z1"],
        ["--simulate", "--dimension", "1"],
    ],
)
def test_the_command_refuses(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learnable", EXAMPLE, *options]) == 2
    assert capsys.readouterr().err.startswith("giantstep: ")


def test_without_a_simulation_the_picture_is_the_staircase() -> None:
    """The error that is left falls where a step finds something; the model's own staircase is beside it."""
    model = gs.model("tanh", link="z1 + z1*z2 + z1*z2*z3")
    axes = gs.learnable(model).plot()
    every, own = (patch.get_data() for patch in axes.patches)
    assert list(every.values) == pytest.approx([3.0, 2.0, 1.0, 0.0, 0.0], abs=1e-9)
    assert list(own.values) == pytest.approx([3.0, 2.0, 0.0, 0.0], abs=1e-9)
    assert [text.get_text() for text in axes.texts][:3] == [f"$z_{{{n}}}$ with $d$ samples" for n in (1, 2, 3)]
    assert len(gs.learnable("z1*z2").plot().patches) == 1


@pytest.mark.parametrize(
    "link, samples",
    [
        ("z1*z2", 0.593751),  # THEORY section 15
        ("z**2", 0.5),
        ("He(3,z)", 0.0),  # labels have no mean along z, and yet tell its sign
        ("z1 + z1*z2", 0.0),
        ("abs(z1)*z2**2", None),  # labels that vary without noise and are no product of powers
    ],
)
def test_what_message_passing_finds_stands_beside_the_staircase(link: str, samples: float | None) -> None:
    found = gs.learnable(link)
    assert found.possible == (samples if samples is None else pytest.approx(samples, abs=2e-6))
    assert found.to_dict()["possible"] == found.possible
    assert ("message passing" in str(found).lower()) == (samples is not None)
