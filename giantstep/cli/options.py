"""What several commands share: the parser, the model with its changes, counts. Light imports only."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

import giantstep as gs
from derive.language.grammar import did_you_mean, shorten
from giantstep.spec.errors import BadInput

Subparsers: TypeAlias = "argparse._SubParsersAction[Parser]"
Command: TypeAlias = Callable[[argparse.Namespace], int]

_EXACT = 2**53  # whole numbers below are doubles
_REPEATED = ("--set", "--sweep")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are sentences with a hint."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        options.setdefault("allow_abbrev", False)
        super().__init__(**options)
        self.register("type", int, _whole)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise BadInput for a command that there is not."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            known = tuple(action.choices)
            raise BadInput(
                f"there is no command {shorten(value)}", f"{did_you_mean(value, known)}commands are {', '.join(known)}"
            )
        super()._check_value(action, value)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write the help or the version; argparse says nothing where that fails."""
        if message and file is not None:
            file.write(message)

    def unknown(self, words: Sequence[str]) -> BadInput:
        """The error for words that are no arguments of a command."""
        word = words[0].partition("=")[0]
        taking = [action for action in self._actions if _taken_by(action) == word.strip("-").rstrip("s")]
        options = tuple(option for action in taking or self._actions for option in action.option_strings)
        if word.startswith("-"):
            meant = f"did you mean '{options[0]}'? " if taking else did_you_mean(word, options)
        else:
            meant = self._with_option(word, "=" in words[0])
        return BadInput(f"unrecognized arguments: {' '.join(words)}", f"{meant}see: {self.prog} --help")

    def _with_option(self, key: str, valued: bool) -> str:
        """The words for a key of a model that stands alone: the option that takes keys, or keys and values."""
        shown = [(action, action.metavar) for action in self._actions if isinstance(action.metavar, str)]
        taking = [action for action, one in shown if one.startswith("KEY") and ("=" in one) == valued]
        if "." not in key or not taking:
            return ""
        options = " or ".join(action.option_strings[0] for action in taking)
        return f"write {options} before {key}; "

    def error(self, message: str) -> NoReturn:
        """Raise BadInput in place of printing the usage and leaving."""
        raise BadInput(message, f"see: {self.prog} --help")


def _taken_by(action: argparse.Action) -> str:
    """What an option takes, in a word, as key for KEY[,KEY]."""
    shown = action.metavar if isinstance(action.metavar, str) and action.option_strings else ""
    return shown.partition("[")[0].lower()


def _whole(text: str) -> int:
    """A whole number, however it is written: 1000, 1e3."""
    with contextlib.suppress(ValueError):
        return int(text)
    with contextlib.suppress(ValueError):
        if (value := float(text)).is_integer():
            if abs(value) < _EXACT:
                return int(value)
            raise argparse.ArgumentTypeError(f"{text!r} is too large")
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number: write it as 1000 or 1e3")


def command(subparsers: Subparsers, name: str, does: str, example: str, run: Command) -> Parser:
    """A subcommand with its help text."""
    parser = subparsers.add_parser(
        name, help=does, description=f"{does[0].upper()}{does[1:]}.", epilog=f"example:\n  {example}"
    )
    parser.set_defaults(run=run, parser=parser)
    return parser


def add_model(parser: Parser) -> None:
    """The argument MODEL and the option --set."""
    parser.add_argument("model", metavar="MODEL", help="model file (TOML), or - for standard input")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a value of the model, for example fit.samples=1.5; may be repeated",
    )


def add_tolerance(parser: Parser) -> None:
    """The option --tolerance."""
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-10,
        metavar="T",
        help="relative error of the test error that quadrature may leave (default 1e-10)",
    )


def add_simulation(parser: Parser, seeds: int = 10) -> None:
    """The options that say which finite system is simulated; ``seeds`` is their default number."""
    parser.add_argument("--seeds", type=int, default=seeds, metavar="S", help=f"number of systems (default {seeds})")
    parser.add_argument(
        "--what",
        choices=("network", "srf", "gaussian"),
        help="srf: the spiked random features, which is what the theory with the isotropic bulk describes; network: "
        "the network after its gradient step, described with the trained bulk; gaussian: the conditionally Gaussian "
        "features (default: network for the trained bulk, and where the batch is drawn again; else srf)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random numbers (default 0)")


def add_accuracy(parser: Parser) -> None:
    """The options --dimension, --tolerance and --json of what is told of a solution."""
    parser.add_argument("--dimension", type=int, metavar="D", help="include the leading finite-size correction")
    add_tolerance(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def model_of(arguments: argparse.Namespace) -> gs.Model:
    """The model of MODEL and --set. Raises BadInput."""
    changes = dict(_pair(text) for text in arguments.set)
    return gs.Model.from_toml("/dev/stdin" if arguments.model == "-" else arguments.model, changes)


def range_of(option: str, text: str) -> tuple[float, float]:
    """Two numbers from ``LOW:HIGH``. Raises BadInput."""
    try:
        low, high = (float(part) for part in text.split(":"))
    except ValueError:
        raise BadInput(f"{option} {text!r} is not understood", "write LOW:HIGH, for example 0.01:100") from None
    return low, high


def keys_of(text: str) -> list[str]:
    """Keys from ``KEY,KEY``."""
    return [key.strip() for key in text.split(",") if key.strip()]


def spread(arguments: Sequence[str]) -> list[str]:
    """``--set a=1 b=2`` as ``--set a=1 --set b=2``: the option is repeated before each further key=value. A range from
    a negative number, ``--scores -1:1``, as ``--scores=-1:1``: it looks like an option.
    """
    found: list[str] = []
    current = ""
    for word in arguments:
        if found and re.fullmatch(r"--[a-z-]+", found[-1]) and re.match(r"-[\d.][^:]*:", word):
            found[-1] += f"={word}"
            continue
        if current and found[-1] != current and re.match(r"[a-z_]+(\.\w+)+=", word):
            found.append(current)
        elif found and found[-1] != current:
            current = ""
        found.append(word)
        if word in _REPEATED:
            current = word
    return found


def set_keys(arguments: argparse.Namespace) -> set[str]:
    """The keys given with --set."""
    return {_pair(text)[0] for text in arguments.set}


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise BadInput(f"--set {text!r} is not understood", "write KEY=VALUE, for example fit.samples=1.5")
    return key.strip(), value.strip()
