"""Solvers of saddle-point systems, emitted by codegen."""
