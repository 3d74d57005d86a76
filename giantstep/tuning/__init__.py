"""Derivatives of a solution and the parameters with the least error."""
