"""Emitted systems of equations; nobody edits them."""
