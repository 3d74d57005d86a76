"""Titles and evidence of functions that a user wrote: mathematics or words, never the text or the name of a kernel."""

from __future__ import annotations

import pytest

import giantstep as gs
from derive.scalar import scalar_function
from giantstep.law.derivation import derive
from giantstep.report.notation import notation
from giantstep.report.title import title_of
from giantstep.verify.functions import function_checks
from giantstep.verify.loss import _short

OWN = gs.model("z/(1 + exp(-1.5*z)) + 0.1*tanh(z)", link="sign", loss="sqrt(1 + (y - f)**2/2) - 1")


def test_titles_are_mathematics_where_they_can_be_and_words_elsewhere() -> None:
    assert title_of(gs.model()) == title_of(gs.model(), formulas=False)
    assert title_of(gs.model("tanh", link="sign", loss="logistic")) == (
        "tanh network after one gradient step, target sign, logistic loss"
    )
    assert "(trained bulk)" in title_of(gs.model("tanh").replace({"step.bulk": "trained"}))
    assert "elastic_net(l1=" in title_of(gs.model("tanh").replace({"fit.penalty": "elastic_net"}))
    title = title_of(OWN)
    assert title.startswith(r"Network with $\sigma = \frac{z}{1 + \exp") and r"loss $\ell = \sqrt" in title
    words = title_of(OWN, formulas=False)
    assert words == "Network with its own activation after one gradient step, target sign, its own loss"


def test_derivation_and_checks_name_own_functions_by_their_symbols() -> None:
    found = derive(OWN)
    titles = [part.title for part in found.parts]
    assert r"Conditional Gaussian equivalence of $\sigma$" in titles and r"Moreau envelope of the $\ell$ loss" in titles
    assert not any("user_" in title or "exp(" in title for title in titles)
    values = {entry.latex: entry.value for entry in notation(found)}
    assert values[r"\sigma"] == values[r"\ell(y, w)"] == "see the model" and values[r"\sigma_{\star}"] == "sign"
    assert _short(OWN.fit.loss) == "the loss" and _short(gs.model(loss="huber").fit.loss) == "huber"


@pytest.mark.parametrize(("activation", "name"), [("tanh", "tanh"), ("0.5*tanh(z)", "the activation")])
def test_a_kernel_is_named_by_what_it_is(activation: str, name: str) -> None:
    checks = [check.name for check in function_checks(scalar_function(activation), (), "the activation")]
    assert f"kernel of {name} against quadrature" in checks
