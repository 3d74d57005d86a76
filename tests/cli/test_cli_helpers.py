"""Commands about the program itself: a model file to begin with, lists, the schema, saved pictures, completion."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from cli_cases import TEXT, Run, one_sentence_and_a_hint

import giantstep as gs
from giantstep.cli.main import collect_late
from giantstep.cli.options import Parser
from giantstep.cli.processes import add_workers
from giantstep.cli.text import numbers
from giantstep.report.dataset import report
from giantstep.report.numbers import rows
from giantstep.spec.model import value_keys
from giantstep.verify.check import Check

OTHER_MODELS = ("matrix", "channel", "penalty")  # keys without a default


def test_the_package_is_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "giantstep", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"giantstep {gs.__version__}\n"


def test_a_model_file_to_begin_with(run: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "m.toml")
    assert run("init", path)[0] == 0
    assert gs.Model.from_toml(path) == gs.model()
    code, _, err = run("init", path)
    assert code == 2
    one_sentence_and_a_hint(err, "exists", "--force")
    assert run("init", path, "--force")[0] == 0
    assert run("init")[1] == Path(path).read_text()
    one_sentence_and_a_hint(run("init", "m.txt")[2], ".toml")


def test_every_comment_of_that_file_is_a_line_of_a_model(run: Run) -> None:
    """Taken in alone, a key has its default or is refused for what it needs beside it, never as unknown."""
    lines = run("init")[1].splitlines()
    names = set()
    table = ""
    for number, line in enumerate(lines):
        table = line.removeprefix("# ") if line.removeprefix("# ").startswith("[") else table
        assigned = re.match(r"(?:# )?([a-z_]+) = ", line)
        if assigned is None:
            continue
        names.add(f"{table.strip('[]')}.{assigned[1]}")
        alone = line.startswith("# ") and assigned[1] not in OTHER_MODELS
        if alone and table in ("[network]", "[target]", "[fit]", "[step]"):
            taken = [*lines[:number], line.removeprefix("# "), *lines[number + 1 :]]
            assert gs.Model.from_dict(tomllib.loads("\n".join(taken))) == gs.model()
    keys = {key for key in value_keys() if key.count(".") == 1}
    assert keys - {"network.readout"} <= names and "network.readout" in names


def test_the_model_may_come_from_standard_input() -> None:
    command = [sys.executable, "-m", "giantstep", "solve", "-", "--json"]
    done = subprocess.run(command, input=TEXT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["model"]["target"]["noise"] == 0.1


def test_lists_and_the_schema(run: Run) -> None:
    assert json.loads(run("list", "losses", "--json")[1]) == gs.losses()
    assert set(json.loads(run("list", "--json")[1])) == {
        *("activations", "losses", "penalties", "channels", "densities", "keys")
    }
    shown = run("list")[1]
    assert "gelu" in shown and "huber" in shown and "fit.ridge" in shown
    one_sentence_and_a_hint(run("list", "links")[2], "activations")
    assert json.loads(run("schema")[1]) == gs.schema()


def test_a_saved_curve_is_drawn_again(run: Run, model: str, tmp_path: Path) -> None:
    saved, first, again = (str(tmp_path / name) for name in ("c.json", "a.png", "b.png"))
    sweep = ["curve", model, "--sweep", "fit.samples=1,2", "fit.ridge=0.1,1"]
    assert run(*sweep, "--output", saved, "--plot", first, "--title", "Mine", "--ylog", "--size", "5x3")[0] == 0
    assert run("plot", saved, again, "--title", "Mine", "--ylog", "--size", "5x3") == (0, f"written: {again}\n", "")
    assert Path(first).read_bytes() == Path(again).read_bytes()
    assert run("plot", saved, again)[0] == 0
    assert Path(first).read_bytes() != Path(again).read_bytes()
    for words, said in (
        (["--size", "5"], "5.4x4"),
        (["--size", "0x3"], "inches"),
        (["--style", "gplot"], "'ggplot'"),
    ):
        code, _, err = run("plot", saved, again, *words)
        assert code == 2
        one_sentence_and_a_hint(err, said)
    assert run("plot", model, again)[0] == 2
    one_sentence_and_a_hint(run(*sweep, "--title", "Mine")[2], "give --plot FILE too")


def test_a_saved_map_is_drawn_again(run: Run, model: str, tmp_path: Path) -> None:
    saved, first, again = (str(tmp_path / name) for name in ("m.json", "a.svg", "b.svg"))
    axes = ["--x", "fit.samples=1:2:3", "--y", "fit.ridge=0.1:1:3", "--refine", "0"]
    assert run("map", model, *axes, "--output", saved, "--plot", first)[0] == 0
    assert run("plot", saved, again)[0] == 0
    assert Path(first).read_bytes() == Path(again).read_bytes()


def test_a_curve_as_one_object(run: Run, model: str) -> None:
    code, out, _ = run("curve", model, "--sweep", "fit.samples=1,2", "--json")
    assert code == 0
    assert gs.Dataset.from_json(out)["test_error"].tolist() == json.loads(out)["columns"]["test_error"]


def test_checks_as_one_object(run: Run, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Check("a", 1e-12, 1e-10), Check("b", float("nan"), 1.0, undecided="too few seeds")]
    monkeypatch.setattr(import_module("giantstep.verify.run"), "checks", lambda *_, **counts: iter(rows))
    code, out, _ = run("verify", model, "--json")
    assert code == 0 and json.loads(out)["holds"]
    assert [check["outcome"] for check in json.loads(out)["checks"]] == ["ok", "undecided"]
    rows.append(Check("c", 2.0, 1.0))
    code, out, _ = run("verify", model, "--json")
    assert code == 1 and not json.loads(out)["holds"]


def test_processors_are_counted() -> None:
    parser = Parser()
    add_workers(parser)
    assert parser.parse_args(["--jobs", "auto"]).jobs >= 1
    assert parser.parse_args(["--jobs", "3"]).jobs == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["slove", "model.toml"], "did you mean 'solve'"),
        (["solve", "model.toml", "--tolerence", "1e-9"], "did you mean '--tolerance'"),
        (["tune", "model.toml", "--key", "fit.ridge"], "did you mean '--over'"),
        (["tune", "model.toml", "fit.ridge"], "write --over before fit.ridge"),
        (["decompose", "model.toml", "fit.samples=1:2:3"], "write --set or --sweep before fit.samples"),
        (["solve", "model.toml", "more"], "giantstep solve --help"),
        (["curve", "model.toml", "--sweep", "fit.samples=1,2", "--jobs", "many"], "--jobs"),
    ],
)
def test_what_is_misspelt(run: Run, words: list[str], said: str) -> None:
    code, _, err = run(*words)
    assert code == 2
    one_sentence_and_a_hint(err, said)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(run: Run, shell: str) -> None:
    code, out, _ = run("completion", shell)
    assert code == 0
    assert all(
        word in out for word in ("spectrum", "learnable", "no-baselines" if shell == "fish" else "--no-baselines")
    )


def test_completion_without_its_library_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    one_sentence_and_a_hint(run("completion", "bash")[2], "giantstep[completion]")


@pytest.mark.parametrize(
    ("activation", "said"),
    [
        ("x*tanh(x)", "the variable is z"),
        ("ln(2 + z)", "write log(z)"),
        ("np.tanh(z)", "write functions by their names alone"),
        ("heaviside(z)", "write step(z)"),
        ("where(z > 0, z, 0)", "write step(z - place)*above + step(place - z)*below"),
        ("logistic(z)", "write sigmoid(z)"),
        ("z^2", "write powers with **"),
    ],
)
def test_names_of_other_languages(run: Run, model: str, activation: str, said: str) -> None:
    code, _, err = run("solve", model, "--set", f"network.activation={activation}")
    assert code == 2
    one_sentence_and_a_hint(err, said)


def test_a_network_far_from_the_isotropic_law_names_the_trained_one() -> None:
    data = gs.curve(gs.model(), "fit.samples=1,2", baselines=False)
    ran = {"what": "network", "seeds": 8, "seed": 0}
    scores = {"simulation_test_error": np.ones(2), "simulation_test_error_z_score": np.array([9.0, -8.0])}
    far = replace(
        data, columns={**data.columns, **scores}, options={**data.options, "dimension": 50, "simulation": ran}
    )
    assert "--set step.bulk=trained" in report(far)
    near = {**far.columns, "simulation_test_error_z_score": np.array([1.0, -1.0])}
    assert "step.bulk" not in report(replace(far, columns=near))
    assert "step.bulk" not in report(replace(far, options={**far.options, "simulation": {**ran, "what": "srf"}}))
    trained = gs.model(bulk="trained")
    assert "step.bulk" not in report(replace(far, model=trained))


def test_rounding_beside_larger_numbers_is_printed_as_zero() -> None:
    assert numbers([0.0102, 3.1e-21, -9.1e-7]) == "0.0102  0  -9.1e-07"
    assert numbers([3.1e-21, 1e-21]) == "3.1e-21  1e-21"
    assert numbers([0.292, -2.7e-14]) == "0.292  0"  # beyond what a solution is certified to
    assert rows([[0.9, 4.3e-17], [0.0, -1e-9]]) == "$0.9$, $0$; $0$, $-1\\times 10^{-9}$"


def test_what_is_not_derived_of_two_fits_is_named_as_the_model_names_it() -> None:
    """And not by the name of its spectral law."""
    with pytest.raises(gs.BadInput, match='step.bulk = "trained" have no equations of their own'):
        gs.derive(gs.model(bulk="trained"), of="decompose")


def test_rows_of_many_numbers_are_their_range() -> None:
    assert numbers([1.0, 2.5]) == "1  2.5"
    assert numbers(np.linspace(-1.0, 2.0, 40).tolist()) == "40 values, from -1 to 2"


def test_garbage_is_looked_for_late_and_then_as_usual() -> None:
    """Results hold arrays in rings: a map of optima grew by megabytes a point while none was looked for."""
    usual, known = gc.get_threshold(), len(gc.callbacks)
    try:
        gc.set_threshold(700, 10, 10)
        collect_late()
        late = gc.get_threshold()
        kept = [[] for _ in range(late[0] + 1000)]  # objects that garbage may hide among
        assert late[0] > 10_000 and gc.get_threshold() == (700, 10, 10) and len(gc.callbacks) == known
        assert len(kept) > late[0]
    finally:
        gc.set_threshold(*usual)
