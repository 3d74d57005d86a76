"""Every check of the repository, in the environment of the Python that runs this: style, types, imports, generated
files, tests. The exit status is 0 where all of them pass; further arguments go to pytest.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = Path(sys.executable).parent


def commands(pytest_arguments: list[str]) -> list[list[str]]:
    """The checks in order; pytest last, so that its summary ends the output; it compares `generated/` too.

    Neighbours in a file share what they derive, compile and solve: a process takes half of the list, then what is left.
    """
    return [
        ["ruff", "check", "--quiet", "."],
        ["ruff", "format", "--check", "--quiet", "."],
        ["mypy"],
        ["lint-imports"],
        ["pytest", "-q", "-n", "2", "--dist", "worksteal", *(pytest_arguments or ["-m", "not slow"])],
    ]


def main() -> int:
    """Run all of them, also after a failure."""
    failed = []
    for command in commands(sys.argv[1:]):
        print(f"\n$ {shlex.join(command)}", flush=True)
        script = [str(SCRIPTS / command[0]), *command[1:]]
        if subprocess.run(script, cwd=ROOT, check=False).returncode:
            failed.append(command[0])
    if failed:
        print(f"failed: {', '.join(failed)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
