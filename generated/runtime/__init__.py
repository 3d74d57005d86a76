"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 5e54e20a772fc32e, runtime 89d945d22846f3e9.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "5e54e20a772fc32e526bfcc491752dd6601f77ead2e2ff51bc406430fcd0ea6d"
