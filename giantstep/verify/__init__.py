"""The checks of `giantstep verify`: each reaches numbers of a model by another path."""
