"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 41b50196569bde62, runtime a9d278418cd419db.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "41b50196569bde62523179fb7c1d8c3e3e6f8721cf436bbd462cb9581d5ba2a5"
