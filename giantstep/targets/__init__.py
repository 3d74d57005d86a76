"""Links and labels: their values, moments and laws given the spike, for one index and for several."""
