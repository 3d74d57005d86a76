"""Names that users know from other languages, and what to write in their place."""

from types import MappingProxyType

#: Names of other languages, in small letters -> what to write, {0} standing for the variable.
_OTHER_NAMES = MappingProxyType(
    {
        "ln": "log({0})",
        "log1p": "log(1 + {0})",
        "expm1": "exp({0}) - 1",
        "heaviside": "step({0})",
        "theta": "step({0})",
        "where": "step({0} - a)*f + step(a - {0})*g for f above a and g below",
        "piecewise": "step({0} - a)*f + step(a - {0})*g for f above a and g below",
        "logistic": "sigmoid({0})",
        "expit": "sigmoid({0})",
        "normcdf": "Phi({0})",
        "ndtr": "Phi({0})",
        "pow": "{0}**2",
        "power": "{0}**2",
        "square": "{0}**2",
        "sgn": "sign({0})",
        "fabs": "abs({0})",
        "absolute": "abs({0})",
        "maximum": "max({0}, 0)",
        "minimum": "min({0}, 0)",
        "sech": "1/cosh({0})",
        "hermite": "He(2, {0})",
    }
)
_LIBRARIES = frozenset({"np", "numpy", "math", "sp", "scipy", "sympy", "torch", "jnp", "jax", "tf", "nn", "F"})
#: Parameters of losses and activations, which have no name in an expression.
_PARAMETERS = frozenset({"delta", "epsilon", "eps", "tau", "quantile", "alpha", "beta", "gamma", "slope", "scale"})


def meant_by(name: str, called: bool, variables: tuple[str, ...]) -> str:
    """What to write in place of a name of another language, or an empty text."""
    if name in _LIBRARIES:
        return f"write functions by their names alone, as tanh({variables[0]}), not {name}.tanh. "
    known = _OTHER_NAMES.get(name.lower())
    if known is not None and called:
        return f"write {known.format(*variables)}. "
    if name.lower() in _PARAMETERS and not called:
        return f"write the value of {name}, a number as 0.5, in its place. "
    if len(name) == 1 and not called and len(variables) == 1:
        return f"the variable is {variables[0]}: write {variables[0]}. "
    return ""
