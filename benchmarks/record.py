"""Run a benchmark and keep what it prints, with machine, versions and date: the site shows these records.

``python benchmarks/record.py speed tanh_sign speed.py --quick``: the page, the name of the record, the command.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ("giantstep", "numba", "numpy", "scipy", "sympy")


def measured(command: list[str]) -> dict[str, object]:
    """What a benchmark printed, and where. Raises CalledProcessError where it fails."""
    begun, before = time.perf_counter(), os.times()
    done = subprocess.run([sys.executable, str(HERE / command[0]), *command[1:]], stdout=subprocess.PIPE, check=True)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return {
        "command": " ".join(["python", f"benchmarks/{command[0]}", *command[1:]]),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} processors, {platform.system()}",
        "versions": {"Python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "processor_seconds": round(spent, 1),
        "seconds": round(time.perf_counter() - begun, 1),
        "output": done.stdout.decode(),
    }


def _processor() -> str:
    """Its name as Linux knows it, else what Python says of it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", choices=("accuracy", "speed"), help="of the site")
    parser.add_argument("name", help="of the record")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="a file of this folder and its options")
    arguments = parser.parse_args()
    found = measured(arguments.command)
    path = HERE / "records" / arguments.page / f"{arguments.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")
    print(found["output"], end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
