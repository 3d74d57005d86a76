"""Losses: pieces, convexity, Moreau envelope and proximal map."""
