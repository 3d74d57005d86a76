"""Hand-written numerics that emitted modules share; copied from codegen/runtime/."""
