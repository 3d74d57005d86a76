"""Printers: the text of equations in each language, behind one protocol."""
