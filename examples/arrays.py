"""Arrays in, arrays out: a curve, a map and many points. mypy reads this file as the script of a user."""

from __future__ import annotations

import numpy as np

import giantstep as gs


def main() -> None:
    """Print the least test errors."""
    model = gs.model("tanh", link="sign")
    samples, ridges = np.linspace(0.5, 4.0, 8), np.array([0.01, 0.1, 1.0])
    curve = gs.curve(model, {"fit.samples": samples}, progress="auto")
    diagram = gs.map(model, {"fit.samples": samples}, {"fit.ridge": ridges}, refine=0)
    many = gs.solve_many(model, {"fit.samples": samples[:, None], "fit.ridge": ridges})
    errors = many["test_error"].reshape(many.shape)
    print(f"{min(curve['test_error']):.4f} {diagram.test_error.min():.4f} {errors.min():.4f} {many['status'][0]}")


if __name__ == "__main__":
    main()
