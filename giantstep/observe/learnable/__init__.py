"""What giant steps can find of a target: Hermite tensors, leap, staircase, and simulated steps."""
