"""Memory of one process that solves models with ever new activations: expressions that have no kernel yet.

They are derived and compiled in another process. This one keeps the last 256 of them, and what their averages are
interpolated from: after some hundreds memory stays where it is.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from pathlib import Path

from giantstep.spec.model import Model
from giantstep.system.solve import solve

MODEL = Path(__file__).resolve().parents[1] / "examples" / "tanh_sign.toml"


def resident() -> float:
    """Memory of this process that is in use, in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--expressions", type=int, default=600, help="how many activations are solved")
    parser.add_argument("--every", type=int, default=100, help="how often memory is read")
    parser.add_argument(
        "--form", default="tanh({}*z)", help="activation with {} for a number; relu({}*z) is the cheapest"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GIANTSTEP_CACHE"] = folder  # no expression has a kernel
        _solve_all(Model.from_toml(MODEL), arguments.form, arguments.expressions, arguments.every)
    return 0


def _solve_all(model: Model, form: str, count: int, every: int) -> None:
    last, start = resident(), time.perf_counter()
    print(f"{'expressions':>12}{'MB':>9}{'kB for each since':>20}{'seconds':>10}")
    for number in range(1, count + 1):
        solve(model.replace({"network.activation": form.format(repr(1.0 + number / 1e6))}))
        if number % every == 0:
            gc.collect()
            now = resident()
            seconds = time.perf_counter() - start
            print(f"{number:>12}{now:>9.1f}{1e3 * (now - last) / every:>20.0f}{seconds:>10.0f}", flush=True)
            last = now


if __name__ == "__main__":
    sys.exit(main())
