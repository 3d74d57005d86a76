"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 25fd4f24c75e2acd, runtime 0c268439566f549f.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "25fd4f24c75e2acd4a9f1358f8184080e9bb568f4492fb373c5dd50303bfe029"
