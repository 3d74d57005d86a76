"""Pictures of learning curves: what is drawn is what the dataset holds."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.lines import Line2D

from giantstep.draw.curves import _apart, colours, figure, rendered
from giantstep.draw.plot import plot
from giantstep.draw.titles import described, known_as
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.sweep.dataset import Dataset
from giantstep.sweep.grid import Grid, Sweep

MODEL = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0},
        "step": {"samples": 2.0, "learning_rate": 1.5},
        "target": {"link": "tanh", "noise": 0.1},
        "fit": {"samples": 2.0, "ridge": 0.05},
    }
)
X = (0.5, 1.0, 2.0, 4.0)


def dataset(sweeps: tuple[Sweep, ...] = (Sweep("fit.samples", X),), **changes: Any) -> Dataset:
    """A made-up curve (or family) with all the columns a picture can show."""
    grid = Grid(sweeps)
    rows = np.arange(len(grid), dtype=float)
    theory = 0.5 - 0.01 * rows
    simulated = np.where(rows % 2 == 0, theory + 0.02, math.nan)
    columns: dict[str, Any] = {
        "test_error": theory,
        "train_error": theory / 2,
        "random_features_test_error": theory + 0.1,
        "best_linear_test_error": np.full(len(grid), 0.05),
        "finite_size_test_error": theory,
        "simulation_test_error": simulated,
        "simulation_test_error_standard_error": np.where(rows % 2 == 0, 0.03, math.nan),
        "status": ("ok",) * len(grid),
        "reason": ("",) * len(grid),
    }
    columns |= changes
    columns = {name: column for name, column in columns.items() if column is not None}
    options = {"dimension": 300, "tolerance": 1e-10, "simulation": {"what": "srf", "seeds": 7, "seed": 0}}
    return Dataset(MODEL, grid, columns, options, {})


def _drawn(data: Dataset, **options: Any) -> tuple[Any, list[Line2D]]:
    axes = figure(data, **options).axes[0]
    return axes, [line for line in axes.lines if len(np.atleast_1d(line.get_xdata()))]


def _legend(data: Dataset, **options: Any) -> list[str]:
    return [text.get_text() for text in figure(data, **options).legends[0].get_texts()]


def test_lines_and_points_are_the_columns() -> None:
    axes, lines = _drawn(dataset())
    solid = [line for line in lines if line.get_linestyle() == "-"]
    assert len(solid) == 1
    np.testing.assert_array_equal(solid[0].get_xdata(), X)
    np.testing.assert_array_equal(solid[0].get_ydata(), dataset().numbers("test_error"))
    dashed = [line for line in lines if line.get_linestyle() == "--"]
    assert any(np.array_equal(line.get_ydata(), dataset().numbers("random_features_test_error")) for line in dashed)
    assert any(np.array_equal(line.get_ydata(), np.full(4, 0.05)) for line in dashed)
    assert len({str(vars(line)["_unscaled_dash_pattern"]) for line in dashed}) == 2  # dashes tell them apart in grey


def test_error_bars_are_intervals_of_95_percent_and_say_so() -> None:
    axes, _ = _drawn(dataset())
    bars = next(one for one in axes.containers if isinstance(one, ErrorbarContainer) and len(one[0].get_xdata()))
    np.testing.assert_array_equal(bars[0].get_xdata(), [0.5, 2.0])
    segments = bars[2][0].get_segments()
    np.testing.assert_allclose(
        [part[1, 1] - part[0, 1] for part in segments], 2 * 2.4469 * 0.03, rtol=1e-4
    )  # Student's t of 6
    assert any("bars: 95 %" in text and "d = 300" in text and "7 seeds" in text for text in _legend(dataset()))


def test_simulation_stands_where_the_finite_system_is() -> None:
    at = np.array([0.51, math.nan, 1.99, math.nan])
    axes, _ = _drawn(dataset(finite_size_x=at))
    bars = next(one for one in axes.containers if isinstance(one, ErrorbarContainer) and len(one[0].get_xdata()))
    np.testing.assert_array_equal(bars[0].get_xdata(), [0.51, 1.99])


def test_legend_names_what_is_there_and_nothing_else() -> None:
    assert [text.split(" (")[0] for text in _legend(dataset())] == [
        "theory",
        "random features",
        "best linear predictor",
        "simulation",
    ]
    bare = dataset(simulation_test_error=None, random_features_test_error=None, best_linear_test_error=None)
    assert _legend(bare) == ["theory"]
    none = dataset(test_error=np.full(4, math.nan), finite_size_test_error=None)
    assert "theory" not in _legend(none)


def test_finite_size_theory_is_drawn_only_where_it_can_be_seen() -> None:
    y = dataset().numbers("test_error")
    assert not any("theory at d" in text for text in _legend(dataset(finite_size_test_error=y * 1.005)))
    assert "theory at d = 300" in _legend(dataset(finite_size_test_error=y * 1.05))
    gap = np.where(np.arange(4) == 2, math.nan, y)
    assert "theory at d = 300" in _legend(dataset(test_error=gap))


def test_a_point_without_a_number_is_a_gap() -> None:
    y = np.array([0.5, math.nan, 0.4, 0.3])
    _, lines = _drawn(dataset(test_error=y))
    solid = next(line for line in lines if line.get_linestyle() == "-")
    np.testing.assert_array_equal(solid.get_ydata(), y)


def test_axes_are_named_and_logarithmic_where_the_sweep_is() -> None:
    axes, _ = _drawn(dataset((Sweep("fit.ridge", X, log=True),)))
    assert axes.get_xscale() == "log" and "ridge" in axes.get_xlabel() and r"\lambda" in axes.get_xlabel()
    axes, _ = _drawn(dataset())
    assert axes.get_xscale() == "linear" and "n/d" in axes.get_xlabel() and "test error" in axes.get_ylabel()
    assert r"$\lambda = 0.05$" in axes.get_title("left")
    assert known_as("fit.penalty.l1") == (r"\mathrm{l1}", "parameter of the penalty")
    assert known_as("fit.loss.of_two") == (r"\mathrm{of\_two}", "parameter of the loss")
    assert known_as("fit.loss") == ("", "loss")


def test_a_baseline_with_a_peak_does_not_set_the_scale() -> None:
    peak = np.array([0.6, 1000.0, 0.6, 0.6])
    axes, _ = _drawn(dataset(random_features_test_error=peak))
    assert axes.get_yscale() == "linear" and axes.get_ylim()[1] < 2.0
    axes, _ = _drawn(dataset(test_error=np.array([0.5, 200.0, 0.5, 0.4]), finite_size_test_error=None))
    assert axes.get_yscale() == "log" and axes.get_ylim()[1] > 200.0
    # all error bars are inside
    axes, _ = _drawn(dataset(simulation_test_error_standard_error=np.full(4, 2.0)))
    assert axes.get_ylim()[1] > 4.5


def test_a_family_has_a_colour_a_marker_and_a_label_per_curve() -> None:
    family = dataset((Sweep("fit.samples", X), Sweep("network.width", (0.5, 1.0, 2.0))))
    axes, lines = _drawn(family)
    solid = [line for line in lines if line.get_linestyle() == "-"]
    assert len(solid) == 3 and len({str(line.get_color()) for line in solid}) == 3
    bars = [one for one in axes.containers if isinstance(one, ErrorbarContainer) and len(one[0].get_xdata())]
    assert len({one[0].get_marker() for one in bars}) == 3
    labels = [text.get_text() for text in axes.texts]
    assert len(labels) == 3 and all(r"\beta" in label for label in labels)
    many = dataset((Sweep("fit.samples", X), Sweep("network.width", tuple(float(i + 1) for i in range(40)))))
    assert len(_drawn(many)[0].texts) == 9


def test_many_curves_named_by_words_have_marks_on_their_lines_and_labels() -> None:
    """A ramp of colours orders numbers, but tells eight functions apart neither beside each other nor in grey."""
    names = ("tanh", "relu", "erf", "gelu", "cos")
    sweeps = Sweep("fit.samples", X), Sweep("network.activation", names)
    bare = {"simulation_test_error": None, "simulation_test_error_standard_error": None}
    lines = _drawn(dataset(sweeps, **bare))[1]
    on_lines = [line.get_marker() for line in lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 1]
    beside = [line.get_marker() for line in lines if line.get_linestyle() == "None"]
    assert len(set(on_lines)) == 5 and sorted(map(str, on_lines)) == sorted(map(str, beside))
    dashed = [line for line in lines if line.get_linestyle() == "--" and len(line.get_xdata()) > 1]
    of_each = [line.get_marker() for line in dashed if line.get_color() != "0.45"]
    assert of_each == on_lines  # random features
    simulated = [line for line in _drawn(dataset(sweeps))[1] if line.get_linestyle() == "-"]
    assert {line.get_marker() for line in simulated} <= {"", "None"}
    few = _drawn(dataset((sweeps[0], Sweep("network.activation", names[:3])), **bare))[1]
    assert {line.get_marker() for line in few} <= {"", "None"}


def test_colours_darken_steadily_so_that_grey_paper_tells_them_apart() -> None:
    luminance = [float(np.dot(colour[:3], [0.299, 0.587, 0.114])) for colour in colours(8)]
    assert (np.diff(luminance) < -0.02).all() and luminance[0] < 0.75


@pytest.mark.parametrize("heights", [[0.1], [0.0, 0.0, 0.0], [0.99, 1.0, 1.0], [0.2, 0.21, 0.9]])
def test_labels_keep_apart_and_move_little(heights: list[float]) -> None:
    moved = _apart([(height, 0, "") for height in heights], gap=0.05)
    assert (np.diff(moved) >= 0.05 - 1e-12).all() and moved[-1] <= 1.0
    assert np.abs(moved - heights).max() <= 0.05 * len(heights)


def test_functions_on_the_x_axis_are_names_and_not_joined() -> None:
    names = ("tanh", "erf(z/sqrt(2))", "relu")
    axes, lines = _drawn(dataset((Sweep("network.activation", names),)))
    assert [text.get_text() for text in axes.get_xticklabels()] == list(names)
    assert not [line for line in lines if line.get_linestyle() == "-"]


def test_odd_datasets_can_be_drawn() -> None:
    nothing = np.full(4, math.nan)
    everything_missing = dataset(
        test_error=nothing,
        random_features_test_error=nothing,
        best_linear_test_error=nothing,
        finite_size_test_error=nothing,
        simulation_test_error=nothing,
    )
    for data in (
        everything_missing,
        dataset((Sweep("fit.samples", (1.0,)),)),
        dataset(test_error=np.zeros(4), simulation_test_error=None),
        replace(dataset(), model=MODEL.replace({"target.link": "z*(1 + 0*z)" + "+0*z" * 30})),
    ):
        assert rendered(data, ".png")[:8] == b"\x89PNG\r\n\x1a\n"


def test_train_error_can_be_drawn() -> None:
    axes, lines = _drawn(dataset(), error="train_error")
    assert "train error" in axes.get_ylabel()
    assert any(np.array_equal(line.get_ydata(), dataset().numbers("train_error")) for line in lines)


@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_formats_are_what_they_say_and_carry_no_date(tmp_path: Path, suffix: str, magic: bytes) -> None:
    path = tmp_path / f"curve{suffix}"
    plot(dataset(), path)
    content = path.read_bytes()
    assert content.startswith(magic)
    plot(dataset(), path)
    assert path.read_bytes() == content
    assert b"CreationDate" not in content and b"<dc:date>" not in content


def test_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ending"):
        plot(dataset(), tmp_path / "curve.jpg")


def test_the_title_describes_the_model_but_not_what_is_swept() -> None:
    text = described(MODEL, {"fit.samples"})
    assert "tanh" in text and "1.5" in text and r"$\alpha = " not in text
    assert r"$\alpha = 2$" in described(MODEL, set())
    assert r"\tilde" not in described(MODEL, {"step.1.learning_rate"})
    twice = MODEL.replace({"step": [MODEL.step, MODEL.step]})
    assert ", 2 steps, " in described(twice, {"fit.samples"}).replace("\n", " ") and "steps" not in text
    assert "steps" not in described(twice, {"step"})


def test_the_title_says_what_is_unusual_and_no_swept_parameter() -> None:
    swept = {"fit.loss.delta", "fit.penalty.l1"}
    text = described(MODEL.replace({"fit.loss": "huber", "fit.penalty": "elastic_net"}), swept)
    assert "huber, penalty elastic_net, " in text.replace("\n", " ")
    assert "penalty elastic_net(l1=" in described(MODEL.replace({"fit.penalty": "elastic_net"}), set())
    text = described(MODEL.replace({"step.bulk": "trained", "network.initialisation": "gaussian"}), set())
    assert "Gaussian initialisation" in text and "trained bulk" in text
    counts = {"network": {"activation": "tanh", "width": 1.0}, "fit": {"samples": 2.0, "ridge": 0.1}}
    channel = {"target": {"link": "z", "channel": {"name": "binomial", "trials": 5}}}
    inputs = {"inputs": {"capacity": 0.4, "modes": 30, "source": 0.3}}
    model = Model.from_dict({**counts, **channel, **inputs})
    assert "channel binomial(5)" in described(model, set()) and "j^{-0.4}" in described(model, set())
    text = described(model, {"target.channel.trials", "inputs.modes"})
    assert "channel binomial," in text.replace("\n", " ") and "modes" not in text


def test_a_curve_without_a_solution_is_named_at_its_dashed_line() -> None:
    """An activation that takes no step has an error without one all the same."""
    row = np.arange(8)
    known = {"test_error": np.where(row < 4, math.nan, 0.3), "random_features_test_error": np.where(row < 4, 0.6, 0.5)}
    family = dataset((Sweep("fit.samples", X), Sweep("network.activation", ("sign", "tanh"))), **known)
    axes, _ = _drawn(family)
    assert sorted(text.get_text().split("=$")[-1].strip() for text in axes.texts) == ["sign", "tanh"]


def test_curves_of_several_losses_say_which_error_each_is_of() -> None:
    """Squared errors of one loss, misclassifications of the other; what bounds squared errors says so."""
    losses, row = Sweep("fit.loss", ("square", "logistic")), np.arange(8)
    signs = {"best_linear_test_error": np.where(row < 4, 0.05, math.nan)}
    family = dataset((Sweep("fit.samples", X), losses), **signs)
    axes, _ = _drawn(family)
    squared, wrong = r"(f_{\star} - f)^{2}", r"(f_{\star} f < 0)"
    assert squared in axes.get_ylabel() and wrong in axes.get_ylabel()
    labels = {text.get_text() for text in axes.texts}
    assert any("square" in label and squared in label for label in labels)
    assert any("logistic" in label and wrong in label for label in labels)
    assert [squared in label for label in _legend(family) if "linear" in label] == [True]
    axes, _ = _drawn(dataset((losses,), best_linear_test_error=np.array([0.05, math.nan])))
    assert [squared in tick.get_text() for tick in axes.get_xticklabels()] == [True, False]
    axes, _ = _drawn(dataset((Sweep("fit.samples", X), Sweep("fit.loss", ("square", "huber")))))
    assert not any(squared in text.get_text() for text in axes.texts)


def test_no_global_state_of_matplotlib_is_touched() -> None:
    program = (
        "import sys, matplotlib\n"
        # reading the backend would choose one
        "def state(): return {k: matplotlib.rcParams[k] for k in matplotlib.rcParams if k != 'backend'}\n"
        "before = state()\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "import test_curves; test_curves.rendered(test_curves.dataset(), '.png')\n"
        "assert state() == before and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, str(Path(__file__).parent)], check=True)
