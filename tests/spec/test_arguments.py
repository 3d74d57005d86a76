"""What verbs say to arguments of a wrong kind: an error that names them, not one of Python's, and nothing ignored."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.draw.look import Look
from giantstep.spec.given import takes_model

MODEL = gs.model("tanh", "sign")
ONE = {"samples": 1.0, "learning_rate": 1.0}

#: What is called, with what the error has to say.
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "replace": (lambda: MODEL.replace(None), "changes = None"),
    "number_at, a text": (lambda: MODEL.number_at("network.activation"), "is no number"),
    "number_at, no key": (lambda: MODEL.number_at(3), "unknown key 3"),
    "number_at, inside": (lambda: MODEL.number_at("fit.loss.delta"), "is no number"),
    "number_at, a step": (lambda: MODEL.replace(step=[ONE, ONE]).number_at("step.3.samples"), "is no number"),
    "a whole table": (lambda: MODEL.replace({"fit": {"samples": 1.5}}), "fit was given as a whole table"),
    "record": (lambda: gs.model(inputs={"capacity": 1.0}), "give a gs.Inputs"),
    "readout": (lambda: gs.model(readout={"values": [1, 2]}), "readout ="),
    "changes of a file": (lambda: gs.Model.from_toml("examples/tanh_sign.toml", None), "changes ="),
    "start": (lambda: gs.solve(MODEL, start="x"), "start = 'x'"),
    "start of a gradient": (lambda: gs.gradient(MODEL, start=MODEL), "start ="),
    "sweep": (lambda: gs.curve(MODEL, None), "the sweep None"),
    "sweeps": (lambda: gs.curve(MODEL, [3]), "the sweep 3"),
    "bytes": (lambda: gs.curve(MODEL, b"fit.ridge=1"), "the sweep b'fit.ridge=1'"),
    "a switch": (lambda: gs.curve(MODEL, "fit.ridge=1", simulate="no"), "simulate = 'no'"),
    "seeds of nothing": (lambda: gs.curve(MODEL, "fit.ridge=1", seeds="a"), "seeds = 'a'"),
    "kind of nothing": (lambda: gs.curve(MODEL, "fit.ridge=1", what="foo"), "what = 'foo'"),
    "tolerance of a curve": (lambda: gs.curve(MODEL, "fit.ridge=1", tolerance="a"), "tolerance ="),
    "checkpoint": (lambda: gs.curve(MODEL, "fit.ridge=1", checkpoint=3), "checkpoint = 3"),
    "axis": (lambda: gs.map(MODEL, "fit.ridge=0.1:1:2", 3), "the sweep 3"),
    "third key": (lambda: gs.map(MODEL, "fit.ridge=0.1:1:2", "fit.samples=1:2:2", optimum=3), "derivative in 3"),
    "tolerance of a map": (lambda: gs.map(MODEL, "fit.ridge=1,2", "fit.samples=1,2", tolerance="a"), "tolerance ="),
    "values": (lambda: gs.solve_many(MODEL, 3), "values = 3"),
    "key of values": (lambda: gs.solve_many(MODEL, {3: [1]}), "is over 3"),
    "store": (lambda: gs.solve_into(MODEL, None, {"fit.ridge": [0.1]}), "the path = None"),
    "dataset": (lambda: gs.Dataset.read(3), "the path = 3"),
    "picture": (lambda: gs.plot(MODEL, 3), "the path = 3"),
    "report": (lambda: gs.report(MODEL, None), "the path = None"),
    "keys": (lambda: gs.gradient(MODEL, 3), "keys = 3"),
    "keys of a table": (lambda: gs.gradient(MODEL, {"fit.ridge": 1}), "keys ="),
    "tuned keys": (lambda: gs.tune(MODEL, [3]), "over = [3]"),
    "ranges": (lambda: gs.tune(MODEL, ranges=3), "ranges = 3"),
    "a range": (lambda: gs.tune(MODEL, ranges={"fit.ridge": (1,)}), "the range of fit.ridge"),
    "an empty range": (lambda: gs.tune(MODEL, ranges={"fit.ridge": (2, 1)}), "is empty"),
    "accuracy of tuning": (lambda: gs.tune(MODEL, tolerance=None), "tolerance = None"),
    "rates of bounds": (lambda: gs.bounds(MODEL, rates=("a", "b")), "learning rates"),
    "search of bounds": (lambda: gs.bounds(MODEL, optimise="no"), "optimise = 'no'"),
    "exponent": (lambda: gs.rates(MODEL, width="a"), "width = 'a'"),
    "places": (lambda: gs.learned(MODEL, at="a"), "at = 'a'"),
    "bins": (lambda: gs.learned(MODEL, bins="a"), "bins = 'a'"),
    "samples": (lambda: gs.simulate(MODEL, dimension=50, samples=3), "samples = 3"),
    "ridges": (lambda: gs.simulate(MODEL, dimension=50, ridges="a"), "ridges = 'a'"),
    "members": (lambda: gs.decompose(MODEL, members=10**30), "is too many"),
    "shared": (lambda: gs.decompose(MODEL, share=3), "share = 3"),
    "held": (lambda: gs.decompose(MODEL, given=None), "given = None"),
    "bootstrap": (lambda: gs.decompose(MODEL, bootstrap="a"), "bootstrap = 'a'"),
    "subsample": (lambda: gs.decompose(MODEL, subsample=True), "subsample = True"),
    "decomposed sweep": (lambda: gs.decompose_along(MODEL, 3), "the sweep 3"),
    "its progress": (lambda: gs.decompose_along(MODEL, "fit.ridge=1", progress=3), "progress = 3"),
    "samples of a step": (lambda: gs.learnable(MODEL, samples="a"), "samples = 'a'"),
    "orders of steps": (lambda: gs.learnable(MODEL, steps="a"), "steps = 'a'"),
    "seeds of no passing": (lambda: gs.optimal(MODEL, seeds="a"), "seeds = 'a'"),
    "progress of steps": (lambda: gs.steps(MODEL, 1, progress=3), "progress = 3"),
    "samples of all steps": (lambda: gs.steps(MODEL, 1, total=True), "total = True"),
    "progress of a spectrum": (lambda: gs.spectrum(MODEL, progress="a"), "progress = 'a'"),
    "progress of a report": (lambda: gs.report(MODEL, "a.html", progress=3), "progress = 3"),
    "one model": (lambda: gs.generate(MODEL, True), "models ="),
    "echo": (lambda: gs.verify(MODEL, None), "echo = None"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_an_argument_of_a_wrong_kind_is_named(name: str) -> None:
    call, said = WRONG[name]
    with pytest.raises(gs.BadInput) as caught:
        call()
    assert said in caught.value.message
    assert caught.value.hint or "give " in caught.value.message


def test_a_switch_of_numpy_and_whole_numbers_are_taken() -> None:
    curve = gs.curve(MODEL, "fit.ridge=0.1", baselines=np.bool_(False), tolerance=np.float32(1e-8))
    assert curve.options["tolerance"] == pytest.approx(1e-8, rel=1e-6)
    for dimension in (100.0, np.int64(100)):
        found = gs.solve(MODEL, dimension=dimension)
        assert type(found.dimension) is int and found.dimension == 100


def test_paths_are_taken_where_texts_are() -> None:
    assert gs.Inputs(file=Path("covariance.npy")).file == "covariance.npy"


def test_looks_of_a_wrong_kind_are_named() -> None:
    for look in ({"size": 3}, {"size": ("a", "b")}, {"xlog": "a"}):
        with pytest.raises(gs.BadInput, match="not allowed"):
            Look(**look)


def test_titles_whose_formula_cannot_be_set_are_refused_before_the_work() -> None:
    with pytest.raises(gs.BadInput, match="cannot be set"):
        Look(title=r"$\frac{$")
    assert Look(title="costs 3$").title and Look(title=r"$\alpha_0$").title


def test_a_choice_of_points_is_a_dictionary() -> None:
    with pytest.raises(gs.BadInput, match="choices = 3"):
        gs.solve_many(MODEL, {"fit.ridge": [0.1]}).sel(3)


def test_steps_show_a_bar(capfd: pytest.CaptureFixture[str]) -> None:
    gs.steps(MODEL, 1, progress="auto")
    assert "networks" in capfd.readouterr().err


def test_a_verb_without_memory_refuses() -> None:
    """As of equations that are not solved: searches go on elsewhere."""

    @takes_model
    def hungry(model: gs.Model) -> None:
        raise MemoryError

    with pytest.raises(gs.NotConverged, match="not enough memory"):
        hungry(MODEL)
