"""One emitted module per loss: its averages over the conditional output."""
