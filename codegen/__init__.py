"""From derived records to committed, self-contained numba modules; needs SymPy, never numba."""
