"""Expressions written by users: a small whitelisted grammar, parsed without ever evaluating the text.

The text passes two gates. A scanner admits only numbers, known names and ``+ - * / ** ( ) ,``; everything
else (quotes, brackets, dots, keywords, anything outside ASCII) stops there. Python's own parser then fixes
the precedence, and a walk over its syntax tree admits only what the grammar has and builds our ``Node`` tree.
"""

import ast
import difflib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from derive.language.constants import NotFinite, fold
from derive.language.other_languages import SYMBOLS, meant_by, with_parameter

MAX_CHARACTERS = 500
MAX_DEPTH = 64
MAX_NODES = 250
MAX_DIGITS = 50
MAX_POWER = 64
MAX_DEGREE = 64
MAX_HERMITE = 20
LARGEST = 10**30

_UNARY = (
    *("exp", "log", "sqrt", "sin", "cos", "sinh", "cosh", "tanh", "arctan", "erf", "erfc", "Phi"),
    *("sign", "step", "abs", "relu", "sigmoid", "softplus"),
)
#: Function name -> number of arguments.
FUNCTIONS: Mapping[str, int] = MappingProxyType(dict.fromkeys(_UNARY, 1) | {"max": 2, "min": 2, "clip": 3, "He": 2})
ALIASES: Mapping[str, str] = MappingProxyType({"atan": "arctan"})
#: Function name -> what it stands for, in x: written out while an expression is read.
DEFINED: Mapping[str, str] = MappingProxyType(
    {
        "identity": "x",
        "linear": "x",
        "quadratic": "He(2,x)",
        "cubic": "He(3,x)",
        "gelu": "x*Phi(x)",
        "silu": "x*sigmoid(x)",
        "swish": "x*sigmoid(x)",
        "mish": "x*tanh(softplus(x))",
        "softsign": "x/(1+abs(x))",
        "elu": "relu(x)+exp(min(x,0))-1",
        "selu": "1.0507009873554805*relu(x)+1.7580993408473768*(exp(min(x,0))-1)",
        "leaky_relu": "max(x,0.01*x)",
        "hard_tanh": "clip(x,-1,1)",
    }
)
_CALLABLE = (*FUNCTIONS, *ALIASES, *DEFINED)
CONSTANTS = ("e", "pi")
_OF_MANY = ("max", "min")  # of more than two arguments: pairs, one inside the other

# Functions whose value grows no faster than their argument; every other call counts as one new variable.
_PIECEWISE_LINEAR = frozenset({"abs", "relu", "max", "min", "clip"})
_BINARY: Mapping[type, str] = MappingProxyType(
    {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow"}
)
_SYMBOLS = MappingProxyType({"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"})
_PRECEDENCE = MappingProxyType({"add": 1, "sub": 1, "mul": 2, "div": 2, "neg": 3, "pow": 4})
_TOKEN = re.compile(r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|[-+*/(), ]", re.ASCII)
_NUMBER = re.compile(r"(?P<whole>\d*)\.?(?P<part>\d*)(?:[eE](?P<exponent>[+-]?\d+))?", re.ASCII)
_ALLOWED = "allowed are numbers, + - * / **, parentheses, the constants pi and e, and the functions " + " ".join(
    sorted((*FUNCTIONS, *DEFINED))
)


class ExpressionError(ValueError):
    """A text outside the grammar; ``message`` says what was given and ``hint`` how to fix it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


@dataclass(frozen=True)
class Node:
    """One node of a parsed expression.

    ``op`` is "number" (value: Fraction >= 0), "variable" (value: name), "constant" (value: "pi" or "e"),
    "add", "sub", "mul", "div", "pow", "neg" or "call" (value: function name); ``args`` are its operands.
    """

    op: str
    args: tuple["Node", ...] = ()
    value: object = None


@dataclass(frozen=True)
class _Walked:
    """A node with what the limits need: its value if it is constant, its degree as a polynomial, its size."""

    node: Node
    constant: float | None
    degree: float
    count: int


def parse(text: str, variables: tuple[str, ...] = ("z",)) -> Node:
    """Parse an expression in the given variables into a ``Node`` tree; the text is never evaluated.

    Raises ExpressionError for anything outside the grammar or its limits (characters, depth, nodes, size of
    numbers, powers, degree), and for constant parts that are not finite real numbers, as in ``1/0``.
    """
    if not isinstance(text, str):
        raise ExpressionError(f"an expression must be text, got {shorten(text)}", 'for example "tanh(z)"')
    clean = text.translate({9: " ", 10: " ", 13: " "}).strip(" ")
    _scan(clean, variables)
    try:
        tree = ast.parse(clean, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply"
        raise ExpressionError(
            f"{shorten(text)} is not a complete expression ({reason})",
            "check the operators, the parentheses and the commas",
        ) from None
    node = _Walker(clean, variables).walk(tree.body, 1).node
    if len(canonical(node)) > MAX_CHARACTERS:
        raise _too_long(text)
    return node


def canonical(node: Node) -> str:
    """Text of a tree without spaces or needless parentheses: ``parse(canonical(node)) == node``."""
    if node.op == "number":
        return _number_text(node.value)
    if node.op == "call":
        return f"{node.value}({','.join(canonical(argument) for argument in node.args)})"
    if node.op == "neg":
        return "-" + _enclosed(node.args[0], 3)
    if node.op in _SYMBOLS:
        own = _PRECEDENCE[node.op]
        left, right = (5, 3) if node.op == "pow" else (own, own + 1)
        return _enclosed(node.args[0], left) + _SYMBOLS[node.op] + _enclosed(node.args[1], right)
    return str(node.value)


def constant_value(node: Node) -> float | None:
    """Value of a tree without variables, None for any other. Raises ExpressionError if it is not finite."""
    if node.op == "variable":
        return None
    values = [constant_value(argument) for argument in node.args]
    known = [value for value in values if value is not None]
    return _folded(node, known) if len(known) == len(values) else None


def shorten(value: object, length: int = 60) -> str:
    """ASCII representation of anything, cut to a length that fits into an error message."""
    try:
        text = ascii(value)
    except Exception:  # a foreign __repr__ may fail in any way; the message must still be written
        text = f"<{type(value).__name__}>"
    return text if len(text) <= length else f"{text[: length - 4]}...{text[-1]}"


def did_you_mean(word: str, known: tuple[str, ...]) -> str:
    """``did you mean 'x'?`` for the nearest known word, or an empty text."""
    lowered = {name.lower(): name for name in reversed(known)}
    parts = sorted(word.lower().split("_"))
    if same := [name for name in known if sorted(name.lower().split("_")) == parts]:
        return f"did you mean '{same[0]}'? "
    close = difflib.get_close_matches(word[:50].lower(), list(lowered), n=1)
    return f"did you mean '{lowered[close[0]]}'? " if close else ""


def _folded(node: Node, values: list[float]) -> float:
    try:
        value = fold(node.op, node.value, values)
    except NotFinite:
        value = float("inf")
    if not abs(value) <= float(LARGEST):
        raise ExpressionError(
            f"the constant part {shorten(canonical(node))} is not a finite real number of at most 1e30",
            "change the numbers in it",
        )
    return value


def _enclosed(node: Node, least: int) -> str:
    text = canonical(node)
    return text if _PRECEDENCE.get(node.op, 5) >= least else f"({text})"


def _number_text(value: object) -> str:
    if not isinstance(value, Fraction) or value < 0:
        raise ExpressionError(f"a number node holds a non-negative Fraction, got {shorten(value)}")
    places = next((k for k in range(2 * MAX_DIGITS) if (value * 10**k).denominator == 1), None)
    if places is None:
        raise ExpressionError(f"{value} is not a decimal number", "write it as a division")
    digits = str(int(value * 10**places))
    if places:
        padded = digits.rjust(places + 1, "0")
        plain = f"{padded[:-places]}.{padded[-places:]}"
        scientific = f"{digits}e-{places}"
    else:
        plain = digits
        stripped = digits.rstrip("0") or "0"
        scientific = f"{stripped}e{len(digits) - len(stripped)}"
    return scientific if len(scientific) < len(plain) - 2 else plain


def _too_long(text: str) -> ExpressionError:
    return ExpressionError(f"the expression {shorten(text)} is too long", f"at most {MAX_CHARACTERS} characters fit")


def _scan(text: str, variables: tuple[str, ...]) -> None:
    """Refuse every character and name that is not part of the grammar, before any parser sees the text."""
    if not text:
        raise ExpressionError("the expression is empty", f"for example 'tanh({variables[0]})'")
    if len(text) > MAX_CHARACTERS:
        raise _too_long(text)
    position, previous = 0, ""
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _bad_character(text, text[position])
        token, kind = match.group(), match.lastgroup or ""
        if previous == "number" and kind:
            raise ExpressionError(
                f"in {shorten(text)} a number is followed directly by '{token[:20]}'",
                f"write products with *, for example 2*{variables[0]}; decimal numbers look like 0.5 or 1e-3",
            )
        if kind == "name":
            _check_name(text, token, text[match.end() :].lstrip(" ").startswith("("), variables)
        position, previous = match.end(), kind


def _bad_character(text: str, character: str) -> ExpressionError:
    shown = f"'{character}'" if character.isascii() and character.isprintable() else f"U+{ord(character):04X}"
    name = "" if character.isascii() else f" ({unicodedata.name(character, 'unnamed')})"
    return ExpressionError(
        f"the character {shown}{name} in {shorten(text)} is not part of an expression",
        SYMBOLS.get(character, _ALLOWED),
    )


def _check_name(text: str, name: str, called: bool, variables: tuple[str, ...]) -> None:
    function = name in _CALLABLE
    if called and function or not called and name in variables + CONSTANTS:
        return
    if function:
        raise ExpressionError(
            f"in {shorten(text)} the function '{name}' has no argument", f"write {name}({variables[0]})"
        )
    if called and name in variables + CONSTANTS:
        raise ExpressionError(
            f"in {shorten(text)} '{name}' is called like a function", f"write products with *: {name}*(...)"
        )
    known = _CALLABLE if called else (*variables, *CONSTANTS)
    what = "function" if called else "name"
    names = f"the variables are {' '.join(variables)}" if not called else "functions"
    meant = meant_by(name, called, variables) or did_you_mean(name, known)
    raise ExpressionError(
        f"unknown {what} {shorten(name, 30)} in {shorten(text)}",
        f"{meant}{_ALLOWED}" + ("" if called else f"; {names}"),
    )


class _Walker:
    """Whitelist walk over Python's syntax tree of one scanned text."""

    def __init__(self, text: str, variables: tuple[str, ...], argument: _Walked | None = None) -> None:
        """argument: what the variable of a definition stands for."""
        self.text = text  # of the user, for messages
        self.source = text  # of the tree
        self.variables = variables
        self.argument = argument

    def walk(self, tree: ast.expr, depth: int) -> _Walked:
        if depth > MAX_DEPTH:
            raise self._error("is nested too deeply", f"at most {MAX_DEPTH} levels are allowed")
        if isinstance(tree, ast.Constant):
            return self._finish(Node("number", value=self._number(tree)), ())
        if isinstance(tree, ast.Name):
            if self.argument is not None:
                return self.argument
            op = "variable" if tree.id in self.variables else "constant"
            return self._finish(Node(op, value=tree.id), ())
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.UAdd):
            return self.walk(tree.operand, depth + 1)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            inner = self.walk(tree.operand, depth + 1)
            return self._finish(Node("neg", (inner.node,)), (inner,))
        if isinstance(tree, ast.BinOp) and type(tree.op) in _BINARY:
            pair = (self.walk(tree.left, depth + 1), self.walk(tree.right, depth + 1))
            return self._finish(Node(_BINARY[type(tree.op)], (pair[0].node, pair[1].node)), pair)
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
            return self._call(tree.func.id, tree.args, depth)
        raise self._error("holds something that is not an operation, a number, a name or a call", _ALLOWED)

    def _call(self, written: str, trees: list[ast.expr], depth: int) -> _Walked:
        name = ALIASES.get(written, written)
        wanted = FUNCTIONS.get(name, 1)
        if name in _OF_MANY and len(trees) > wanted:
            pair = (self._call(name, trees[:-1], depth + 1), self.walk(trees[-1], depth + 1))
            return self._finish(Node("call", (pair[0].node, pair[1].node), name), pair)
        if name not in _CALLABLE or len(trees) != wanted:
            raise self._error(
                f"calls {name} with {len(trees)} arguments",
                f"{name} takes {wanted} argument{'s' * (wanted > 1)}{' or more' * (name in _OF_MANY)}"
                + with_parameter(name),
            )
        arguments = tuple(self.walk(tree, depth + 1) for tree in trees)
        if name in DEFINED:
            return self._defined(name, arguments[0], depth)
        if name == "He":
            degree = arguments[0].node.value if arguments[0].node.op == "number" else None
            if not isinstance(degree, Fraction) or degree.denominator != 1 or degree > MAX_HERMITE:
                raise self._error(
                    "needs an integer as the degree of He",
                    f"write He(k, {self.variables[0]}) with a literal k from 0 to {MAX_HERMITE}",
                )
        if name == "clip":
            low, high = arguments[1].constant, arguments[2].constant
            if low is None or high is None or not low < high:
                raise self._error(
                    "needs numbers as the bounds of clip",
                    f"write clip({self.variables[0]}, lo, hi) with lo < hi",
                )
        return self._finish(Node("call", tuple(argument.node for argument in arguments), name), arguments)

    def _defined(self, name: str, argument: _Walked, depth: int) -> _Walked:
        inside = _Walker(self.text, self.variables, argument)
        inside.source = DEFINED[name]
        return inside.walk(ast.parse(DEFINED[name], mode="eval").body, depth + 1)

    def _number(self, tree: ast.Constant) -> Fraction:
        literal = self.source[tree.col_offset : tree.end_col_offset]
        match = _NUMBER.fullmatch(literal)
        if match is None:
            raise self._error(f"holds {shorten(literal)}", "numbers are decimal, like 2, 0.5 or 1e-3")
        digits = (match["whole"] + match["part"]).lstrip("0")
        exponent = match["exponent"] or "0"
        # Sizes are checked on the text: Fraction("1e999999999") would fill the memory.
        if len(digits) <= MAX_DIGITS and len(exponent.lstrip("+-").lstrip("0")) <= 2:
            value = Fraction(int(digits or "0")) * Fraction(10) ** (int(exponent) - len(match["part"]))
            if value == 0 or Fraction(1, LARGEST) <= value <= LARGEST:
                return value
        raise self._error(
            f"holds the number {shorten(literal, 40)}",
            f"numbers are 0 or lie between 1e-30 and 1e30, with at most {MAX_DIGITS} digits",
        )

    def _finish(self, node: Node, parts: tuple[_Walked, ...]) -> _Walked:
        """Apply the limits that hold for every node: size, finite constants, powers and degree."""
        count = 1 + sum(part.count for part in parts)
        if count > MAX_NODES:
            raise self._error("has too many parts", f"at most {MAX_NODES} numbers, names and operators fit")
        values = [part.constant for part in parts if part.constant is not None]
        constant = _folded(node, values) if len(values) == len(parts) and node.op != "variable" else None
        if node.op == "pow":
            self._check_power(parts[0].constant, parts[1].constant)
        degree = 0.0 if constant is not None else _degree(node, parts)
        if degree > MAX_DEGREE:
            raise self._error(f"reaches degree {degree:.6g}", f"the largest degree allowed is {MAX_DEGREE}")
        return _Walked(node, constant, degree, count)

    def _check_power(self, base: float | None, exponent: float | None) -> None:
        fixed_base = base is not None and base > 0
        if fixed_base or exponent is not None and abs(exponent) <= MAX_POWER:
            return
        raise self._error(
            "holds a power that is not allowed",
            f"the exponent must be a number from -{MAX_POWER} to {MAX_POWER}, or the base a positive number",
        )

    def _error(self, problem: str, hint: str) -> ExpressionError:
        return ExpressionError(f"the expression {shorten(self.text)} {problem}", hint)


def _degree(node: Node, parts: tuple[_Walked, ...]) -> float:
    """Degree as a polynomial, calls that are not piecewise linear counting as one new variable."""
    degrees = [part.degree for part in parts]
    if node.op in ("mul", "div"):
        return sum(degrees)
    if node.op == "pow":
        exponent = parts[1].constant
        return 1.0 if exponent is None else degrees[0] * abs(exponent)
    if node.op == "call" and node.value == "He":
        return degrees[1] * (parts[0].constant or 0.0)
    if node.op == "call" and node.value not in _PIECEWISE_LINEAR:
        return 1.0
    return max(degrees, default=1.0)
