"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 2a73c3b547261002, runtime 38260952df27e6ff.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "2a73c3b5472610028a07246f138d1a75633b32a7ffc92bb235f93783c485635e"
