"""The command verify: a model reached by several paths, as a table of checks."""

from __future__ import annotations

import argparse
import json

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, command, model_of
from giantstep.cli.text import echo


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    verify = command(
        subparsers,
        "verify",
        "check a model by independent paths; exit 1 where a check fails",
        "giantstep verify model.toml",
        _verify,
    )
    add_model(verify)
    verify.add_argument("--json", action="store_true", help="print one JSON object when all is done")
    verify.add_argument("--dimension", type=int, help="input dimension of the simulation (default: 200)")
    verify.add_argument("--seeds", type=int, help="systems to simulate; more of them see smaller errors (default: 64)")


def _verify(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)  # a bad model loads nothing
    given = {name: getattr(arguments, name) for name in ("dimension", "seeds")}
    counts = {name: value for name, value in given.items() if value is not None}
    if not arguments.json:
        return 0 if gs.verify(model, echo, **counts) else 1
    from giantstep.verify.run import checks  # help and bad arguments do without

    found = list(checks(model, **counts))
    holds = all(check.outcome != "FAILED" for check in found)
    print(json.dumps({"holds": holds, "checks": [check.to_dict() for check in found]}, indent=2, allow_nan=False))
    return 0 if holds else 1
