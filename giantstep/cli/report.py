"""The command report: derivation, solution and evidence of a model as one document."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, command, model_of
from giantstep.cli.progress import Bars
from giantstep.spec.files import DOCUMENTS, check_writable


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    report = command(
        subparsers,
        "report",
        "derivation, solution, curves and checks of a model as one document",
        "giantstep report model.toml -o report.html\n  giantstep report model.toml -o report.tex --dimension 1000",
        _report,
    )
    add_model(report)
    report.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="report.html: one file for a browser; report.tex: LaTeX, with report.bib and pictures beside it",
    )
    report.add_argument("--dimension", type=int, metavar="D", help="include the leading finite-size correction")
    report.add_argument(
        "--simulate",
        action="store_true",
        help="also simulate, points of the curve and the errors, at --dimension or 200; takes minutes",
    )
    report.add_argument("--seeds", type=int, default=64, metavar="S", help="number of systems (default 64)")
    report.add_argument("--points", type=int, default=41, metavar="N", help="points of the learning curve (default 41)")


def _report(arguments: argparse.Namespace) -> int:
    check_writable(arguments.output, DOCUMENTS)
    model = model_of(arguments)
    with Bars() as bars:
        found = gs.report(
            model,
            arguments.output,
            dimension=arguments.dimension,
            simulate=arguments.simulate,
            seeds=arguments.seeds,
            points=arguments.points,
            progress=bars,
        )
    for part, reason in found.refused.items():
        print(f"no {part}: {reason}")
    for name in found.failed:
        print(f"FAILED: {name}")
    print(f"written: {', '.join(map(str, found.files))}")
    return found.exit_code
