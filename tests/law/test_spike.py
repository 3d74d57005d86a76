"""From a model to its spike: against the derived map, in closed form, and as numbers for the output."""

import math
from typing import Any

import pytest

from derive.step_numbers import StepInputs, evaluate
from giantstep.law.derivation import step_map_of
from giantstep.law.spike import SpikeParameters, spike_of
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Fit, Model, Network, Readout, Spike, Step, Target

STEP, FIT = Step(1.5, 0.7), Fit(1.0, 0.1)
VOCABULARY = Readout((1.0, -0.5), (0.25, 0.75))


def model(activation: str, target: Target, readout: Readout = VOCABULARY, bias: Any = 0.0) -> Model:
    return Model(Network(activation, 1.25, readout, bias), target, FIT, step=STEP)


MODELS = {
    "plain": model("tanh", Target("sign", 0.1)),
    "bias": model("relu", Target("tanh"), bias=0.3),
    "trained bias": model("softplus", Target("relu"), bias="trained"),
    "flips": model("relu", Target("sign(z-0.3)", flips=0.2)),
    "probit": model("gelu", Target("relu", probit=0.5)),
    "all noise": model("relu", Target("sign", 0.3, 0.1, 0.7)),
    "two indices": model("relu", Target("relu(z1)*z2+z1", 0.1)),
    "two indices, noise": model("relu", Target("tanh(z1)+z2**2", 0.2, probit=0.4)),
    "three indices": model("tanh", Target("sign(z1)*sign(z2)+z3", probit=0.4)),
}


@pytest.mark.parametrize("name", MODELS)
def test_against_the_derived_map(name: str) -> None:
    one = MODELS[name]
    target = one.target
    inputs = StepInputs(
        STEP.learning_rate / 1.25,
        STEP.samples,
        VOCABULARY.values,
        VOCABULARY.fractions,
        target.noise,
        target.flips,
        target.probit,
    )
    exact = evaluate(step_map_of(one), inputs, 20)
    found = spike_of(one)
    sign = math.copysign(1.0, exact["strength"])
    assert found.strength == pytest.approx(sign * float(exact["strength"]), rel=1e-11)
    assert len(found.alignments) == target.indices
    wanted = [sign * float(gamma) for gamma in exact["alignments"]]
    assert found.alignments == pytest.approx(wanted, rel=1e-10, abs=1e-12)
    assert found.bulk_variance == pytest.approx([float(c) for c in exact["bulk_variance"]], rel=1e-11)


def test_flips_and_probit_in_closed_form() -> None:
    """Odd activation: e2 = 1, s1 = (1 - 2 p) sqrt(2/pi)/sqrt(1 + t)."""
    s1 = 0.7 * math.sqrt(2.0 / math.pi / 1.5)
    found = spike_of(model("tanh", Target("sign", flips=0.15, probit=0.5)))
    assert found.alignment == pytest.approx(s1 / math.sqrt(s1**2 + 1.0 / STEP.samples), rel=1e-12)


def test_labels_that_are_all_noise_have_no_overlap() -> None:
    found = spike_of(model("tanh", Target("sign", flips=0.5)))
    assert found.alignments == (0.0,) and found.strength > 0.0


def test_one_direction_written_as_two_indices() -> None:
    """f((z1 + z2)/sqrt 2) is f(z) along a rotated direction: r and c as before, gamma spread over both indices."""
    single = spike_of(model("relu", Target("sign(z-0.3)", flips=0.1, probit=0.5)))
    double = spike_of(model("relu", Target("sign((z1+z2)/sqrt(2)-0.3)", flips=0.1, probit=0.5)))
    assert double.strength == pytest.approx(single.strength, rel=1e-11)
    assert double.bulk_variance == pytest.approx(single.bulk_variance, rel=1e-11)
    assert double.alignments == pytest.approx([single.alignment / math.sqrt(2.0)] * 2, rel=1e-10)
    assert double.alignment == pytest.approx(abs(single.alignment), rel=1e-10)


def test_the_direction_takes_the_sign_of_all_alignments() -> None:
    """-tanh has mu1 < 0: the strength stays positive and the spike turns round."""
    target = Target("relu(z1)*z2+z1")
    one, turned = (spike_of(model(text, target, Readout())) for text in ("tanh", "-tanh(z)"))
    assert turned.strength == pytest.approx(one.strength, rel=1e-12) and one.strength > 0.0
    assert turned.alignments == pytest.approx([-gamma for gamma in one.alignments], rel=1e-12)


def test_given_spikes_and_none() -> None:
    network = Network("tanh", 1.0, Readout((1.0, 2.0), (0.5, 0.5)))
    given = spike_of(Model(network, Target("z1*z2"), FIT, spike=Spike(1.5, (0.6, -0.3), 1.2)))
    assert given == SpikeParameters(1.5, (0.6, -0.3), (1.2, pytest.approx(1.8)))
    assert spike_of(Model(network, Target("z1*z2"), FIT)) == SpikeParameters(0.0, (0.0, 0.0), (1.0, 1.0))
    assert spike_of(Model(network, Target("sign"), FIT)).alignments == (0.0,)


def test_a_list_of_one_bulk_variance_is_that_of_the_block() -> None:
    network = Network("tanh", 1.0, Readout([2.0]))
    given = Model(network, Target("tanh"), FIT, spike=Spike(1.5, 0.6, [1.4]))
    assert spike_of(given).bulk_variance == (1.4,)
    assert spike_of(Model.from_dict(given.to_dict())).bulk_variance == (1.4,)
    assert spike_of(given.replace({"spike.bulk_variance": 1.1})).bulk_variance == (pytest.approx(1.4),)


def test_the_output_has_a_number_for_one_index_and_a_list_for_several() -> None:
    assert SpikeParameters(1.0, (-0.5,), (1.1,)).to_dict() == {
        "strength": 1.0,
        "alignment": -0.5,
        "bulk_variance": [1.1],
    }
    assert SpikeParameters(1.0, (0.6, 0.3), (1.1,)).to_dict()["alignment"] == [0.6, 0.3]
    assert SpikeParameters(1.0, (-0.5,), (1.1,)).alignment == -0.5
    assert SpikeParameters(1.0, (0.6, -0.8), (1.1,)).alignment == pytest.approx(1.0)


@pytest.mark.parametrize(("activation", "link"), [("sign", "tanh"), ("step(z)*z+step(z-1)", "z1*z2")])
def test_activations_that_jump_take_no_step(activation: str, link: str) -> None:
    with pytest.raises(BadInput, match="jumps at z"):
        spike_of(model(activation, Target(link)))


def test_a_step_without_residual_is_refused() -> None:
    with pytest.raises(BadInput, match="residual of the gradient step vanishes"):
        spike_of(model("tanh", Target("0")))
