"""Lowering: Gaussian averages become loops over the nodes of kappa, sums over blocks become small loops."""
