"""Finite-size simulation: the trained network, its spiked random features, its Gaussian equivalent."""
