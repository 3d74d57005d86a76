"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature c81aafb4fb60ad24, runtime 97c83a25af78fcaa.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "c81aafb4fb60ad248fd567c0a75f4be8281574b97c617f9cae6cebdb36cb9c36"
