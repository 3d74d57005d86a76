"""Spikes of several directions in the model file: what is taken, and what is refused with which words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_cases import refused

from giantstep.cli.main import main
from giantstep.spec.model import Model

TWO: dict[str, Any] = {
    "network": {"activation": "tanh", "width": 1.0, "readout": {"values": [1.0, 1.0], "fractions": [0.5, 0.5]}},
    "spike": {"strength": 1.5, "alignment": [0.6, 0.5], "bulk_variance": 1.2, "loadings": [[1.0, 0.0], [0.3, 1.0]]},
    "target": {"link": "sign"},
    "fit": {"samples": 2.0, "ridge": 0.05, "loss": "square"},
}


def with_spike(**changes: Any) -> dict[str, Any]:
    link = changes.pop("link", "sign")
    return {**TWO, "spike": {**TWO["spike"], **changes}, "target": {"link": link}}


def test_round_trip(tmp_path: Path) -> None:
    indices = with_spike(alignment=[[0.6, 0.1], [0.2, 0.5]], link="z1 + z1*z2")
    for data in (TWO, indices):
        model = Model.from_dict(data)
        assert Model.from_dict(model.to_dict()) == model and hash(model) == hash(Model.from_dict(data))
        path = tmp_path / "model.toml"
        path.write_text(model.to_toml(), encoding="utf-8")
        assert Model.from_toml(path) == model


def test_the_example_is_a_model() -> None:
    model = Model.from_toml(Path(__file__).parents[2] / "examples" / "two_spikes.toml")
    assert model.spike is not None and model.spike.rank == 2


def test_what_was_possible_stays_as_it_was() -> None:
    plain = {name: value for name, value in TWO["spike"].items() if name != "loadings"}
    spike = Model.from_dict({**TWO, "spike": {**plain, "alignment": 0.8}}).spike
    assert spike is not None and spike.to_dict() == {**plain, "alignment": 0.8}
    assert spike.alignments == (0.8,) and spike.overlaps() == ((0.8,),) and spike.rank == 1


def test_numbers_are_set_from_text_and_arrays() -> None:
    model = Model.from_dict(TWO).replace({"spike.loadings": "[[1, 0], [0, 1]]", "spike.strength": "2"})
    assert model.spike is not None and model.spike.loadings == ((1.0, 0.0), (0.0, 1.0))
    same = Model.from_dict(with_spike(loadings=np.eye(2), alignment=np.array([0.6, 0.5]), strength=2.0))
    assert same == model


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"loadings": 1.0}, ("spike.loadings", "1.0", "a list of 1 to 256 rows")),
        ({"loadings": "wide"}, ("spike.loadings", "wide")),
        ({"loadings": []}, ("spike.loadings", "a list of 1 to 256 rows")),
        ({"loadings": [[], []]}, ("spike.loadings[0]", "a list of 1 to 3 numbers")),
        ({"loadings": [[1, 0, 0, 0], [0, 1, 0, 0]]}, ("spike.loadings[0]", "a list of 1 to 3 numbers")),
        ({"loadings": [[1.0, 0.0], [1.0]]}, ("spike.loadings", "rows of one length", "2, 1 numbers")),
        ({"loadings": [[1.0, "x"], [1.0, 0.0]]}, ("spike.loadings[0][1]", "a finite number")),
        ({"loadings": [[1.0, float("nan")], [1.0, 0.0]]}, ("spike.loadings[0][1]", "nan")),
        ({"loadings": [[1.0, True], [1.0, 0.0]]}, ("spike.loadings[0][1]", "True")),
        ({"loadings": [[1.0, 1e300], [1.0, 0.0]]}, ("spike.loadings[0][1]", "1e+300")),
        ({"loadings": [[1.0, 0.0]]}, ("spike.loadings", "1 rows", "2 blocks")),
        ({"alignment": 0.5}, ("spike.alignment", "1 direction", "2 directions")),
        ({"alignment": [0.5, 0.1, 0.1]}, ("spike.alignment", "3 directions", "2 directions")),
        ({"alignment": [0.8, 0.7]}, ("spike.alignment", "length 1.063", "sum of squares of at most 1")),
        ({"alignment": [1.5, 0.0]}, ("spike.alignment[0]", "1.5", "between -1 and 1")),
        ({"alignment": [[0.5, 0.1], [0.1, 0.2]]}, ("spike.alignment", "2 numbers for each direction", "1 index")),
        ({"alignment": [0.5, 0.1], "link": "z1*z2"}, ("spike.alignment", "1 number for each", "2 indices")),
        ({"alignment": [[0.9, 0.5], [0.5, 0.9]], "link": "z1*z2"}, ("spike.alignment", "singular value 1.4")),
        ({"alignment": [[0.9, 0.5], 0.1], "link": "z1*z2"}, ("spike.alignment[1]", "0.1")),
    ],
)
def test_refusals_name_key_value_and_what_is_allowed(changes: dict[str, Any], words: tuple[str, ...]) -> None:
    text = refused(with_spike(**changes))
    for word in words:
        assert word in text, text


def test_a_solution_is_shown_by_directions(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(__file__).parents[2] / "examples" / "two_spikes.toml"
    assert main(["solve", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["spike"]["loadings"] == [[1.5, 0.0], [1.5 * 0.3, 1.5]] and found["spike"]["alignment"] == [0.7, 0.5]
    assert np.shape(found["order_parameters"]["zeta"]) == (2, 2)
    assert main(["solve", str(path)]) == 0
    assert "a row for each direction of the spike" in capsys.readouterr().out
    assert main(["solve", str(path), "--set", "spike.alignment=[0.9, 0.9]"]) == 2
    assert "spike.alignment" in capsys.readouterr().err


def test_rows_of_alignments_need_loadings() -> None:
    spike = {"strength": 1.0, "alignment": [[0.5], [0.1]], "bulk_variance": 1.0}
    text = refused({**TWO, "spike": spike})
    assert "spike.loadings" in text and "for one direction" not in text


def test_a_single_row_of_alignments_is_answered_by_the_row() -> None:
    spike = {"strength": 1.0, "alignment": [[-0.36, 0.34]], "bulk_variance": 1.0}
    text = refused({**TWO, "target": {"link": "z1*z2"}, "spike": spike})
    assert "for one direction write alignment = [-0.36, 0.34]" in text and "spike.loadings" in text
