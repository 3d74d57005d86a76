"""Hand-written numerics of the emitted modules: copied once into generated/runtime/, never run from here."""
