"""What one thread does at a time.

SymPy and mpmath hold the number of digits that they compute with for the whole process: of two threads that derive, or
compute in many digits, each would take those of the other.
"""

from __future__ import annotations

from threading import RLock

#: Held while a model is derived or solved. Threads share what needs neither: points of the square loss beyond their
#: features, and simulations.
TURN = RLock()
