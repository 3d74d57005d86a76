"""From a model to its laws: conditioning, features, labels and the spectrum of the bulk."""
