"""From the replicated partition function to the free energy [THEORY section 11]."""
