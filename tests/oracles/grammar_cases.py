"""Evaluation of text made to fail, and refusals of the grammar, for its tests."""

import ast
import builtins
import contextlib
import warnings
from collections.abc import Iterator
from unittest import mock

import pytest

from derive.language.catalogue import lookup
from derive.language.grammar import ExpressionError, parse


@contextlib.contextmanager
def tripwires() -> Iterator[None]:
    """Evaluation, import or compilation to code inside the block is a failure; syntax trees may be made."""
    real_compile = builtins.compile

    def syntax_only(source, filename, mode, flags=0, *args, **kwargs):  # type: ignore[no-untyped-def]
        if not flags & ast.PyCF_ONLY_AST:
            raise AssertionError("text was compiled to code")
        return real_compile(source, filename, mode, flags, *args, **kwargs)

    def tripped(*args, **kwargs):  # type: ignore[no-untyped-def]
        raise AssertionError("text was evaluated")

    with (
        mock.patch.object(builtins, "eval", tripped),
        mock.patch.object(builtins, "exec", tripped),
        mock.patch.object(builtins, "__import__", tripped),
        mock.patch.object(builtins, "open", tripped),
        mock.patch.object(builtins, "compile", syntax_only),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        yield


def refused(text: object) -> ExpressionError:
    with tripwires(), pytest.raises(ExpressionError) as caught:
        parse(text)  # type: ignore[arg-type]
    with tripwires(), pytest.raises(ExpressionError):
        lookup(text)  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.isascii() and message.isprintable() and len(message) < 600
    return caught.value
