"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 9378c8310ee32688, runtime c3c89fd6f491a80d.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "9378c8310ee3268843410bad256f29b7df0fec22adde59cefbe4f21ca52bc167"
