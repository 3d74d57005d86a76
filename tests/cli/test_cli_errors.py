"""Errors and interruptions of the command line: exit codes, one sentence and a hint, no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Run, one_sentence_and_a_hint, program
from sweep_cases import solved_points

import giantstep
from giantstep.cli.main import main
from giantstep.cli.options import spread
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.system.solve import solve


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "no command"),
        (["sovle"], "sovle"),
        (["solve"], "MODEL"),
        (["solve", "none.toml"], "does not exist"),
        (["solve", "MODEL", "--nonsense"], "--nonsense"),
        (["solve", "MODEL", "--dim", "5"], "--dim"),
        (["solve", "MODEL", "--set", "fit.ridge"], "KEY=VALUE"),
        (["solve", "MODEL", "--set", "fit.rigde=1"], "fit.ridge"),
        (["solve", "MODEL", "--set", "fit.ridge=nan"], "fit.ridge"),
        (["solve", "MODEL", "--set", "network.activation=__import__('os')"], "network.activation"),
        (["solve", "MODEL", "--set", "fit.loss=hinge"], "fit.loss"),
        (["solve", "MODEL", "--dimension", "0"], "dimension"),
        (["solve", "MODEL", "--dimension", "a"], "--dimension"),
        (["solve", "MODEL", "--tolerance", "0"], "tolerance"),
        (["simulate", "MODEL", "--seeds", "2"], "--dimension"),
        (["simulate", "MODEL"], "--dimension"),
        (["simulate", "MODEL", "--dimension", "50", "--seeds", "0"], "seeds"),
        (["simulate", "MODEL", "--dimension", "50", "--seeds", "1", "--what", "x"], "network"),
        (["simulate", "MODEL", "--dimension", "50", "--seeds", "1", "--seed", "-1"], "seed"),
        (["curve", "MODEL"], "--sweep"),
        (["curve", "MODEL", "--sweep", "fit.samples=1:2"], "start:stop:count"),
        (["curve", "MODEL", "--sweep", "fit.samplse=1,2"], "fit.samples"),
        (["curve", "MODEL", "--sweep", "fit.samples=-1,2"], "fit.samples"),
        (["curve", "MODEL", "--sweep", "fit.samples=1,2", "--simulate"], "--dimension"),
        (["curve", "MODEL", "--sweep", "fit.samples=1,2", "--jobs", "0"], "--jobs"),
        (["curve", "MODEL", "--sweep", "fit.samples=1,2", "--set", "fit.samples=1"], "both set and swept"),
        (["derive", "MODEL", "--format", "html"], "latex"),
        (["phase", "MODEL"], "spectrum"),
    ],
)
def test_bad_input_is_a_sentence_with_a_hint(run: Run, model: str, arguments: list[str], word: str) -> None:
    code, out, err = run(*(model if word == "MODEL" else word for word in arguments))
    assert code == 2 and not out
    one_sentence_and_a_hint(err, word)


def test_a_bug_is_a_sentence_and_its_traceback_is_one_setting_away(
    run: Run, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: Any, **options: Any) -> Any:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(giantstep, "solve", broken)
    code, out, err = run("solve", model)
    assert code == 70 and not out
    one_sentence_and_a_hint(err, "ZeroDivisionError", "division by zero", "GIANTSTEP_DEBUG=1")
    monkeypatch.setenv("GIANTSTEP_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["solve", model])
    with pytest.raises(BadInput):
        main(["solve", "none.toml"])


def test_interruption_says_what_was_saved(
    run: Run, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = ["curve", model, "--sweep", "fit.samples=0.2:3:100", "--no-baselines"]
    assert run(*sweep)[0] == 0  # the first to use a kernel says on a line of its own that it is compiled
    calls = solved_points(monkeypatch, stop_at=70)
    output = tmp_path / "c.json"
    code, _, err = run(*sweep, "--output", str(output))
    assert code == 130 and "64 finished points are saved in" in err and len(err.splitlines()) == 1
    assert not output.exists()
    code, _, err = run(*sweep, "--output", str(output))
    assert code == 0 and "holds 64 finished points" in err and len(calls) == 70 + 36
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", "model.toml"]
    calls.clear()
    code, _, err = run(*sweep)
    assert code == 130 and "nothing was saved" in err


def test_points_that_are_told_are_those_of_the_sweep(
    run: Run, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not their baselines: an interruption among these says that all points are finished."""
    sweep = ["curve", model, "--sweep", "fit.samples=0.2:3:100", "--output", f"{tmp_path}/c.json"]
    solved_points(monkeypatch, stop_at=170)
    code, _, err = run(*sweep)
    assert code == 130 and "100 finished points are saved in" in err and "(beside them random features: 64)" in err
    code, _, err = run(*sweep)
    assert code == 0 and "holds 100 finished points (beside them random features: 64); those of this sweep" in err


def test_nothing_is_said_of_a_file_without_finished_points(run: Run, model: str, tmp_path: Path) -> None:
    (tmp_path / "c.json.partial.jsonl").touch()  # killed before the first of them
    code, _, err = run("curve", model, "--sweep", "fit.samples=1,2", "--no-baselines", "--output", f"{tmp_path}/c.json")
    assert code == 0 and "going on" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="no locks")
def test_two_processes_do_not_share_their_finished_points(run: Run, model: str, tmp_path: Path) -> None:
    hold = "import sys, time\nfrom giantstep.sweep.checkpoint import Checkpoint\n"
    hold += "with Checkpoint(sys.argv[1]):\n    print('has it', flush=True)\n    sys.stdin.read()"
    command = [sys.executable, "-c", hold, f"{tmp_path}/c.json.partial.jsonl"]
    sweep = ["curve", model, "--sweep", "fit.samples=1,2", "--no-baselines", "--output", f"{tmp_path}/c.json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "has it\n"
        code, _, err = run(*sweep)
        assert code == 2 and "another process is writing" in err and not (tmp_path / "c.json").exists()
    assert run(*sweep)[0] == 0


def test_an_interruption_before_the_work_says_the_same(run: Run, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Model, "from_toml", interrupted)
    axes = ["--x", "fit.samples=1,2", "--y", "fit.ridge=1,2"]
    for command in (["curve", model, "--sweep", "fit.samples=1,2"], ["map", model, *axes]):
        code, _, err = run(*command)
        assert code == 130 and "nothing was saved; with --output" in err


def test_whole_numbers_however_they_are_written(run: Run, model: str) -> None:
    wanted = run("solve", model, "--dimension", "1000", "--json")[1]
    assert (
        json.loads(run("solve", model, "--dimension", "1e3", "--json")[1])["test_error"]
        == (json.loads(wanted)["test_error"])
    )
    for wrong in ("1.5", "many", "nan"):
        code, _, err = run("solve", model, "--dimension", wrong)
        assert code == 2
        one_sentence_and_a_hint(err, wrong, "is not a whole number", "1000 or 1e3")
    code, _, err = run("solve", model, "--dimension", "1e300")
    assert code == 2
    one_sentence_and_a_hint(err, "1e300", "is too large")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name")
def test_a_pipe_that_nobody_writes_to_is_refused(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.toml")
    code, _, err = run("solve", str(tmp_path / "model.toml"))
    assert code == 2 and "is a pipe" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(("where", "words"), [("> /dev/full", "could not be written"), (">&-", "output is closed")])
@pytest.mark.parametrize(("what", "unbuffered"), [("derive MODEL", ""), ("--help", ""), ("solve --help", "1")])
def test_output_that_cannot_be_written_is_no_bug(
    model: str, where: str, words: str, what: str, unbuffered: str
) -> None:
    command = f"{sys.executable} -m giantstep.cli {what.replace('MODEL', model)} {where}"
    surroundings = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, timeout=120, env=surroundings)
    assert done.returncode == 74 and words in done.stderr and "bug" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
@pytest.mark.parametrize(("how", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129), ("SIGKILL", -9)])
def test_stopping_a_sweep_stops_all_its_processes_quietly(model: str, tmp_path: Path, how: str, code: int) -> None:
    solve(Model.from_toml(model))  # what is compiled here is compiled by none of them, which are stopped
    output = tmp_path / "c.json"
    program = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "giantstep.cli",
            "curve",
            model,
            "--sweep",
            "fit.samples=0.2:3:3",
            "--simulate",
            "--dimension",
            "300",
            "--seeds",
            "500",
            "--jobs",
            "2",
            "--output",
            str(output),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_interruptible,
    )
    kept = Path(f"{output}.partial.jsonl")
    deadline = time.monotonic() + 300
    while not (kept.exists() and len(kept.read_bytes().splitlines()) > 12) and time.monotonic() < deadline:
        time.sleep(0.05)
    if how == "SIGINT":
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does
    else:
        program.send_signal(getattr(signal, how))
    _, err = program.communicate(timeout=300)
    assert program.returncode == code, err
    if how != "SIGKILL":
        assert len(err.splitlines()) == 1 and "finished points are saved" in err
    assert not output.exists()
    while _alive(program.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(program.pid)


def _interruptible() -> None:
    """A shell starts background jobs, this test run among them, with SIGINT ignored; children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
def test_a_reader_that_leaves_is_no_error(model: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "giantstep.cli", "curve", model, "--sweep", "fit.samples=1,2"]
    found = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert not found.stderr and found.returncode == 141


def test_errors_reach_the_program_too(model: str) -> None:
    found = program("solve", model, "--set", "fit.ridge=0")
    assert found.returncode == 2 and not found.stdout
    one_sentence_and_a_hint(found.stderr, "fit.ridge")


def test_options_take_several_pairs() -> None:
    assert spread(["solve", "--set", "a.b=1", "c.d=2", "m.toml", "e.f=3"]) == [
        "solve",
        "--set",
        "a.b=1",
        "--set",
        "c.d=2",
        "m.toml",
        "e.f=3",
    ]
    assert spread(["--scores", "-1:1", "--ridge", "-1"]) == ["--scores=-1:1", "--ridge", "-1"]
    assert spread(["--sweep", "a.b=1", "--set", "c.d=2", "runs/a.b=1/m.toml"]) == [
        "--sweep",
        "a.b=1",
        "--set",
        "c.d=2",
        "runs/a.b=1/m.toml",
    ]


def test_a_file_of_nearly_that_name_is_suggested(run: Run, model: str) -> None:
    code, _, err = run("solve", model.replace("model.toml", "modeltoml"))
    assert code == 2 and "did you mean 'model.toml'?" in err


def test_a_report_of_another_kind_and_a_file_of_points_are_refused_at_once(run: Run, tmp_path: Path) -> None:
    code, _, err = run("report", "none.toml", "-o", str(tmp_path / "a.pdf"))
    assert code == 2 and "'.pdf'" in err  # before the model is read
    code, _, err = run("plot", "none.csv", str(tmp_path / "a.png"))
    assert code == 2 and "it must end in .json or .nc" in err


def test_lists_and_the_first_model_file_show_how_to_write_a_loss(run: Run) -> None:
    for command in ("list", "init"):
        assert "sqrt(1 + (y - f)**2) - 1" in run(command)[1]


def test_a_model_of_standard_input_is_called_so() -> None:
    for text, words in (
        ("a =", "standard input is not valid TOML"),
        ("[network]", "standard input: the table [target] is missing"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "giantstep", "solve", "-"], input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2 and f"giantstep: {words}" in done.stderr
