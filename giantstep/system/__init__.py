"""From laws and generated equations to a solution: starts, Newton, refinement, certificate."""
