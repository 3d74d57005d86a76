"""Tangents of the coupled systems and slopes of their coefficients, for implicit differentiation."""
