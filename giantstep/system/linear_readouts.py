"""What a coupled system has of a penalty on the readout, and of rows of a law of their own, where there are none."""

from __future__ import annotations

from types import ModuleType

import numpy as np

Array = np.ndarray


class LinearReadouts:
    """Readouts that are linear functions of their fields, of isotropic rows."""

    kernel: ModuleType
    like_ridge = 0.0  # the ridge that a penalty is like, to start from

    @property
    def equations(self) -> ModuleType:
        """The equations, with their certificate and tangents."""
        return self.kernel

    def jacobian(self) -> Array:
        """See ``Equations``."""
        raise NotImplementedError

    def matrix_of_step(self) -> Array:
        """See ``Equations``: all of it."""
        return self.jacobian()

    def of_linear_readouts(self, x: Array) -> Array:
        """The unknowns from those of a fit without a penalty."""
        return x

    def of_rows(self, x: Array, curvature: float) -> Array:
        """The unknowns from those of a square loss of so much curvature on isotropic rows."""
        return x

    def hint(self) -> str:
        """Why the equations may have no solution that is told, as far as the last unknowns say."""
        return ""

    def approached(self, x: Array) -> Array | None:
        """Unknowns nearer to the solution by another way than Newton's method, where there is one."""
        return None

    def energy_rate(self, rates: Array, of_beta: float = 0.0, penalty: int | None = None) -> float:
        """Derivative of what the equations leave out of the free energy, by rates of ``x``."""
        return 0.0

    def penalty(self) -> float:
        """The penalty on the readout beside the ridge, per dimension, at the last x."""
        return 0.0
