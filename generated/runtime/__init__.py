"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 90a4b0a1d710de92, runtime f3eb3468d1529abb.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "90a4b0a1d710de9292f66c4569881588c3ee5b1fd3b66b59e648778095e693c7"
