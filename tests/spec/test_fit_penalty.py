"""fit.penalty: what may be given, what is refused and in which words, and what it does not go with."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from model_cases import PLAIN, SPIKE, STEP, put

from giantstep.spec.errors import BadInput
from giantstep.spec.fit_penalty import FitPenalty
from giantstep.spec.model import Model
from giantstep.system.kernels import penalty_kernel
from giantstep.system.solve import solve

FIXED = put("network.initialisation", "sphere", STEP)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"name": "elastic_net", "l1": 0.3}, {"name": "elastic_net", "l1": 0.3}),
        ({"name": "elastic_net", "l1": 0}, {"name": "elastic_net", "l1": 0.0}),
        ("lasso", {"name": "elastic_net", "l1": 0.1}),
        (" 0.1*abs( a ) ", "0.1*abs(a)"),
        ({"name": "box", "bound": 2}, {"name": "box", "bound": 2.0, "steepness": 1e6}),
        (lambda a: sympy.cosh(a), "cosh(a)"),
    ],
)
def test_what_may_be_given(given: Any, kept: Any) -> None:
    model = Model.from_dict(put("fit.penalty", given, FIXED))
    assert model.to_dict()["fit"]["penalty"] == kept
    assert Model.from_dict(model.to_dict()) == model


def test_parameters_are_set_and_swept_by_their_keys() -> None:
    model = Model.from_dict(put("fit.penalty", "elastic_net", FIXED))
    assert model.replace({"fit.penalty.l1": 0.7}).fit.penalty == FitPenalty("elastic_net", (("l1", 0.7),))
    assert model.replace({"fit.penalty": None}).fit.penalty is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("non_negativ", "did you mean"),
        ("elasticnet", "did you mean 'elastic_net'"),
        ("exp(exp(exp(9+a**2)))", "not finite"),
        ("3", "does not depend on the readout a"),
        ("abs(b)", "b"),
        ({"name": "elastic_net", "l2": 1.0}, "it has the parameters l1"),
        ({"name": "elastic_net", "l1": -1.0}, "fit.penalty.l1"),
        ({"l1": 1.0}, "fit.penalty.name is missing"),
        (7, "fit.penalty = 7"),
    ],
)
def test_what_is_refused(given: Any, words: str) -> None:
    with pytest.raises(BadInput) as refusal:
        Model.from_dict(put("fit.penalty", given, FIXED))
    assert words in f"{refusal.value.message} {refusal.value.hint}"


def test_a_penalty_is_convex() -> None:
    with pytest.raises(BadInput, match=r"the penalty .sqrt\(abs\(a\)\). cannot be used.* not convex in a: "):
        penalty_kernel(FitPenalty("sqrt(abs(a))"))


@pytest.mark.parametrize(
    ("base", "changes", "words"),
    [
        (STEP, {}, "norms of rows"),
        (FIXED, {"network.bias": "trained"}, "network.bias is trained"),
        (FIXED, {"step.bulk": "trained", "network.bias": 0.0}, "step.bulk"),
        (FIXED, {"step.exponent": 0.3}, "step.exponent"),
        (PLAIN, {"inputs": {"capacity": 0.3, "modes": 20}}, "[inputs]"),
        (PLAIN, {"fit.penalty": "non_negative"}, "not the same for a and -a"),
        (SPIKE, {"network.initialisation": "sphere", "fit.penalty": "exp(a)"}, "not the same"),
    ],
)
def test_where_no_law_is_known(base: dict[str, Any], changes: dict[str, Any], words: str) -> None:
    model = Model.from_dict(base)
    with pytest.raises(BadInput) as refusal:
        model.replace({"fit.penalty": "elastic_net", **changes})
    assert words in refusal.value.message and refusal.value.hint


def test_penalties_that_are_not_even_go_with_odd_features() -> None:
    odd = Model.from_dict(PLAIN).replace({"network.activation": "tanh", "fit.penalty": "non_negative"})
    assert odd.fit.penalty is not None and not odd.fit.penalty.even


@pytest.mark.parametrize(("base", "dimension"), [(PLAIN, None), (FIXED, 300)])
def test_the_hint_of_such_a_penalty_leads_to_a_model_that_is_solved(
    base: dict[str, Any], dimension: int | None
) -> None:
    even = Model.from_dict(base).replace({"network.activation": "relu"})
    with pytest.raises(BadInput) as refusal:
        even.replace({"fit.penalty": "non_negative"})
    assert "an odd activation without bias" in refusal.value.hint
    assert ("at a dimension" in refusal.value.hint) == (dimension is not None)
    odd = even.replace({"network.activation": "tanh", "network.bias": 0.0, "fit.penalty": "non_negative"})
    assert solve(odd, dimension=dimension).penalty == pytest.approx(0.0, abs=1e-9)
