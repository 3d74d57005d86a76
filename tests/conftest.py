"""How tests are run, which are long, and fixtures of the command line: a model file, the program in this process."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from pkgutil import resolve_name

import pytest
from cli_cases import TEXT, Run

from giantstep.cli.main import main
from giantstep.law import known_indices
from giantstep.spec import emission, workshop
from giantstep.system.sooner_compiled import compiled_sooner

LONG = Path(__file__).with_name("long_tests.txt")
#: Not in the middle of the list, where the second worker begins: examples, which compile what all need, derivations,
#: which need nothing, and processes beside the worker, which would compile what the examples compile at that time.
PLACES = {"docs": 0, "derive": 2, "spec": 2, "sweep": 2, "system": 2, "verify": 2, "tests": 3}


def pytest_configure(config: pytest.Config) -> None:
    """The workers share the cores: threads of the linear algebra of one would only wait for those of another.

    What SymPy found for one test serves the next: of the thousand results that it keeps by default few are left then.
    Programs that tests start import the packages that the tests import, with what is compiled of them, wherever they
    are started. Every other worker reads the folders from the end: it finds what the first have compiled of the rest.
    """
    number = getattr(config, "workerinput", {}).get("workerid", "gw0")
    if int(number.removeprefix("gw")) % 2 == 1 and [Path(given).resolve() for given in config.args] == [LONG.parent]:
        config.args = [str(path) for path in sorted(LONG.parent.iterdir(), reverse=True) if holds_tests(path)]
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("SYMPY_CACHE_SIZE", "50000")
    os.environ["PYTHONSAFEPATH"] = "1"
    gc.set_threshold(50_000, 20, 20)  # modules and tests stay to the end


def holds_tests(path: Path) -> bool:
    """Whether a folder or a file has tests that are collected."""
    return path.match("test_*.py") or any(path.glob("test_*.py"))


def pytest_collection_finish() -> None:
    """The garbage collector need not look through modules and tests again and again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the list as slow, and put those in order.

    Two workers take half of the list each: the second derives while the first compiles.
    """
    items.sort(key=lambda item: (PLACES.get(item.path.parent.name, 1), item.path))
    lines = {line for line in LONG.read_text(encoding="utf-8").splitlines() if not line.startswith("#")}
    for item in items:
        if item.nodeid in lines:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.toml"
    path.write_text(TEXT)
    return str(path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("GIANTSTEP_DEBUG", raising=False)

    def called(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        found = capsys.readouterr()
        return code, found.out, found.err

    return called


def derived_here(kind: str, text: str) -> str:
    """`emission.emitted` in this process, which has loaded SymPy; a process of its own would load it again."""
    return emission.module_of(kind, text, workshop.answer(kind, text))


#: What starts a process, and what takes its place: the workers keep all processors busy.
ALONE: dict[str, Callable[..., object]] = {
    "giantstep.spec.kernels.emitted": derived_here,
    "giantstep.spec.kernels.machine_code": lambda title, text: {},  # compiled here, where it is needed
    "giantstep.system.first_compilation._child": lambda *_: None,
}


@pytest.fixture(autouse=True, scope="session")
def starters() -> Iterator[dict[str, Callable[..., object]]]:
    """What starts processes in the program; tests do without."""
    found = {name: resolve_name(name) for name in ALONE}
    with pytest.MonkeyPatch.context() as patch:
        for name, replacement in ALONE.items():
            patch.setattr(name, replacement)
        yield found


@pytest.fixture(autouse=True, scope="session")
def compilations_take_less_time() -> Iterator[None]:
    """As where the program compiles for the first time."""
    with compiled_sooner():
        yield


@pytest.fixture
def processes_of_their_own(starters: dict[str, Callable[..., object]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Expressions are derived, and kernels compiled first, as in the program."""
    for name, original in starters.items():
        monkeypatch.setattr(name, original)


@pytest.fixture
def in_letters(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Links in all their letters, also those that know fewer directions: what several indices give is held against one
    index.
    """
    known_indices._of_several.cache_clear()
    monkeypatch.setattr(known_indices, "_known", lambda text: None)
    yield
    known_indices._of_several.cache_clear()
