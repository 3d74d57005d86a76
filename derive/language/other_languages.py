"""Names that users know from other languages, and what to write in their place."""

import re
from types import MappingProxyType

#: Characters of other notations -> what to do.
SYMBOLS = MappingProxyType(
    {
        "^": "write powers with **",
        "|": "write abs(...)",
        "<": "write step(...), 1 where its argument is positive",
        ">": "write step(...), 1 where its argument is positive",
        "\u2212": "write -",
        "\u00d7": "write *",
        "\u00b7": "write *",
        "\u00b2": "write **2",
        "\u00b3": "write **3",
        "\u03c0": "write pi",
        "\u221a": "write sqrt(...)",
    }
)

#: Names of other languages, in small letters -> what to write, {0} standing for the variable.
_OTHER_NAMES = MappingProxyType(
    {
        "ln": "log({0})",
        "log1p": "log(1 + {0})",
        "expm1": "exp({0}) - 1",
        "heaviside": "step({0})",
        "theta": "step({0})",
        "where": "step({0} - place)*above + step(place - {0})*below, with numbers and expressions of your own",
        "piecewise": "step({0} - place)*above + step(place - {0})*below, with numbers and expressions of your own",
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
        "relu6": "clip({0}, 0, 6)",
        "prelu": "max({0}, 0.25*{0})",
        "celu": "elu({0})",
        "softmax": "sigmoid({0}), which it is of two classes",
    }
)
_WITH_PARAMETERS = MappingProxyType(
    {
        "leaky_relu": "; with another slope it is max(z, 0.2*z)",
        "elu": "; with another scale it is max(z, 0) + 2*(exp(min(z, 0)) - 1)",
        "softplus": "; steeper it is softplus(5*z)/5",
        "gelu": "; steeper it is z*Phi(2*z)",
        "silu": "; steeper it is z*sigmoid(2*z)",
    }
)
_LIBRARIES = frozenset({"np", "numpy", "math", "sp", "scipy", "sympy", "torch", "jnp", "jax", "tf", "nn", "F"})
_POLYNOMIAL = re.compile(r"[Hh]e_?(\d+)")
#: Parameters of losses and activations, which have no name in an expression.
_PARAMETERS = frozenset({"delta", "epsilon", "eps", "tau", "quantile", "alpha", "beta", "gamma", "slope", "scale"})


def with_parameter(name: str) -> str:
    """How to write a function whose parameter is fixed with another value of it, or an empty text."""
    return _WITH_PARAMETERS.get(name, "")


def meant_by(name: str, called: bool, variables: tuple[str, ...]) -> str:
    """What to write in place of a name of another language, or an empty text."""
    if name in _LIBRARIES:
        return f"write functions by their names alone, as tanh({variables[0]}), not {name}.tanh. "
    known = _OTHER_NAMES.get(name.lower())
    if known is not None and called:
        return f"write {known.format(*variables)}. "
    if called and (degree := _POLYNOMIAL.fullmatch(name)):
        return f"write He({degree[1]}, {variables[0]}). "
    if name.lower() in _PARAMETERS and not called:
        return f"write the value of {name}, a number as 0.5, in its place. "
    if len(name) == 1 and not called and len(variables) == 1:
        return f"the variable is {variables[0]}: write {variables[0]}. "
    return ""
