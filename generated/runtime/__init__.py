"""Hand-written numerics that all generated functions and losses share.

Written by hand, in codegen/runtime/__init__.py.
Generated; do not edit. Signature 0c4abd61740c2f41, runtime 2c25465eff784bff.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "0c4abd61740c2f4102d6ae0a9c976d170edd5e40599f595f64b8bf3b996fbbe3"
