"""The list of long tests names tests that exist."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = [line for line in (ROOT / "tests/long_tests.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#"]


@pytest.mark.parametrize("name", sorted({line.partition("[")[0] for line in NAMES}))
def test_it_exists(name: str) -> None:
    path, _, function = name.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert function in [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def test_the_list_is_in_order_and_names_nothing_twice() -> None:
    assert sorted(set(NAMES)) == NAMES
