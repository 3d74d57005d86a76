"""The command spectrum: eigenvalues of the features' Gram matrix."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, add_simulation, add_tolerance, command, model_of
from giantstep.cli.pictures import add_plot, check_plot, plot
from giantstep.cli.progress import Bars
from giantstep.cli.text import Line, aligned, numbers
from giantstep.spec.errors import BadInput

if TYPE_CHECKING:
    from giantstep.observe.spectrum.simulated import Eigenvalues

DEFAULT_SEEDS = 4
_KINDS = {"edge": "", "tail": " (the density fades out there)", "zero": " (down to zero)"}


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    spectrum = command(
        subparsers,
        "spectrum",
        "spectrum of the features' Gram matrix Phi^T Phi / p: density, edges, mass at zero, outliers",
        "giantstep spectrum model.toml --simulate --dimension 1000 --plot spectrum.pdf",
        _spectrum,
    )
    add_model(spectrum)
    spectrum.add_argument(
        "--dimension",
        type=int,
        metavar="D",
        help="input dimension d of the outliers that grow with it, and of the simulation",
    )
    add_tolerance(spectrum)
    spectrum.add_argument("--simulate", action="store_true", help="simulate eigenvalues (needs --dimension)")
    add_simulation(spectrum, DEFAULT_SEEDS)
    add_plot(spectrum, "the density")
    spectrum.add_argument("--json", action="store_true", help="print one JSON object")


def _spectrum(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    if arguments.simulate and arguments.dimension is None:
        raise BadInput("--simulate needs a dimension", "give for example --dimension 1000")
    check_plot(arguments)
    with Bars() as bars:
        found = gs.spectrum(
            model,
            dimension=arguments.dimension,
            tolerance=arguments.tolerance,
            simulate=arguments.simulate,
            seeds=arguments.seeds,
            what=arguments.what,
            seed=arguments.seed,
            progress=bars.message,
        )
    simulated = found.simulated
    plot(found, arguments)
    if arguments.json:
        ran = {} if simulated is None else {"simulation": simulated.to_dict(found)}
        print(json.dumps({**found.to_dict(), **ran}, indent=2, allow_nan=False))
        return 0
    print(aligned([*_lines(found), *(_compared(found, simulated) if simulated else [])]))
    if arguments.plot:
        print(f"written: {arguments.plot}")
    return 0


def _lines(found: gs.Spectrum) -> list[Line]:
    lines: list[Line] = [("matrix", "Phi^T Phi / p", "p x p, features of the n samples of the fit")]
    for number, part in enumerate(found.bulks, start=1):
        name = "support" if len(found.bulks) == 1 else f"interval {number}"
        ends = f"{part.low.x:.9g} to {part.high.x:.9g}"
        remark = f"mass {part.mass:.9g}{_KINDS[part.low.kind]}"
        lines.append((name, ends, remark + ("; the upper end fades out" if part.high.kind == "tail" else "")))
    lines.append(("mass at zero", f"{found.mass_at_zero:.9g}", "1 - rank/p"))
    if found.unresolved:
        lines.append(("unresolved mass", f"{found.unresolved:.6g}", f"above zero, below {found.floor:.1e}"))
    lines.append(("total mass - 1", f"{found.total - 1.0:.1e}", "each part found apart from the others"))
    where = "that stay finite as d grows" if found.dimension is None else f"at d = {found.dimension}"
    if len(found.outliers):
        lines.append(("outliers", numbers(found.outliers.tolist()), where))
    if len(found.growing):
        lines.append(("outliers over d", numbers(found.growing.tolist()), "as d grows: from the mean features"))
    return [*lines, ("time", f"{found.seconds:.3g} s", "")]


def _compared(found: gs.Spectrum, simulated: Eigenvalues) -> list[Line]:
    mean, error = simulated.largest(len(found.outliers) + 1)
    pairs = "  ".join(f"{m:.6g} +- {e:.2g}" for m, e in zip(mean, error, strict=True))
    return [
        ("largest, simulated", pairs, f"{simulated.what}, d = {simulated.dimension}, {simulated.seeds} seeds"),
        ("Kolmogorov distance", f"{simulated.distance(found):.4f}", "of all simulated eigenvalues to the theory"),
    ]
