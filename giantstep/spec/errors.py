"""Errors a user can meet: one sentence that says what is wrong, one hint that says how to fix it."""

from typing import ClassVar


class GiantstepError(Exception):
    """Base of every error raised on purpose; ``exit_code`` is what the command line returns."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class BadInput(GiantstepError, ValueError):
    """The model, the file or the option given cannot be used. A ValueError too."""

    exit_code: ClassVar[int] = 2


class UnknownColumn(BadInput, KeyError):
    """A dataset has no column of this name. A KeyError too, as of a mapping."""


class NotConverged(GiantstepError):
    """The equations were not solved to the required accuracy; no number is reported."""

    exit_code: ClassVar[int] = 3
