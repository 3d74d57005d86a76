"""The rungs of `giantstep verify`: each reaches numbers of a model by another path."""
