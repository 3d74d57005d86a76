"""The page of the command line, from the parsers of the program."""

from __future__ import annotations

import argparse
import re

from plain_text import as_markdown, cell, table

from giantstep.cli.main import parser


def page() -> str:
    """The page, in Markdown."""
    top = parser()
    (group,) = (action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    parts = [f"# Command line\n\n{as_markdown(top.description or '')}\n\n{_after(top)}"]
    parts += [_command(name, command) for name, command in group.choices.items()]
    return "\n\n".join(parts) + "\n"


def _command(name: str, found: argparse.ArgumentParser) -> str:
    usage = " ".join(found.format_usage().removeprefix("usage: ").split())
    actions = [action for action in found._actions if not isinstance(action, argparse._HelpAction)]
    rows = [[cell(_spelled(action)), _explained(action)] for action in actions]
    options = table(["argument", "meaning"], rows) if rows else ""
    return f"## {name}\n\n{as_markdown(found.description or '')}\n\n```text\n{usage}\n```\n\n{options}\n{_after(found)}"


def _spelled(action: argparse.Action) -> str:
    """As it is written: the name of an argument, or an option with its value."""
    value = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else "")
    shown = " ".join(value) if isinstance(value, tuple) else str(value)
    if not action.option_strings:
        return shown or action.dest
    return ", ".join(f"{option} {shown}".strip() for option in action.option_strings)


def _explained(action: argparse.Action) -> str:
    text = (action.help or "") % {"default": action.default, "prog": "giantstep"}
    return as_markdown(text + (" (needed)" if action.required and action.option_strings else ""))


def _after(found: argparse.ArgumentParser) -> str:
    """What follows the options in the help: examples, then words."""
    examples, _, words = (found.epilog or "").removeprefix("example:\n").partition("\n\n")
    lines = "\n".join(re.sub(r"^  ", "", line) for line in examples.split("\n"))
    return (f"```sh\n{lines}\n```\n" if lines else "") + (f"\n{as_markdown(words)}\n" if words else "")
