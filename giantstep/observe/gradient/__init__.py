"""Derivatives of a solution in the parameters of its model."""
