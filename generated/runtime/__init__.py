"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 819c5d936bbf6aaa, runtime 0736249e1a69224a.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "819c5d936bbf6aaa5efe9dbaa030a4eaf58eee59f1c65d9eb13f0707b797c714"
