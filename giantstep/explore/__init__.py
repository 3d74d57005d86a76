"""A page with a slider for every number of a model: curves, learned function, spectrum and bounds as it moves."""
