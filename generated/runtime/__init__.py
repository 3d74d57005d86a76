"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 879ec53e285d279c, runtime ad08b7e40ee9ca37.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "879ec53e285d279c8083d7b2a4aae88b31885527963c0f345153027dfa579b65"
