"""One emitted module per scalar function: its values and its conditional Gaussian coefficients."""
