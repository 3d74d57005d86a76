"""Gaussian calculus: the expectation, its closed forms, Hermite coefficients, quadrature to any precision."""
