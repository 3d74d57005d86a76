"""What is imported when: solving with committed kernels stays light, and the simulator knows no theory."""

from __future__ import annotations

import ast
import builtins
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import giantstep

ROOT = Path(giantstep.__file__).parents[1]
OURS = ("codegen", "derive", "generated", "giantstep")
SOLVE = """
from giantstep.spec.model import Fit, Model, Network, Readout, Step, Target
from giantstep.system.solve import solve
from giantstep.spec.fit_loss import FitLoss
one, two = Readout((1.0,), (1.0,)), Readout((1.0, 0.5), (0.5, 0.5))
for readout, loss in (one, "square"), (two, "square"), (one, "logistic"):
    model = Model(Network("tanh", 1.0, readout), Target("sign"), Fit(2.0, 0.1, FitLoss(loss)), step=Step(1.0, 1.0))
    solve(model, dimension=1000)
"""


def loaded_by(code: str, folder: Path) -> set[str]:
    """Names of the modules that a fresh interpreter has after running the code."""
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_solving_loads_no_compiler(tmp_path: Path) -> None:
    """Neither SymPy nor what emits, nor what numba needs to compile, where all that is needed is compiled."""
    exec(SOLVE, {})  # what is compiled here need not be compiled there
    loaded = loaded_by(SOLVE, tmp_path)
    assert {"generated.systems.square", "generated.systems.isotropic"} <= loaded
    unwanted = {"sympy", "mpmath", "codegen", "matplotlib", "xarray", "derive.scalar", "derive.coefficients"}
    assert not (unwanted | {"numba.np.arraymath", "scipy.linalg"}) & loaded


def test_the_simulator_loads_nothing_else_of_ours(tmp_path: Path) -> None:
    loaded = loaded_by("import giantstep.simulate.run", tmp_path)
    ours = {name for name in loaded if name.split(".")[0] in OURS}
    assert "giantstep.simulate.run" in ours
    assert ours - {"giantstep"} == {name for name in ours if name.startswith("giantstep.simulate")}


def test_the_simulator_names_nothing_else_of_ours() -> None:
    """Also inside functions, where the test above sees nothing."""
    seen = set()
    for path in sorted((ROOT / "giantstep" / "simulate").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path.name} has a relative import"
                names = [str(node.module)]
            seen |= {name for name in names if name.split(".")[0] in OURS}
    assert "giantstep.simulate.system" in seen
    assert {name for name in seen if not name.startswith("giantstep.simulate")} == set()


def test_the_package_exports_load_lazily(tmp_path: Path) -> None:
    assert not {"sympy", "codegen", "matplotlib", "numba"} & loaded_by("import giantstep", tmp_path)


def test_a_star_brings_all_names_and_hides_none_of_python() -> None:
    brought = set(giantstep.__all__)
    assert not brought & set(dir(builtins))
    assert set(dir(giantstep)) - brought == {"map"}


def test_every_public_name_loads() -> None:
    assert set(dir(giantstep)) == {"__version__", *giantstep._HOME}
    for name in dir(giantstep):
        assert getattr(giantstep, name) is not None
        assert not isinstance(getattr(giantstep, name), ModuleType), f"{name} is a module"
