"""Every check of the repository, in the environment of the Python that runs this: style, types, imports, generated
files, tests. The exit status is 0 where all of them pass; further arguments go to pytest.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = Path(sys.executable).parent


#: What pip has not compiled is compiled once, where it is imported first. Memory of large arrays stays with the process
#: (of glibc): to ask the system for it anew, page by page, takes a twentieth of the time of all tests.
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
}
QUICK = (["ruff", "check", "--quiet", "."], ["ruff", "format", "--check", "--quiet", "."], ["lint-imports"])
TYPES = ["mypy"]


def tests(arguments: list[str]) -> list[str]:
    """pytest, whose summary ends the output; it compares `generated/` too.

    Neighbours in a file share what they derive, compile and solve: a process takes half of the list, then what is left.
    Of packages with a plugin that it finds by itself pytest would rewrite every module.
    """
    options = ["--disable-plugin-autoload", "-p", "xdist", "-n", "2", "--dist", "worksteal"]
    return ["pytest", "-q", *options, *(arguments or ["-m", "not slow"])]


def fails(command: list[str], **options: Any) -> bool:
    """Run a check; what it prints is shown with its command, at once or at its end."""
    call = [str(SCRIPTS / command[0]), *command[1:]]
    shown = f"\n$ {shlex.join(command)}"
    if not options:
        print(shown, flush=True)
    done = subprocess.run(call, cwd=ROOT, env=ENVIRONMENT, text=True, check=False, **options)
    if options:
        print(f"{shown}\n{done.stdout}", end="", flush=True)
    return done.returncode != 0


def main() -> int:
    """Run all of them, also after a failure; types are checked while tests run."""
    with ThreadPoolExecutor(1) as pool:
        types = pool.submit(fails, TYPES, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        failed = [command[0] for command in (*QUICK, tests(sys.argv[1:])) if fails(command)]
    failed += TYPES[:1] * types.result()
    if failed:
        print(f"failed: {', '.join(failed)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
