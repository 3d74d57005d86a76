"""A page with sliders for the main numbers of a model: curves, learned function, spectrum and bounds as they move."""
