"""What is possible at all: the best estimator of a target from samples, and when it finds anything."""
