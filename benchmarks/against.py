"""How much faster this checkout is than an older one: the same points in both, in turns, in processor time.

Usage: python benchmarks/against.py FOLDER [--rounds 3] [--rows NAME ...] [--maps]

FOLDER: another checkout of giantstep, as ``git worktree add FOLDER COMMIT`` makes one. Each row is the least time of
all rounds. Points are new in every round, so that nothing is remembered but what serves many points. A row that the
older version refuses has its reason. --maps: the rows of whole maps too, which take minutes.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from seconds import readable

HERE = Path(__file__).resolve().parents[1]
# the command as it is installed: an older version ends as any program of Python
SHELL = "import sys; from giantstep.cli import main as cli; sys.exit(getattr(cli, 'program', cli.main)())"
EXAMPLE = HERE / "examples" / "tanh_sign.toml"
PARITY: dict[str, Any] = {
    "network": {"activation": "gelu", "width": 0.5},
    "spike": {"strength": 1.5, "alignment": [0.6, 0.5], "bulk_variance": 1.2},
    "target": {"link": "sign(z1*z2)"},
    "fit": {"samples": 2.0, "ridge": 0.1},
}
BENT: dict[str, Any] = {
    "network": {"activation": "tanh", "width": 0.5},
    "spike": {"strength": 1.2, "alignment": [0.7, 0.4], "bulk_variance": 1.3},
    "target": {"link": "tanh(z1*z2)"},
    "fit": {"samples": 2.0, "ridge": 0.1},
}
SEVERAL: dict[str, Any] = {"network.readout.values": [-1.5, -0.5, 0.7, 1.3], "network.readout.fractions": [0.25] * 4}
LOGISTIC: dict[str, Any] = {"fit.loss": "logistic"}
TRAINED: dict[str, Any] = {"step.bulk": "trained", "step.samples": 4.0}
CALLS = 50
NEW = itertools.count(1)


@dataclass(frozen=True)
class Row:
    """What is timed, the goal that was set for it, and its seconds in the version that is imported."""

    what: str
    goal: str
    seconds: Callable[[], float]


def spent(call: Callable[[], object]) -> float:
    """Processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def model(changes: dict[str, Any], data: dict[str, Any] | None = None) -> Any:
    """The example, or a model of tables, with changes."""
    import giantstep as gs  # the version of the worker

    return (gs.Model.from_toml(EXAMPLE) if data is None else gs.Model.from_dict(data)).replace(changes)


def points(base: Any, key: str, values: Any) -> list[Any]:
    """Models at values of a key, next to which none was before."""
    return [base.replace({key: float(value) + 1e-7 * next(NEW)}) for value in values]


def kernel() -> float:
    """The generated solver of the square loss alone: as this version's ``speed.py`` calls it; of a version that gives
    it room to work in, which ``speed.py`` does not, the last call of a solve.
    """
    import giantstep.system.square_loss as owner
    from giantstep.system.solve import solve

    called: list[Any] = []
    if (run := getattr(owner, "run_solver", None)) is not None:

        def told(*given: Any) -> Any:
            called.append(given)
            return run(*given)

        setattr(owner, "run_solver", told)  # noqa: B010
        solve(model({}))
        setattr(owner, "run_solver", run)  # noqa: B010
        return min(spent(lambda: [run(*called[-1]) for _ in range(CALLS)]) for _ in range(CALLS)) / CALLS
    sys.path.insert(0, str(Path(owner.__file__).resolve().parents[2] / "benchmarks"))
    import speed

    return float(min(speed.kernel_seconds(model({})) for _ in range(5)))


def each(base: Any, key: str = "fit.samples", count: int = 100) -> float:
    """The mean time of many points."""
    from giantstep.system.solve import solve

    models = points(base, key, np.linspace(0.5, 1.5, count))
    return spent(lambda: [solve(one) for one in models]) / count


def least(base: Any, count: int, key: str = "fit.samples") -> float:
    """The least time of a few points; the first makes what all share."""
    from giantstep.system.solve import solve

    places = np.linspace(1.5, 2.5, count) if key == "fit.samples" else np.linspace(0.5, 0.7, count)
    return min(spent(partial(solve, one)) for one in points(base, key, places))


def decomposed(changes: dict[str, Any], held: bool, count: int) -> float:
    """The least time of pairs of fits of a few points that are new in their samples; held: all of one batch."""
    from giantstep import decompose

    given = ("batch",) if held else ()
    some = points(model(changes), "fit.samples", [2.0] * count)
    return min(spent(partial(decompose, one, given=given)) for one in some)


def kinked(link: str) -> float:
    """A point of the Huber loss on a link of two indices with kinks, without noise."""
    return least(model({"target.link": link, "fit.loss": "huber"}, PARITY), 4)


def bent(link: str, loss: str) -> float:
    """A point of a loss with kinks on a bent label of two indices, without noise."""
    return least(model({"fit.loss": loss, "target.link": link}, BENT), 2)


def after_steps(
    count: int,
    activation: str = "tanh",
    link: str = "sign",
    values: tuple[float, ...] = (1.0,),
    key: str = "fit.samples",
) -> float:
    """A point of the trained bulk after several steps; key: in what it is new."""
    readout = {"values": list(values), "fractions": [1.0 / len(values)] * len(values)}
    tables = {
        "network": {"activation": activation, "width": 0.5, "readout": readout},
        "step": [{"samples": 4.0, "learning_rate": 1.0, "bulk": "trained"}] * count,
        "target": {"link": link},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    return least(model({}, tables), 8, key)


def swept(base: Any, *axes: str, baselines: bool = True) -> float:
    """A curve or map; ``{}`` in an axis becomes digits that are new."""
    from giantstep.sweep.curve import curve

    sweeps = [axis.format(f"{next(NEW):05d}") for axis in axes]
    return spent(lambda: curve(base, sweeps, baselines=baselines))


SAMPLES, RATES = "fit.samples=0.2{}:4:200", "step.learning_rate=0.5{}:1.5:200"
ROWS = {
    "kernel": Row("square loss, the kernel (before: the finer order alone)", "2.1 times", kernel),
    "solve": Row("square loss, a certified `solve`", "3.15 times", lambda: each(model({}))),
    "rates": Row("new coefficients, one readout value", "17 times", lambda: each(model({}), "step.learning_rate", 50)),
    "rates4": Row(
        "new coefficients, four readout values", "31 times", lambda: each(model(SEVERAL), "step.learning_rate", 50)
    ),
    "logistic": Row("logistic loss, a point", "3.25 times", lambda: least(model(LOGISTIC), 20)),
    "samples": Row(
        "its curve of 100 samples",
        "3.4 times",
        lambda: swept(model(LOGISTIC), "fit.samples=0.5{}:5:100", baselines=False),
    ),
    "ridges": Row(
        "its curve of 100 ridges",
        "3.4 times",
        lambda: swept(model(LOGISTIC), "fit.ridge=0.001{}:10:100:log", baselines=False),
    ),
    "trained": Row("trained bulk, tanh on sign", "4.3 times, 3 ms", lambda: least(model(TRAINED), 8)),
    "trained_logistic": Row(
        "trained bulk, logistic loss", "4.3 times", lambda: least(model({**TRAINED, **LOGISTIC}), 6)
    ),
    "trained_relu": Row(
        "trained bulk, relu on tanh",
        "solved",
        lambda: least(model({**TRAINED, "network.activation": "relu", "target.link": "tanh"}), 6),
    ),
    "two_steps": Row("trained bulk, two steps, tanh on sign", "5 ms", lambda: after_steps(2)),
    "three_steps": Row("trained bulk, three steps, tanh on sign", "5 ms", lambda: after_steps(3)),
    "two_values": Row(
        "trained bulk, two steps, two readout values", "5 ms", lambda: after_steps(2, values=(1.0, -0.5))
    ),
    "three_values": Row(
        "trained bulk, two steps, three readout values", "5 ms", lambda: after_steps(2, values=(1.0, -0.5, 0.3))
    ),
    "far_values": Row(
        "trained bulk, two steps, three readout values, one of them large",
        "5 ms",
        lambda: after_steps(2, values=(1.0, -0.5, 2.0)),
    ),
    "new_rows": Row("the same at a new width, one value", "10 ms", lambda: after_steps(2, key="network.width")),
    "new_rows_relu": Row(
        "the same, relu on tanh", "10 ms", lambda: after_steps(2, "relu", "tanh", key="network.width")
    ),
    "new_rows3": Row(
        "the same, three readout values",
        "50 ms",
        lambda: after_steps(2, values=(1.0, -0.5, 2.0), key="network.width"),
    ),
    "steps_relu": Row("trained bulk, three steps, relu on tanh", "5 ms", lambda: after_steps(3, "relu", "tanh")),
    "parity": Row("`sign(z1*z2)`, square loss", "0.1 s", lambda: least(model({}, PARITY), 10)),
    "parity_logistic": Row("`sign(z1*z2)`, logistic", "0.1 s", lambda: least(model(LOGISTIC, PARITY), 4)),
    "parity_hinge": Row("`sign(z1*z2)`, hinge", "0.1 s", lambda: least(model({"fit.loss": "hinge"}, PARITY), 4)),
    "polygons": Row("`relu(z1) + relu(z2)`, huber", "0.1 s", lambda: kinked("relu(z1) + relu(z2)")),
    "half_planes": Row("`max(z1, z2)`, huber", "0.1 s", lambda: kinked("max(z1, z2)")),
    "bent_absolute": Row("`tanh(z1*z2)`, absolute", "0.1 s", lambda: bent("tanh(z1*z2)", "absolute")),
    "bent_growing": Row("`exp(z1/3)*tanh(z2)`, absolute", "0.1 s", lambda: bent("exp(z1/3)*tanh(z2)", "absolute")),
    "bent_huber": Row("`tanh(z1)*z2**2`, huber", "0.1 s", lambda: bent("tanh(z1)*z2**2", "huber")),
    "bent_squares": Row("`z1**2 + z2**2`, huber", "0.1 s", lambda: bent("z1**2 + z2**2", "huber")),
    "pieces": Row("`relu(z1)*relu(z2)`, huber", "0.1 s", lambda: kinked("relu(z1)*relu(z2)")),
}
MAPS = {
    "map_samples": Row("200 x 200 map, samples inside", "4 s", lambda: swept(model({}), SAMPLES, RATES)),
    "map_rates": Row("200 x 200 map, learning rates inside", "4 s", lambda: swept(model({}), RATES, SAMPLES)),
}
SHELL_ROW = ("`giantstep solve` from the shell, later runs", "1.71 times")


BLOCKS: dict[str, Any] = {"network.readout.values": [1.0, -0.6], "network.readout.fractions": [0.5, 0.5]}
SMOOTH: dict[str, Any] = {"target.link": "tanh(2*z)", "target.noise": 0.1, "fit.loss": "huber"}
KINDS: dict[str, tuple[str, dict[str, Any], int]] = {
    "square": ("square loss", {}, 40),
    "square2": ("square loss, two readout values, noise", {**BLOCKS, "target.noise": 0.1}, 20),
    "logistic": ("logistic loss", LOGISTIC, 15),
    "huber": ("Huber loss on tanh(2*z), noise", SMOOTH, 6),
}
PAIRS = {  # of fits, beside a solve: ``decompose.py``
    f"{way}_{kind}": Row(f"{words}, {way}", "two solves", partial(seconds, changes, count))
    for kind, (words, changes, count) in KINDS.items()
    for way, seconds in {
        "one": lambda changes, count: least(model(changes), count),
        "held": lambda changes, count: decomposed(changes, True, count),
        "all": lambda changes, count: decomposed(changes, False, count),
    }.items()
}


class Version:
    """A checkout whose rows are timed in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONWARNINGS": "ignore"}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode
        self.bytecode = TemporaryDirectory()
        self.environment["PYTHONPYCACHEPREFIX"] = self.bytecode.name
        command = [sys.executable, __file__, str(folder), "--worker"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=self.environment, cwd=folder,
        )  # fmt: skip

    def seconds(self, name: str) -> float | str:
        """The time of a row, or why there is none."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(name, file=self.process.stdin, flush=True)
        found = self.process.stdout.readline().strip()
        try:
            return float(found)
        except ValueError:
            return found

    def shell(self) -> float:
        """The time of the command that solves the example."""
        before = os.times()
        command = [sys.executable, "-c", SHELL, "solve", str(EXAMPLE)]
        subprocess.run(command, env=self.environment, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system


def work() -> None:
    """Time the rows that are asked for, in the version that is imported."""
    for line in sys.stdin:
        try:
            print(f"{(ROWS | MAPS | PAIRS)[line.strip()].seconds():.9g}", flush=True)
        except Exception as error:  # noqa: BLE001 - an older version may refuse, or lack a function
            print(f"{type(error).__name__}: {error}".replace("\n", " ")[:100], flush=True)


def compare(what: str, goal: str, ways: tuple[Callable[[], float | str], ...], rounds: int) -> None:
    """Print a row of the table: both ways in turns, each with its least time."""
    found: tuple[list[float | str], ...] = ([], [])
    for number in range(rounds):
        for place in (0, 1) if number % 2 == 0 else (1, 0):
            found[place].append(ways[place]())
    best = [min((t for t in times if isinstance(t, float)), default=str(times[0])) for times in found]
    before, now = best
    ratio = f"{before / now:.3g}" if isinstance(before, float) and isinstance(now, float) else ""
    print(f"| {what} | {goal} | {readable(before)} | {readable(now)} | {ratio} |", flush=True)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="another checkout")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", nargs="+", default=[*ROWS, "shell"], choices=[*ROWS, *MAPS, "shell"])
    parser.add_argument("--maps", action="store_true", help="whole maps too")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work()
        return 0
    before, now = versions = Version(given.folder.resolve()), Version(HERE)
    print("| what | goal | before | now | ratio |\n|---|---|---|---|---|")
    for name in [*given.rows, *(MAPS if given.maps else ())]:
        if name == "shell":
            for version in versions:
                version.shell()
            compare(*SHELL_ROW, (before.shell, now.shell), 3 * given.rounds)
            continue
        row = (ROWS | MAPS)[name]
        ways = partial(before.seconds, name), partial(now.seconds, name)
        compare(row.what, row.goal, ways, given.rounds)
    for version in versions:
        version.process.communicate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
