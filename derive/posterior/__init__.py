"""The posterior of the directions of a target, for the best estimator."""
