"""The command line: what its commands print and write, and their exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_cases import COMMANDS, Run, one_sentence_and_a_hint, program
from sweep_cases import before_each_point, solved_points

import giantstep
from giantstep.cli.solve import _bulk, _of_signs
from giantstep.observe.simulate import simulate
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.sweep.dataset import Dataset
from giantstep.system.solve import solve

# giantstep.solve is the function
tasks_module = import_module("giantstep.sweep.tasks")

# --- help


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_has_an_example(run: Run, name: str) -> None:
    code, out, err = run(name, "--help")
    assert code == 0 and not err
    assert f"example:\n  giantstep {name}" in out
    assert name in run("--help")[1]


def test_a_command_is_parsed_without_the_others() -> None:
    """Which start-up would pay for; what is no command is looked for among all."""
    from giantstep.cli.main import parser

    assert {*parser(["solve"])._subparsers._group_actions[0].choices} == {"solve", "completion"}  # type: ignore[union-attr, arg-type]
    assert {*COMMANDS} <= {*parser()._subparsers._group_actions[0].choices}  # type: ignore[union-attr, arg-type]


def test_misspelt_commands_are_compared_with_all(run: Run) -> None:
    code, _, err = run("sovle")
    assert code == 2 and "solve" in err
    code, _, err = run("curv")
    assert code == 2 and "curve" in err


def test_examples_of_the_help_are_understood(run: Run, model: str, tmp_path: Path, monkeypatch: Any) -> None:
    """Each example parses: run against a model file that does not exist, it gets as far as reading it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.toml").unlink()
    for name in ("derive", "solve", "curve", "simulate", "verify"):
        examples = [line.split() for line in run(name, "--help")[1].splitlines() if line.startswith("  giantstep")]
        assert examples
        for words in examples:
            words = words[1 : words.index(">")] if ">" in words else words[1:]
            code, _, err = run(*words)
            assert code == 2 and "model.toml' does not exist" in err


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\nfrom giantstep.cli.main import main\nassert main(['curve', '--help']) == 0\n"
        "heavy = {'numpy', 'scipy', 'sympy', 'numba', 'matplotlib', 'tqdm', 'xarray'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


def test_bad_input_and_solving_load_no_sympy(model: str) -> None:
    """And a bad model loads neither numba nor matplotlib. One program runs them all, what loads the least first."""
    solve(Model.from_toml(model))  # what is compiled here need not be compiled there
    runs = (
        (["solve", model, "--set", "fit.ridge=-1"], ["numba", "sympy", "matplotlib"]),
        (["curve", model, "--sweep", "fit.ridge=a:b:c"], ["numba", "sympy", "matplotlib"]),
        (["simulate", model, "--dimension", "20", "--seeds", "1", "--what", "network"], ["numba", "sympy"]),
        (["curve", model, "--sweep", "fit.ridge=1,2"], ["sympy", "matplotlib", "codegen"]),
    )
    program = (
        "import json, sys\nfrom giantstep.cli.main import main\nfor arguments, forbidden in json.loads(sys.argv[1]):\n"
        "    code = main(arguments)\n    assert not set(forbidden) & set(sys.modules), (arguments, code)"
    )
    subprocess.run([sys.executable, "-c", program, json.dumps(runs)], check=True, capture_output=True)


def test_version(run: Run) -> None:
    code, out, _ = run("--version")
    assert code == 0 and out.startswith("giantstep ")


# --- solve and simulate


def test_solve_prints_the_object_of_the_contract(run: Run, model: str) -> None:
    code, out, err = run("solve", model, "--set", "fit.samples=1.5", "fit.ridge=0.1", "--json")
    assert code == 0 and not err
    found = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    there = solve(Model.from_toml(model).replace({"fit.samples": 1.5, "fit.ridge": 0.1}))
    assert found["test_error"] == there.test_error and found["train_error"] == there.train_error
    assert set(found["order_parameters"]) == {"m", "zeta", "psi", "Q1", "Q2", "V1", "V2"}
    assert np.shape(found["order_parameters"]["Q1"]) == (1, 1) and np.shape(found["order_parameters"]["m"]) == (1,)
    assert set(found["spike"]) == {"strength", "alignment", "bulk_variance"}
    assert {"free_energy", "residual", "iterations", "quadrature_error", "seconds"} <= set(found)


def test_solve_says_what_it_takes_by_default(run: Run, model: str) -> None:
    given = ["solve", model, "--set", "target.link=tanh", "network.activation=leaky_relu"]
    code, out, _ = run(*given, "fit.loss=huber")
    rows = [line.split() for line in out.splitlines()]
    assert code == 0 and ["fit.loss.delta", "1", "its", "default", "value"] in rows
    assert ["network.activation", "max(z,0.01*z)", "what", "the", "name", "stands", "for"] in rows
    assert next(row for row in rows if row[0] == "psi")[2:6] == ["readout", "along", "the", "rest"]
    assert json.loads(run(*given, "fit.loss=huber", "--json")[1])["defaults"] == {"fit.loss.delta": 1.0}
    chosen = (*given, "fit.loss={name='huber', delta=0.5}", "--json")
    assert json.loads(run(*chosen)[1])["defaults"] == {}


def test_a_classifier_that_the_loss_does_not_tell_is_pointed_to_its_metric() -> None:
    weighted = giantstep.solve(giantstep.model("tanh", link="sign", loss="log(1+exp(-y*f))*(0.5+step(y))"))
    assert 'wrong = "y*f < 0"' in str(_of_signs(weighted)) and "gs.metrics" in str(weighted)
    assert weighted.to_dict()["meaning"]["test_error"] == "E (f_* - f)^2"
    for change in ({"target": {"noise": 0.1}}, {"target": {"link": "tanh"}}, {"fit": {"loss": "logistic"}}):
        other = replace(weighted, model=weighted.model.replace(**change))
        assert not _of_signs(other) and "gs.metrics" not in str(other)


def test_whose_rows_were_taken_is_told_where_they_may_not_be_those_of_the_network() -> None:
    """Softplus on `z + He(2,z)/2` has 0.93 with one and 0.78 with the other."""
    stepped = giantstep.model("tanh", link="sign")
    assert 'step.bulk = "trained"' in _bulk(stepped)
    assert not _bulk(stepped.replace(step={"bulk": "trained"}))


def test_the_basis_of_psi_is_named_where_it_has_columns(run: Run, model: str) -> None:
    code, out, _ = run("solve", model, "--set", "target.link=z1*z2+z1")
    assert code == 0 and "along t in z = gamma kappa + L t, L the Cholesky factor of 1 - gamma gamma^T" in out


def test_solve_says_how_a_density_reaches_its_limit(run: Run, model: str) -> None:
    """Relu goes on changing to d = 1e13 and beyond."""
    density = ("solve", model, "--set", 'network.readout={density="gaussian"}')
    assert "the limit may be approached slowly, see --dimension" in run(*density)[1]
    assert "approached slowly" not in run(*density, "--dimension", "1000")[1]


def test_solve_reports_to_a_person(run: Run, model: str) -> None:
    code, out, _ = run("solve", model)
    there = solve(Model.from_toml(model))
    assert code == 0
    for line in (
        f"test error            {there.test_error:.12g}",
        f"train error           {there.train_error:.12g}",
        f"free energy           {there.free_energy:.12g}",
        f"training loss over d  {there.training_loss:.12g}",
    ):
        assert line in out
    assert "residual" in out and "quadrature error" in out and "psi" in out and "alignment gamma" in out
    corrected = solve(Model.from_toml(model), dimension=50)
    assert f"{corrected.test_error:.12g}" in run("solve", model, "--dimension", "50")[1]
    blocks = "network.readout={values=[1.0,-0.5],fractions=[0.5,0.5]}"
    _, out, _ = run("solve", model, "--set", blocks)
    rows = [line.split() for line in out.splitlines()]
    start = next(number for number, row in enumerate(rows) if row[0] == "Q1")
    assert len(rows[start]) == 3 and len(rows[start + 1]) == 2  # a row of the matrix per line


def test_simulate_prints_the_object_of_the_contract(run: Run, model: str) -> None:
    code, out, _ = run("simulate", model, "--dimension", "30", "--seeds", "3", "--what", "network", "--json")
    found = json.loads(out)
    assert code == 0
    there = simulate(Model.from_toml(model), dimension=30, seeds=3, what="network").to_dict()
    assert found["test_error"] == there["test_error"] and set(found["train_error"]) == {
        "mean",
        "standard_error",
    }
    assert found["dimension"] == 30 and found["seeds"] == 3 and found["seconds"] > 0.0
    code, out, _ = run("simulate", model, "--dimension", "30", "--seeds", "3", "--what", "network")
    assert code == 0 and f"{found['test_error']['mean']:.6g} +- " in out and "p/d = 1" in out
    _, out, _ = run("simulate", model, "--dimension", "30", "--seeds", "1", "--json")
    assert json.loads(out)["test_error"]["standard_error"] is None
    assert "no standard error" in run("simulate", model, "--dimension", "30", "--seeds", "1")[1]


# --- derive, generate, verify: the command hands over and returns the right code


@pytest.mark.parametrize(("answer", "code"), [(True, 0), (False, 1)])
def test_verify_and_generate_say_by_their_code_what_they_found(
    run: Run, model: str, monkeypatch: pytest.MonkeyPatch, answer: bool, code: int
) -> None:
    seen: list[Any] = []

    def verify(found: Model, echo: Callable[[str], None]) -> bool:
        seen.append(found)
        echo("a line")
        return answer

    def generate(models: Sequence[Model], check: bool, echo: Callable[[str], None]) -> bool:
        seen.append((list(models), check))
        return answer

    monkeypatch.setattr(giantstep, "verify", verify)
    monkeypatch.setattr(giantstep, "generate", generate)
    assert run("verify", model, "--set", "fit.ridge=1") == (code, "a line\n", "")
    assert run("generate", model, "--check")[0] == code
    assert run("generate")[0] == code
    there = Model.from_toml(model)
    assert seen == [there.replace({"fit.ridge": 1.0}), ([there], True), ([], False)]


@pytest.mark.parametrize("form", ["text", "latex", "markdown"])
def test_derive_prints_what_the_engine_renders(run: Run, model: str, form: str) -> None:
    render = import_module("giantstep.law.derivation").render
    code, out, _ = run("derive", model, "--format", form, "--steps")
    assert code == 0 and out == render(Model.from_toml(model), form, True) + "\n"


@pytest.mark.parametrize(
    "of, title", [("decompose", "Two readouts"), ("optimal", "The best estimator"), ("rates", "Rates")]
)
def test_derive_prints_what_another_command_solves(run: Run, model: str, of: str, title: str) -> None:
    for form in ("text", "latex", "markdown"):
        code, out, _ = run("derive", model, "--of", of, "--steps", "--format", form)
        assert code == 0 and title in out


def test_decompose_tells_the_deviation_between_draws(run: Run, model: str) -> None:
    code, out, _ = run("decompose", model, "--deviation", "--dimension", "300", "--json")
    told = json.loads(out)["deviation"]
    assert code == 0 and told["test_error"] == told["standard_deviation"]
    assert told["standard_deviation"] == pytest.approx((sum(told["times_dimension"].values()) / 300) ** 0.5)
    code, out, _ = run("decompose", model, "--deviation", "--dimension", "300")
    assert code == 0 and "its standard deviation at d = 300" in out and "between draws: data" in out


def test_decompose_prints_the_columns_of_the_theory_for_simulated_pairs(run: Run, model: str) -> None:
    code, out, _ = run("decompose", model, "--simulate", "--dimension", "30", "--seeds", "2")
    theory, simulated = out.split("simulated: ")
    head, *rows = simulated.splitlines()[1:]
    assert code == 0
    titles = "E (f1-f2)^2/2", "their mean"
    assert all(title in table for title in titles for table in (theory, head))
    assert rows and all(row.count("(") == 2 for row in rows)


# --- curve


def test_curve_writes_files_and_reports(run: Run, model: str, tmp_path: Path) -> None:
    output, picture = tmp_path / "c.json", tmp_path / "c.svg"
    code, out, err = run(
        "curve",
        model,
        "--sweep",
        "fit.samples=0.5:2:4",
        "network.width=1,2",
        "--set",
        "fit.ridge=0.2",
        "--simulate",
        "--dimension",
        "40",
        "--seeds",
        "3",
        "--output",
        str(output),
        "--plot",
        str(picture),
    )
    assert code == 0 and not err
    assert "8 of 8 points" in out and "worst residual" in out and "root mean square" in out and str(output) in out
    found = Dataset.read(output)
    assert found.model == Model.from_toml(model).replace({"fit.ridge": 0.2})
    row = Model.from_toml(model).replace({"fit.ridge": 0.2, "fit.samples": 0.5, "network.width": 2.0})
    assert found.numbers("test_error")[4] == solve(row).test_error
    assert found.options["simulation"] == {"what": "srf", "seeds": 3, "seed": 0}
    assert picture.read_bytes().startswith(b"<?xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", "c.svg", "model.toml"]


def test_curve_without_a_file_prints_the_points(run: Run, model: str) -> None:
    code, out, _ = run("curve", model, "--sweep", "fit.samples=1,2", "--no-baselines")
    lines = out.splitlines()
    assert code == 0 and lines[0].split() == ["fit.samples", "test", "error", "train", "error"]
    assert lines[2].split()[1] == f"{solve(Model.from_toml(model)).test_error:.6g}"


def test_jobs_change_no_byte(run: Run, model: str, tmp_path: Path) -> None:
    options = [
        "curve",
        model,
        "--sweep",
        "fit.samples=0.2:3:80",
        "--simulate",
        "--dimension",
        "20",
        "--seeds",
        "2",
    ]
    assert run(*options, "--output", str(tmp_path / "a.csv"))[0] == 0
    found = program(*options, "--output", str(tmp_path / "b.csv"), "--jobs", "2")
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_points_that_fail_are_listed_and_the_code_says_so(
    run: Run, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(found: Model) -> None:
        if found.fit.samples == 1.0:
            raise NotConverged("did not settle", "raise the ridge")

    before_each_point(monkeypatch, fail)
    monkeypatch.setattr(giantstep, "solve", tasks_module.solve)
    output = tmp_path / "c.csv"
    code, out, _ = run("curve", model, "--sweep", "fit.samples=1,2", "--output", str(output))
    assert code == 3
    assert "1 of 2 points" in out and "fit.samples = 1: did not settle; raise the ridge" in out
    assert output.read_text().splitlines()[1].startswith("1.0,,")
    assert run("solve", model, "--set", "fit.samples=1") == (
        3,
        "",
        "giantstep: did not settle\nhint: raise the ridge\n",
    )


def test_what_cannot_be_written_is_refused_before_the_work(
    run: Run, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = solved_points(monkeypatch)
    sweep = ["curve", model, "--sweep", "fit.samples=1,2"]
    for option, bad in (
        ("--output", "none/c.json"),
        ("--output", "c.xlsx"),
        ("--output", "model.toml/c.json"),
        ("--plot", "c.jpg"),
        ("--plot", "none/c.pdf"),
    ):
        code, _, err = run(*sweep, option, str(tmp_path / bad))
        assert code == 2
        one_sentence_and_a_hint(err)
    monkeypatch.setitem(sys.modules, "xarray", None)
    code, _, err = run(*sweep, "--output", str(tmp_path / "c.nc"))
    assert code == 2 and "pip install" in err
    assert not calls
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.toml"]


@pytest.mark.parametrize("command", ["learned", "spectrum"])
def test_what_looks_at_a_solution_takes_its_tolerance(run: Run, model: str, command: str) -> None:
    """The hint of a solution that lacks digits names it."""
    code, out, _ = run(command, model, "--tolerance", "1e-8")
    assert code == 0 and out
