"""The table [metrics] of a model: what else is averaged over labels and outputs at the solution."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from derive.language.grammar import ExpressionError, Node, shorten
from derive.language.metrics import VARIABLES, parse_metric
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import Array, jet, prepare
from giantstep.spec.symbolic import as_text
from giantstep.spec.validate import Kind, wrong

MOST = 20
_TAKEN = frozenset({"test_error", "train_error", "free_energy", "training_loss", "residual", "quadrature_error"})
_TAKEN_TOO = frozenset({"status", "reason", "test_error_is", "train_error_is", "spike_strength", "spike_alignment"})
_BEFORE = ("bulk_variance_", "finite_size_", "random_features_", "simulation_", "best_linear_", "optimal_")
_ORDER = frozenset({"m", "zeta", "psi", "Q1", "Q2", "V1", "V2", "norm"})
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,40}")
_ALLOWED = "a table of names and expressions in y and f"
_EXAMPLE = '[metrics] has lines such as zero_one = "y*f < 0" or coverage = "abs(y - f) < 2"'


@dataclass(frozen=True)
class Metrics:
    """Names and expressions in the label y of a fresh sample, with its noise, and the output f; in order.

    A comparison such as ``y*f < 0`` is 1 where it holds, also in parentheses within an expression.
    Raises BadInput for a name or an expression that is none.
    """

    entries: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.entries) <= MOST:
            raise BadInput(f"metrics has {len(self.entries)} entries", f"give 1 to {MOST}; {_EXAMPLE}")
        for name, text in self.entries:
            if not _NAME.fullmatch(name):
                raise BadInput(f"metrics: {shorten(name)} is no name", "names have letters, digits and _")
            if _is_taken(name):
                raise BadInput(
                    f"metrics.{name}: {name} is the name of a number that results have already",
                    f"give it another name, as my_{name}",
                )
            _checked(name, text)

    def functions(self) -> tuple[Callable[[Array, Array], Array], ...]:
        """Each as a function of arrays of labels and outputs that broadcast."""
        return tuple(function_of(parse_metric(text)) for _, text in self.entries)

    def by_name(self, values: Array) -> dict[str, Array]:
        """Arrays [seed, metric, ...] of simulations, as [seed, ...] by name."""
        return {name: values[:, place] for place, (name, _) in enumerate(self.entries)}

    def to_dict(self) -> dict[str, str]:
        """What a model file holds."""
        return dict(self.entries)

    def __str__(self) -> str:
        return ", ".join(f"{name} = {text}" for name, text in self.entries)


class MetricsKind(Kind):
    """The kind of the table [metrics]: names and texts."""

    def purpose(self) -> str:
        """What the entries are."""
        return "names and expressions in y and f, averaged over fresh samples; y*f < 0 is 1 where it holds"

    def check(self, key: str, value: object) -> Metrics | None:
        """The metrics, None for none. Raises BadInput naming the key, the value and what is allowed."""
        if value is None or isinstance(value, Metrics):
            return value
        if not isinstance(value, Mapping):
            raise wrong(key, value, _ALLOWED, _EXAMPLE)
        found = {str(name): as_text(f"{key}.{name}", text, VARIABLES) for name, text in value.items()}
        for name, text in found.items():
            if not isinstance(text, str):
                raise wrong(f"{key}.{shorten(name)}", text, "an expression in y and f", _EXAMPLE)
        return Metrics(tuple((name, str(text).strip()) for name, text in found.items())) if found else None


def function_of(node: Node) -> Callable[[Array, Array], Array]:
    """A tree in y and f as a function of arrays that broadcast."""
    prepared = prepare(node)
    return lambda y, f: jet(prepared, "f", {"y": y, "f": f}, 0)[0]


def _is_taken(name: str) -> bool:
    """Whether a column of results has this name."""
    order = name.rpartition("_")[0] in _ORDER and name.rpartition("_")[2].isdigit()
    return name in _TAKEN | _TAKEN_TOO or name.startswith(_BEFORE) or order


@lru_cache(maxsize=1)
def _labels_and_outputs() -> tuple[Array, Array]:
    labels, outputs = np.random.default_rng(7).standard_normal((2, 41))
    return labels, outputs


def _checked(name: str, text: str) -> None:
    try:
        values = function_of(parse_metric(text))(*_labels_and_outputs())
    except ExpressionError as error:
        raise BadInput(f"metrics.{name}: {error.message}", error.hint) from None
    if not np.all(np.isfinite(values)):
        raise BadInput(
            f"metrics.{name} = {shorten(text)} is not finite for every label and output",
            "labels and outputs take all values: log(1 + f**2) is allowed, log(f) is not",
        )
