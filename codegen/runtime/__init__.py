"""Hand-written numerics that all generated functions and losses share."""
