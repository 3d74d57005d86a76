"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 0be8058213829498, runtime 3f77430d09a4997f.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "0be805821382949856356d3c02dc73d92f2decab6bf1ba43dcbeff043f9ed737"
