"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 1cf535a76b3497d3, runtime 1afa32cc6e442e98.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "1cf535a76b3497d379676d1429123af3aa94247a9feab6ea0e41f1661bbb1981"
