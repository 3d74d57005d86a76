"""Bulk laws other than the isotropic one: the trained bulk and a given matrix."""
