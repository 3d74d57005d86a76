"""What a user writes: grammar, names, links, registered functions and losses, and their translation to SymPy."""
