"""Derived equations at a point: by how much the two sides of each differ, relative to the terms they are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from derive.gaussian.expectation import Expectation
from derive.saddle import Equation, SaddleSystem, member
from giantstep.verify.interpreter import NODES, Axes, Interpreter, Point

_SYMMETRIC = 1e-3  # of a norm: what an overlap or a mean that may vanish is held against


def long(values: object) -> np.ndarray:
    """In long doubles."""
    array = np.asarray(values)
    return array.astype(np.clongdouble if np.iscomplexobj(array) else np.longdouble)


def residuals(system: SaddleSystem, point: Point) -> dict[str, float]:
    """Of every equation whose unknown has a number, by its name."""
    interpreter = Interpreter(point)
    return {e.unknown: _residual(interpreter, e) for e in system.equations if e.unknown in point.families}


def _residual(interpreter: Interpreter, equation: Equation) -> float:
    axes = tuple(str(i) for i in equation.indices)
    if equation.kind == "implicit":
        size = _size(_of_terms(interpreter), equation.body.args, axes)
        return float(np.abs(interpreter.value(equation.body, axes)).max() / (size or 1.0))
    left = interpreter.value(member(equation.unknown, equation.indices), axes)
    right = interpreter.value(equation.body, axes)
    size = max(np.abs(left).max(), _size(interpreter, sp.Add.make_args(sp.expand(equation.body)), axes))
    if equation.unknown.startswith(("zeta", "psi", "norm")):  # may vanish by symmetry
        size = max(size, _SYMMETRIC * np.sqrt(np.abs(interpreter.point.families["Q2"]).max()))
    if equation.unknown == "adjoint_X":  # after a tiny step, which next to nothing of the readout follows from
        size = max(size, _SYMMETRIC * np.abs(interpreter.point.families["adjoint"]).max())
    return float(np.abs(left - right).max() / (size or 1.0))


def _of_terms(interpreter: Interpreter) -> Interpreter:
    """Where the mean slope of a loss, which may cancel over label and output, is at least a share of the norm."""
    point = interpreter.point
    if "avg_gg" not in point.columns:
        return interpreter
    slope = np.maximum(np.abs(point.columns["avg_g"]), _SYMMETRIC * np.sqrt(np.maximum(point.columns["avg_gg"], 0.0)))
    return Interpreter(replace(point, columns={**point.columns, "avg_g": slope}))


def _size(interpreter: Interpreter, terms: Iterable[Any], axes: Axes) -> Any:
    """The largest term, averages taken of absolute values: what cancels in them is rounding."""
    return max(np.max(_absolute(interpreter, term, axes)) for term in terms)


def _absolute(interpreter: Interpreter, term: Any, axes: Axes) -> Any:
    averages = term.atoms(Expectation)
    if len(averages) != 1 or not term.is_Mul and not isinstance(term, Expectation):
        return np.abs(interpreter.value(term, axes))
    (average,) = averages
    terms = sp.Add.make_args(sp.expand_mul(average.integrand))  # a label that is the output leaves rounding of both
    integrand = sum(np.abs(interpreter.value(each, (*axes, NODES))) for each in terms)
    return np.abs(interpreter.value(term / average, axes)) * (integrand @ interpreter.point.weight)
