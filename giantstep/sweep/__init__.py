"""Sweeps: the grid, units of work, checkpoints and the dataset."""
