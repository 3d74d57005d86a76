"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 963c5ef30899cf78, runtime 07a1517f1c2ce01c.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "963c5ef30899cf7863d63c542c20c317705d284ab1aaf115b6e6c35f7e3aa2d3"
