"""Symbolic derivation: from the statement of a model to its saddle-point equations, every step recorded."""
