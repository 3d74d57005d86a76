"""Replica-symmetric matrices A 1 + B 1 1^T over n replicas: their functions, and the limit n -> 0.

The eigenvalues are A, n - 1 times, and A + n B on the vector of ones. A and B may be numbers or square matrices of any
other space: the replica projector commutes with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import sympy as sp

REPLICAS = sp.Symbol("n", positive=True)


class LogDeterminant(sp.Expr):
    """``log det X`` of a square matrix expression; its derivative is Tr(X^-1 X'), Jacobi's formula."""

    is_commutative = True

    def __new__(cls, matrix: Any) -> sp.Expr:
        if not isinstance(matrix, sp.MatrixExpr):
            return sp.log(matrix)
        factor, rest = _scale(matrix)
        inner = sp.Expr.__new__(cls, rest)
        return inner if factor == 1 else rest.shape[0] * sp.log(factor) + inner

    def _eval_derivative(self, symbol: sp.Symbol) -> sp.Expr:
        (matrix,) = self.args
        return sp.Trace(sp.Inverse(matrix) * matrix.diff(symbol).doit()).doit()

    def numerical_value(self, values: Any, where: Any) -> Any:
        """At a random point."""
        return mpmath.log(mpmath.det(values.matrix(self.args[0], where)))

    def _latex(self, printer: Any) -> str:
        return rf"\log\det\left({printer._print(self.args[0])}\right)"

    def _sympystr(self, printer: Any) -> str:
        return f"log det({printer._print(self.args[0])})"


class OnInverse(sp.Expr):
    """``j^T X^-1 j`` of a square matrix expression and a vector, ``j^2/X`` of numbers."""

    is_commutative = True

    def __new__(cls, matrix: Any, vector: Any) -> sp.Expr:
        if not isinstance(matrix, sp.MatrixExpr):
            return vector**2 / matrix
        (factor, rest), (size, direction) = _scale(matrix), _scale(vector)
        inner = sp.Expr.__new__(cls, rest, direction)
        return inner if factor == 1 and size == 1 else size**2 / factor * inner

    def _eval_derivative(self, symbol: sp.Symbol) -> sp.Expr:
        matrix, vector = self.args
        inverse = sp.Inverse(matrix)
        return -sp.Trace(inverse * matrix.diff(symbol).doit() * inverse * vector * vector.T).doit()

    def numerical_value(self, values: Any, where: Any) -> Any:
        """At a random point."""
        matrix, vector = (values.matrix(each, where) for each in self.args)
        return (vector.T * matrix**-1 * vector)[0]

    def _latex(self, printer: Any) -> str:
        matrix, vector = map(printer._print, self.args)
        return rf"{vector}^{{T}} \left({matrix}\right)^{{-1}} {vector}"

    def _sympystr(self, printer: Any) -> str:
        matrix, vector = map(printer._print, self.args)
        return f"{vector}.({matrix})^-1.{vector}"


def _scale(matrix: Any) -> tuple[Any, Any]:
    """A matrix expression as (scalar, matrix without it)."""
    if isinstance(matrix, sp.MatMul):
        factor, rest = matrix.as_coeff_matrices()
        return factor, sp.MatMul(*rest)
    return sp.S.One, matrix


@dataclass(frozen=True)
class ReplicaMatrix:
    """``own`` 1 + ``shared`` 1 1^T on n replicas."""

    own: Any
    shared: Any

    @property
    def eigenvalues(self) -> tuple[tuple[Any, Any], ...]:
        """(eigenvalue, multiplicity): across the vector of ones, and on it."""
        return (self.own, REPLICAS - 1), (self.own + REPLICAS * self.shared, sp.S.One)

    def of(self, function: Callable[[Any], Any]) -> ReplicaMatrix:
        """A function of the matrix, by its eigenvalues."""
        across, along = (function(value) for value, _ in self.eigenvalues)
        return ReplicaMatrix(across, (along - across) / REPLICAS)

    def log_determinant(self) -> Any:
        """The logarithms of the eigenvalues with their multiplicities."""
        return sp.Add(*(times * LogDeterminant(value) for value, times in self.eigenvalues))

    def on_inverse(self, source: Any) -> Any:
        """sum_rs j^T (X^-1)^rs j: the eigenvalue on the vector of ones, whose squared length is n."""
        _, (along, _) = self.eigenvalues
        return REPLICAS * OnInverse(along, source)

    def contracted(self, other: ReplicaMatrix) -> Any:
        """sum_rs X^rs Y^rs, the trace of the product: they share their eigenvectors."""
        pairs = zip(self.eigenvalues, other.eigenvalues, strict=True)
        return sp.Add(*(times * mine * its for (mine, times), (its, _) in pairs))


def per_replica(total: Any) -> Any:
    """The derivative of a sum over replicas at n = 0, where the sum vanishes."""
    slope = sp.diff(total, REPLICAS)
    matrices = {node: node.subs(REPLICAS, 0).doit() for node in slope.atoms(sp.Trace)}
    return slope.xreplace(matrices).subs(REPLICAS, 0).doit()
