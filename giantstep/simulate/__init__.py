"""Finite-size simulation: the trained network, its spiked random features, its Gaussian equivalent."""

from giantstep.simulate.convex import ConvexLoss
from giantstep.simulate.errors import SimulationError
from giantstep.simulate.order import Overlaps
from giantstep.simulate.result import MeasuredSpike, SimulationResult
from giantstep.simulate.run import simulate
from giantstep.simulate.system import FiniteSizes, FiniteSystem, finite_sizes

__all__ = [
    "ConvexLoss",
    "FiniteSizes",
    "FiniteSystem",
    "MeasuredSpike",
    "Overlaps",
    "SimulationError",
    "SimulationResult",
    "finite_sizes",
    "simulate",
]
