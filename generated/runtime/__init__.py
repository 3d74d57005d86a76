"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 50768d3babf7be6c, runtime 33464624293ddd0f.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "50768d3babf7be6cfc6a5575b268f6311948f9f24af292daae884a0ae66999a1"
