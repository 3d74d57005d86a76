"""Where a model is taken, the path of a model file may be given, or nested dictionaries as such a file has."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeGuard, TypeVar

from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.spec.one_at_a_time import TURN
from giantstep.spec.validate import wrong

NO_MEMORY = "there is not enough memory", "use a smaller dimension or grid, fewer jobs, or a larger tolerance"
ModelLike: TypeAlias = Model | Mapping[str, Any] | str | os.PathLike[str]
_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)


class Verb(Protocol[_P, _R]):
    """A function of a model, or of what tells one."""

    def __call__(self, model: ModelLike, *rest: _P.args, **options: _P.kwargs) -> _R:
        """What the verb returns."""


def tells_model(given: object) -> TypeGuard[ModelLike]:
    """Whether this is what ``model_of`` takes, right or wrong."""
    return isinstance(given, Model | Mapping | str | os.PathLike)


def model_of(given: object) -> Model:
    """A model as it is, or that of a model file or of nested dictionaries. Raises BadInput."""
    if isinstance(given, Model):
        return given
    if isinstance(given, Mapping):
        return Model.from_dict(given)
    if isinstance(given, str | os.PathLike):
        return Model.from_toml(given)
    raise wrong("the model", given, "a Model, the path of a model file, or nested dictionaries as such a file has")


def takes_model(verb: Callable[Concatenate[Model, _P], _R]) -> Verb[_P, _R]:
    """A verb that takes what tells a model for it too, and that refuses what no memory is left for.

    One thread at a time is in any of these verbs: see ``one_at_a_time``.
    """
    return _called(verb, TURN)


def hands_over(verb: Callable[Concatenate[Model, _P], _R]) -> Verb[_P, _R]:
    """The same of a verb that waits for others to do the work, or simulates: it holds up no other thread."""
    return _called(verb, nullcontext())


def _called(verb: Callable[Concatenate[Model, _P], _R], turn: AbstractContextManager[object]) -> Verb[_P, _R]:
    @wraps(verb)
    def called(model: ModelLike, *rest: _P.args, **options: _P.kwargs) -> _R:
        try:
            with turn:
                return verb(model if isinstance(model, Model) else model_of(model), *rest, **options)
        except MemoryError as error:
            raise NotConverged(*NO_MEMORY) from error

    called.__signature__ = _signature(verb)  # type: ignore[attr-defined]
    return called


class _Words(str):
    """An annotation that help() shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _signature(verb: Callable[..., Any]) -> inspect.Signature:
    """The signature in plain words, a path and dictionaries allowed for the model."""
    found = inspect.signature(verb)
    parameters = [p.replace(annotation=_Words(p.annotation)) for p in found.parameters.values()]
    parameters[0] = parameters[0].replace(annotation=_Words("Model | dict | str | Path"))
    return found.replace(parameters=parameters, return_annotation=_Words(found.return_annotation))
