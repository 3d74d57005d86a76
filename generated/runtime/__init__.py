"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 35b197c385e1dc7c, runtime 50a1bdc33bfa3dee.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "35b197c385e1dc7c5073dada1a036aedd27fbef7cba6eaca0c1160c039622193"
