"""Emitted numba modules and their MANIFEST.json; written by `giantstep generate`, edited by nobody."""
