"""Model files: tables and records, expressions, validation, and the kernels of functions."""
