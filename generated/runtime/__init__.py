"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 8329822f61b5d277, runtime 8d61d5cf8591fb58.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "8329822f61b5d27794d690974b75e1d7b45b0c0a45d70a6ca413b663c9dbdbc4"
