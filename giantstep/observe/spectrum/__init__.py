"""The spectrum of the features' Gram matrix, by continuation of the derived equations to complex ridge."""
