"""No reported number depends on the kernels or the threads of the linear algebra library.

They sum in different orders. Where the equations determine what is reported, that is seen in rounding alone, of linear
systems with condition numbers up to about 1e5: ten digits are the same.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest
from undetermined_cases import cases, numbers

import giantstep

ROOT = Path(giantstep.__file__).parents[1]
CASES = Path(__file__).parents[1] / "oracles" / "undetermined_cases.py"
DIGITS = 1e-10
# kernels of OpenBLAS, the feature of the processor that each needs, and the number of threads it is run with
KERNELS = (("Nehalem", "sse4.2", 1), ("Haswell", "avx2", 2), ("Zen", "avx2", 1), ("SkylakeX", "avx512f", 2))


def run(kernel: str, threads: int) -> dict[str, dict[str, list[float]]]:
    environment = {
        **os.environ,
        "OPENBLAS_CORETYPE": kernel,
        "OPENBLAS_NUM_THREADS": str(threads),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, str(CASES)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, list[float]]] = json.loads(done.stdout)
    return found


def here() -> dict[str, dict[str, list[float]]]:
    """By the kernel that this process has chosen."""
    return {name: numbers(model) for name, model in cases().items()}


@pytest.mark.parametrize("every", [True, False], ids=["all", "this and the oldest"])
@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="these kernels are of x86 processors")
def test_numbers_do_not_depend_on_the_linear_algebra(every: bool) -> None:
    features = llvm.get_host_cpu_features()
    usable = [(kernel, threads) for kernel, needs, threads in KERNELS if features.get(needs)]
    assert len(usable) > 1, "one kernel only is nothing to compare"
    first, *others = [run(*kernel) for kernel in usable] if every else [here(), run(usable[0][0], 2)]
    for name, families in first.items():
        norm = np.sqrt(max(map(abs, families["Q2"])))  # of the readout: the size of overlaps that vanish by symmetry
        for family, values in families.items():
            size = max(*map(abs, values), norm if family in ("m", "zeta", "psi", "norm") else 0.0)
            for other in others:
                worst = np.abs(np.subtract(other[name][family], values)).max()
                assert worst <= DIGITS * size, (name, family, worst, size)
