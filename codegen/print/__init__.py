"""Printers: the text of index expressions for numba and for NumPy."""
