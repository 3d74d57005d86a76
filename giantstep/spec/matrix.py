"""Matrices as fields of a model: lists of rows, for spikes of several directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.spec.validate import MAX_BLOCKS, Kind, Number, Numbers, wrong

MAX_RANK = 3  # directions of a spike

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Matrix(Kind):
    """A list of up to ``most`` rows of up to ``columns`` numbers each, all of one length; or nothing."""

    item: Number
    most: int = MAX_BLOCKS
    columns: int = MAX_RANK

    def check(self, key: str, value: object) -> Rows | None:
        """The rows as tuples of floats. Raises BadInput naming the key and the entry."""
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if value is None:
            return None
        if not isinstance(value, list | tuple) or not 1 <= len(value) <= self.most:
            raise wrong(key, value, f"a list of 1 to {self.most} rows", "for example [[1.0, 0.0], [0.5, 1.0]]")
        kind = Numbers(self.item, self.columns)
        rows = []
        for i, row in enumerate(value):
            checked = kind.check(f"{key}[{i}]", row)
            assert isinstance(checked, tuple)
            rows.append(checked)
        if len({len(row) for row in rows}) > 1:
            lengths = ", ".join(str(len(row)) for row in rows)
            raise wrong(key, value, "a list of rows of one length", f"the rows hold {lengths} numbers")
        return tuple(rows)

    def purpose(self) -> str:
        """What each number is."""
        return self.item.meaning


@dataclass(frozen=True)
class NumbersOrMatrix(Kind):
    """A number, a list of numbers, or a list of rows."""

    numbers: Numbers
    matrix: Matrix

    def check(self, key: str, value: object) -> object:
        """A float, a tuple of floats, or a tuple of rows. Raises BadInput naming the key and the entry."""
        value = value.tolist() if isinstance(value, np.ndarray) else value
        rows = isinstance(value, list | tuple) and any(isinstance(row, list | tuple) for row in value)
        return self.matrix.check(key, value) if rows else self.numbers.check(key, value)

    def purpose(self) -> str:
        """What each number is."""
        return self.matrix.purpose()
