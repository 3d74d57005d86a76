"""Links of fewer directions than letters: ``sign(z1 + z2 + z3)`` is one of a single index, u = (z1 + z2 + z3)/sqrt(3).

A link that is a function of u = A z, with orthonormal rows A [r, m], is one of r indices: u are standard normal as z
are, and so is noise inside the link. What the label does not know of the target counts as the rest of the inputs. A
model is solved in these indices, and told in its own: with z = gamma^T kappa + L t and u = gamma'^T kappa + L' t', the
target's rest is t' = B t, B = L'^-1 A L, and a readout has no overlap with what is orthogonal to B.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from derive.language.grammar import Node, canonical
from derive.language.linear_forms import Form, forms_of, in_forms
from derive.language.links import VARIABLES, link_of
from derive.language.substitution import linear_form
from giantstep.law.directions import mixing, rows_of
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Model, Spike

Array = np.ndarray
_NONE = 1e-12  # of a linear form: what the others leave of it is rounding
_ROUNDED = 1e-15  # of a linear form, in new indices


@dataclass(frozen=True, eq=False)
class KnownIndices:
    """A model in the directions that its link knows, and how it is told in those that it was given in.

    rows A [r][m]; given [q][m]: overlaps of a spike that is given with all letters.
    """

    model: Model
    rows: Rows
    given: Rows | None

    def overlaps(self, reduced: Array) -> Array:
        """Those of the directions of the spike with all letters [q, m], by those with the known ones [q, r]."""
        return reduced @ np.array(self.rows) if self.given is None else np.array(self.given)

    def told_rest(self, reduced: Array) -> Array:
        """B [r, m]; reduced [q, r]: overlaps of the given directions of the spike."""
        inner = np.linalg.pinv(mixing(reduced), rcond=1e-9)
        return np.asarray(inner @ np.array(self.rows) @ mixing(self.overlaps(reduced)))


def known_indices(model: Model) -> KnownIndices | None:
    """That of a model whose link knows fewer directions than it has letters; None for any other."""
    return None if model.target.indices == 1 else _of_several(model)


@lru_cache(maxsize=256)
def _of_several(model: Model) -> KnownIndices | None:
    """The same for a target of several indices.

    Inputs that are not isotropic know directions apart: there all letters have to lie in them alike, and a given spike
    in the span of what the label knows. Directions that stand in a file of rows stay.
    """
    found = _known(model.target.link)
    if found is None or model.bulk == "matrix":
        return None
    link, rows = found
    spike = model.spike
    if model.inputs is not None and (len(model.inputs.rows()) > 1 or spike is not None and _leaves(spike, rows)):
        return None
    target, turned = replace(model.target, link=link), None if spike is None else _along(spike, rows)
    return KnownIndices(replace(model, target=target, spike=turned), rows, None if spike is None else spike.overlaps())


def in_known(model: Model) -> Model:
    """The model in the directions that its link knows."""
    known = known_indices(model)
    return model if known is None else known.model


def _leaves(spike: Spike, rows: Rows) -> bool:
    """Whether a given spike leaves the span of the known directions."""
    given, known = np.array(spike.overlaps()), np.array(rows)
    return bool(np.abs(given - given @ known.T @ known).max() > _ROUNDED * known.shape[1])


def _along(spike: Spike, rows: Rows) -> Spike:
    """A given spike by its overlaps with the known directions."""
    known = rows_of(np.array(spike.overlaps()) @ np.array(rows).T)
    if spike.loadings is None:
        return replace(spike, alignment=known[0] if len(rows) > 1 else known[0][0])
    return replace(spike, alignment=known if len(rows) > 1 else tuple(row[0] for row in known))


@lru_cache(maxsize=256)
def _known(text: str) -> tuple[str, Rows] | None:
    """(the link in as few indices as its linear forms show, A [r][m]); None where these are all of its own.

    The first direction is that of the form that lies deepest inside of functions: others may then enter smoothly.
    """
    link = link_of(text)
    if link.indices == 1:
        return None
    forms = [_vector(form, link.variables) for form in forms_of(link.node)]
    rows: list[Array] = []
    for form in forms:
        rest = form
        for _ in range(2):  # once more, for what rounding leaves
            for row in rows:
                rest = rest - (rest @ row) * row
        if np.linalg.norm(rest) > _NONE * np.linalg.norm(form):
            rows.append(rest / np.linalg.norm(rest))
    if len(rows) in (0, link.indices):
        return None
    basis, names = np.array(rows), ("z",) if len(rows) == 1 else VARIABLES[: len(rows)]

    def written(form: Form, constant: float, free: bool) -> Node:
        slopes = basis @ _vector(form, link.variables)
        slopes[np.abs(slopes) < _ROUNDED * np.linalg.norm(slopes)] = 0.0
        scale = float(np.abs(slopes).max()) if free else 1.0
        return linear_form([float(f"{slope:.16g}") for slope in slopes / scale], names, constant / scale)

    return canonical(in_forms(link.node, written)), rows_of(basis)


def _vector(form: Form, names: tuple[str, ...]) -> Array:
    return np.array([form.get(name, 0.0) for name in names])
