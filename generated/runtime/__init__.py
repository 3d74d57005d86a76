"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 05abe07bed919ea2, runtime 41d86c02727f4e2e.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "05abe07bed919ea2adf35a6f0af57b38dc8f3f1f3bad9a5308a1fb17562f14d2"
