"""A ridge and fields that stand for a penalty on the readout [THEORY section 16; ``derive.penalty``]."""

from __future__ import annotations

import sympy as sp

from derive.blocks import BlockSum, index
from derive.spectrum import SpectralLaw
from derive.symbols import EXCESS, M_, PULL, Q2_HAT, RANDOM_FIELD, RIDGE
from derive.trace import Recorder

B = index("b")


def ridge_of(law: SpectralLaw) -> sp.Expr:
    """The ridge on the readouts of block b."""
    return RIDGE + EXCESS[B] if law.stand_in else RIDGE


def coupling_of(law: SpectralLaw) -> sp.Expr:
    """The field that replicas share at the readouts of block b, by its variance."""
    return Q2_HAT[B] + RANDOM_FIELD[B] if law.stand_in else Q2_HAT[B]


def pull_of(law: SpectralLaw) -> sp.Expr:
    """The field that all readouts of a block have in common, on their overlap m."""
    return BlockSum(PULL[B] * M_[B], B) if law.stand_in else sp.S.Zero


def record_stand_in(trace: Recorder, law: SpectralLaw) -> None:
    """Say what stands for the penalty, where something does."""
    if law.stand_in:
        trace.assume(
            "stand-in for the penalty",
            sp.Tuple(*sp.symbols("lambda_b qhat^(2)_b")),
            sp.Tuple(ridge_of(law), coupling_of(law)),
            "in block $b$ a ridge beside $\\lambda$, a random field of given variance and, on $m_b$, one that all "
            "readouts have in common, in the place of the penalty: those that give the same response $T_b$, norm "
            "$Q^{(2)}_b$ and overlap $m_b$",
            source="THEORY section 16",
            assumption="rows Gaussian given the law: a readout feels the others by a curvature and a Gaussian field",
        )
