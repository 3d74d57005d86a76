"""Targets: links of several indices, alignments with each, flipped and noisy labels, which links take signs only."""

import math

import numpy as np
import pytest
from model_cases import PLAIN, SPIKE, put, refused

from derive.language.grammar import ExpressionError
from derive.language.links import link_of
from giantstep.spec.errors import BadInput
from giantstep.spec.link import link_values, takes_only_signs
from giantstep.spec.model import Model, Spike, Target


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("sign", ("z",)),
        ("tanh(z)", ("z",)),
        ("z1*z2", ("z1", "z2")),
        (" relu(z2) + z1 ", ("z1", "z2")),
        ("sign(z3 - z1*z2)", ("z1", "z2", "z3")),
        ("z1*z2*z3*z4", ("z1", "z2", "z3", "z4")),
    ],
)
def test_the_indices_of_a_link(text: str, variables: tuple[str, ...]) -> None:
    assert link_of(text).variables == variables
    target = Model.from_dict(put("target.link", text, PLAIN)).target
    assert target.indices == len(variables) and target.link == text.strip()


def test_a_first_index_alone_is_z() -> None:
    target = Target("tanh(z1 - 0.5)")
    assert (target.link, target.indices) == ("tanh(z-0.5)", 1)
    assert Target("tanh(z1)") == Target("tanh(z)")


def test_names_of_links_are_safe_for_files_and_tell_links_apart() -> None:
    assert link_of("sign").name == link_of("sign(z1)").name == "sign"
    names = {link_of(text).name for text in ("z1*z2", " z1 * z2", "z2*z1", "z1*z2*z3")}
    assert len(names) == 3 and all(name.isidentifier() for name in names)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("z1*z3", "z3 without z2"),
        ("z2", "z2 without z1"),
        ("z*z1", "z beside z1"),
        ("z1*z5", "at most 4"),
        ("z1*z0", "at most 4"),
        ("z1*x2", "'x2'"),
        ("z1.real*z2", "not part of an expression"),
        ("1/(z1*z2)", "not a finite real number at z1 = 0, z2 = 0"),
        ("sqrt(z1*z2)", "not a finite real number at"),
        ("log(abs(z1-z2))", "not a finite real number at"),
        ("exp(z1*z2)", "grows too fast"),
        ("exp(z1**2/4+z2)", "grows too fast"),
    ],
)
def test_what_is_no_link_of_several_indices(text: str, words: str) -> None:
    found = refused(put("target.link", text, PLAIN))
    assert words in found and "target.link" in found
    if "number at" not in words and "grows" not in words:
        with pytest.raises(ExpressionError):
            link_of(text)


def test_values_of_a_link_of_several_indices() -> None:
    points = np.random.default_rng(4).standard_normal((3, 5, 7))
    values = link_values("relu(z1)*tanh(z3) - z2/2")(points)
    assert np.allclose(values, np.maximum(points[0], 0) * np.tanh(points[2]) - points[1] / 2, rtol=1e-15)
    assert link_values("sign")(points[:1]).shape == (5, 7)
    with pytest.raises(ValueError, match="zip"):
        link_values("z1*z2")(points)


# fmt: off
SIGNED = (
    *("sign", "sign(z)", "-sign(z)", "sign(z-0.3)", "2*step(z)-1", "1-2*step(z**2-1)", "sign(z)*sign(z-1)"),
    *("sign(sin(20*z))", "1", "-1", "cos(z)**2+sin(z)**2", "sign(z1*z2)", "sign(z1+z2-0.3)"),
    *("sign(z1)*sign(z2)*sign(z3)*sign(z4)", "sign(max(z1,z2))", "sign(z1**2+z2**2-1)", "max(sign(z1),sign(z2))"),
)
OTHERS = (
    *("tanh", "step", "z", "0", "2*sign(z)", "sign(relu(z))", "sign(z)+1e-9", "tanh(1e9*z)", "clip(1e12*z,-1,1)"),
    *("sign(z)+sign(z-1)", "erf(1e8*z)", "sign(relu(z-8))", "z1*z2", "sign(z1)+sign(z2)", "sign(z1)*step(z2)"),
    *("sign(relu(z1)*z2)", "tanh(1e9*z1*z2)"),
)
# fmt: on


@pytest.mark.parametrize("text", SIGNED)
def test_links_that_take_signs_only(text: str) -> None:
    assert takes_only_signs(text)
    assert Target(text, flips=0.1).flips == 0.1


@pytest.mark.parametrize("text", OTHERS)
def test_links_that_take_other_values(text: str) -> None:
    assert not takes_only_signs(text)
    with pytest.raises(BadInput, match="target.flips = 0.1 flips labels"):
        Target(text, flips=0.1)
    assert Target(text, probit=0.1).probit == 0.1


def test_alignments_are_numbers_or_lists() -> None:
    one = Model.from_dict(SPIKE)
    assert one.spike is not None and one.spike.alignments == (0.8,)
    assert Spike(1.0, [0.8], 1.0) == Spike(1.0, 0.8, 1.0)  # type: ignore[arg-type]
    data = {**SPIKE, "target": {"link": "z1*z2"}, "spike": {**SPIKE["spike"], "alignment": [0.6, -0.8]}}
    two = Model.from_dict(data)
    assert two.spike is not None and two.spike.alignment == two.spike.alignments == (0.6, -0.8)
    assert two.to_dict()["spike"]["alignment"] == [0.6, -0.8]
    assert Model.from_dict(two.to_dict()) == two and len({two, Model.from_dict(two.to_dict())}) == 1
    third = 1.0 / math.sqrt(3.0)
    assert Spike(1.0, (third, third, third), 1.0).alignments == (third, third, third)


def test_unit_vectors_of_which_rounding_makes_more_than_one() -> None:
    beyond = math.nextafter(1.0, 2.0)
    assert Spike(1.0, beyond, 1.0).alignment == 1.0 and Spike(1.0, -beyond, 1.0).alignment == -1.0
    assert Spike(1.0, (0.0, beyond), 1.0).alignments == (0.0, 1.0)
    with pytest.raises(BadInput, match="spike.alignment = 1.00000001 is not allowed"):
        Spike(1.0, 1.00000001, 1.0)


@pytest.mark.parametrize(
    ("alignment", "link", "words"),
    [
        (0.5, "z1*z2", "holds 1 number, and target.link = 'z1*z2' has 2 indices"),
        ([0.5, 0.5], "sign", "holds 2 numbers, and target.link = 'sign' has 1 index"),
        ([0.5, 0.5, 0.1], "z1*z2", "holds 3 numbers"),
        ([0.8, 0.7], "z1*z2", "has length 1.06301"),
        ([0.5, 1.5], "z1*z2", "spike.alignment[1] = 1.5"),
        ([0.5, "x"], "z1*z2", "spike.alignment[1] = 'x'"),
        ([], "z1*z2", "a list of 1 to 4 numbers"),
        ([0.1] * 5, "z1*z2", "a list of 1 to 4 numbers"),
    ],
)
def test_alignments_that_do_not_fit(alignment: object, link: str, words: str) -> None:
    data = {**SPIKE, "target": {"link": link}, "spike": {**SPIKE["spike"], "alignment": alignment}}
    assert words in refused(data)
