"""The expression grammar: what it accepts, what it refuses, and that no text is ever evaluated."""

import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from grammar_cases import refused, tripwires
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.language import catalogue, grammar
from derive.language.catalogue import REGISTERED, latex, lookup
from derive.language.grammar import FUNCTIONS, ExpressionError, Node, canonical, constant_value, parse

Z = Node("variable", value="z")


def number(text: str) -> Node:
    return Node("number", value=Fraction(text))


def test_tripwires_fire() -> None:
    for action in (
        lambda: eval("1"),
        lambda: compile("1", "", "eval"),
        lambda: __import__("math"),
        lambda: open("x"),  # noqa: SIM115
    ):
        with tripwires(), pytest.raises(AssertionError):
            action()


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("z", Z),
        (" ( z )\n", Z),
        ("+z", Z),
        ("-z**2", Node("neg", (Node("pow", (Z, number("2"))),))),
        ("2**-z", Node("pow", (number("2"), Node("neg", (Z,))))),
        ("z-1-2", Node("sub", (Node("sub", (Z, number("1"))), number("2")))),
        ("z/2*3", Node("mul", (Node("div", (Z, number("2"))), number("3")))),
        (".1", number("1/10")),
        ("1.e-3", number("1/1000")),
        ("12.50", number("25/2")),
        ("atan(z)", Node("call", (Z,), "arctan")),
        ("pi*e", Node("mul", (Node("constant", value="pi"), Node("constant", value="e")))),
        ("He(3, z)", Node("call", (number("3"), Z), "He")),
        ("max(z,1,2)", Node("call", (Node("call", (Z, number("1")), "max"), number("2")), "max")),
        ("clip(z,-1,1)", Node("call", (Z, Node("neg", (number("1"),)), number("1")), "clip")),
    ],
)
def test_trees(text: str, tree: Node) -> None:
    assert parse(text) == tree
    assert parse(canonical(tree)) == tree


def test_other_variables() -> None:
    assert parse("y*f", ("y", "f")).args == (Node("variable", value="y"), Node("variable", value="f"))
    with pytest.raises(ExpressionError, match="variables are y f"):
        parse("y*z", ("y", "f"))


def test_hints_are_in_the_variables_of_the_expression() -> None:
    for text, words in (
        ("2y", r"2\*y"),
        ("clip(f,y,1)", "clip\\(y, lo, hi\\)"),
        ("He(y,f)", "He\\(k, y\\)"),
        ("tanh+f", "write tanh\\(y\\)"),
        ("", "tanh\\(y\\)"),
    ):
        with pytest.raises(ExpressionError, match=words):
            parse(text, ("y", "f"))


def test_numbers_are_exact() -> None:
    digits = "0.1234567890123456789012345678901234567890"
    assert parse(digits).value == Fraction(digits)
    assert parse("1e30").value == 10**30


@pytest.mark.parametrize("text", ["z**64", "e**z", "2**(z*3)", "(z**8)**8", "sqrt(2)**z", "abs(z)**1.5", "z**-2"])
def test_allowed_powers(text: str) -> None:
    assert parse(text).op == "pow"


BAD_LIMITS = {
    "z**65": "exponent must be a number",
    "z**z": "exponent must be a number",
    "(-2)**z": "base a positive number",
    "(z**64)**2": "degree 128",
    "z**40*z**40": "degree 80",
    "He(20,z**4)": "degree 80",
    "9**9**9**9": "constant part",
    "1/0": "constant part",
    "1/(2-2)": "constant part",
    "log(-1)": "constant part",
    "sqrt(0-1)+z": "constant part",
    "(-8)**(1/3)": "constant part",
    "exp(1000)*z": "constant part",
    "1e31": "numbers are 0 or lie between",
    "1e999999999": "numbers are 0 or lie between",
    "1e-31": "numbers are 0 or lie between",
    "0." + "1" * 51: "50 digits",
    "z+" * 300 + "z": "too long",
    "(" * 220 + "z" + ")" * 220: "nested",
    "-" * 300 + "z": "nested too deeply",
    "abs(" * 70 + "z" + ")" * 70: "nested too deeply",
    "+".join(["(z+z+z+z)"] * 40): "too many parts",
    "He(21,z)": "from 0 to 20",
    "He(1.5,z)": "literal k",
    "He(z,z)": "literal k",
    "He(1+1,z)": "literal k",
    "clip(z,1,1)": "lo < hi",
    "clip(z,z,1)": "lo < hi",
    "tanh()": "takes 1 argument",
    "tanh(z,z)": "takes 1 argument",
    "max(z)": "takes 2 arguments or more",
    "max(" + "z," * 90 + "z)": "nested too deeply",
    "max(*z)": "takes 2 arguments",
    "max(**z)": "not an operation",
    "(z,z)": "not an operation",
    "z,": "not an operation",
    "()": "",
    "z^2": "write powers with **",
    "2z": "write products with *",
    "1j": "followed directly by",
    "0x1f": "followed directly by",
    "1_000": "followed directly by",
    "z(2)": "called like a function",
    "tanh": "write tanh(z)",
    "tahn(z)": "did you mean 'tanh'",
    "relu6(z)": "write clip(z, 0, 6)",
    "leaky_relu(z, 0.2)": "leaky_relu takes 1 argument; with another slope it is max(z, 0.2*z)",
    "He4(z)": "write He(4, z)",
    "(z>0)*z": "write step",
    "|z|": "write abs",
    "tan(z)": "unknown function",
    "x": "unknown name",
    "z\u00b2": "write **2",
    "z\u00d72": "write *",
    "\u03c3(z)": "GREEK SMALL LETTER SIGMA",
    "": "empty",
    " \n": "empty",
    "z//2": "",
    "z+": "not a complete expression",
    "012": "not a complete expression",
}


@pytest.mark.parametrize(("text", "words"), BAD_LIMITS.items(), ids=lambda value: value[:20])
def test_refusals_say_what_is_allowed(text: str, words: str) -> None:
    if text == "tanh":
        with pytest.raises(ExpressionError, match=r"write tanh\(z\)"):
            parse(text)
        return
    assert words in str(refused(text))


@pytest.mark.parametrize("value", [None, 3, 2.5, True, b"z", ["z"], object()])
def test_only_text_is_parsed(value: object) -> None:
    assert "must be text" in str(refused(value))


# Every payload is outside the grammar, alone or inside a larger expression.


def trees() -> st.SearchStrategy[Node]:
    literals = st.builds(
        lambda digits, places: Node("number", value=Fraction(digits, 10**places)),
        st.integers(1, 10**6),
        st.integers(0, 20),
    )
    constants = st.sampled_from(["pi", "e"]).map(lambda name: Node("constant", value=name))
    unary = [name for name, arity in FUNCTIONS.items() if arity == 1]

    def grow(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        binary = st.sampled_from(["add", "sub", "mul", "div"])
        return st.one_of(
            st.builds(lambda op, a, b: Node(op, (a, b)), binary, inner, inner),
            st.builds(lambda a: Node("neg", (a,)), inner),
            st.builds(lambda a, k: Node("pow", (a, number(str(k)))), inner, st.integers(0, 3)),
            st.builds(lambda a: Node("pow", (number("2"), a)), inner),
            st.builds(lambda name, a: Node("call", (a,), name), st.sampled_from(unary), inner),
            st.builds(lambda a, b: Node("call", (a, b), "max"), inner, inner),
            st.builds(lambda k, a: Node("call", (number(str(k)), a), "He"), st.integers(0, 3), inner),
        )

    return st.recursive(st.one_of(st.just(Z), literals, constants), grow, max_leaves=12)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(trees())
def test_printing_and_parsing_is_the_identity(tree: Node) -> None:
    text = canonical(tree)
    try:
        parsed = parse(text)
    except ExpressionError as error:
        limits = ("constant part", "degree", "power that is not allowed", "too long")
        assert any(words in str(error) for words in limits)
        return
    assert parsed == tree
    assert canonical(parsed) == text


def test_python_agrees_on_precedence() -> None:
    """The canonical text means to Python what the tree means to us; only texts written here are evaluated."""
    source = random.Random(7)
    for _ in range(300):
        atoms = [source.choice(["2", "3", "0.5", "-1.5", "-2", "+4"]) for _ in range(5)]
        text = atoms[0] + "".join(source.choice(["+", "-", "*", "/"]) + atom for atom in atoms[1:])
        value = constant_value(parse(text))
        assert value == eval(text)
        assert value == eval(canonical(parse(text)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Phi(0)", 0.5),
        ("step(0)", 0.5),
        ("sign(-3)", -1.0),
        ("relu(-2)", 0.0),
        ("He(2,3)", 8.0),
        ("clip(5,0,1)", 1.0),
    ]
    + [
        ("softplus(0)", 0.6931471805599453),
        ("sigmoid(0)", 0.5),
        ("max(1,2)", 2.0),
        ("min(1,2)", 1.0),
        ("He(4,1)", -2.0),
    ],
)
def test_constant_values(text: str, value: float) -> None:
    result = constant_value(parse(text))
    assert result is not None and abs(result - value) <= 4e-16 * max(1.0, abs(value))
    assert constant_value(parse(f"{text}*z")) is None


def test_messages_are_short_for_foreign_objects() -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError

    assert grammar.shorten(Hostile()) == "<Hostile>"
    assert len(grammar.shorten("x" * 10**6)) == 60


def test_printing_refuses_numbers_that_are_no_literals() -> None:
    for value in (Fraction(1, 3), Fraction(-1), 0.5):
        with pytest.raises(ExpressionError):
            canonical(Node("number", value=value))


REQUIRED = [
    *("tanh", "erf", "sign", "step", "relu", "leaky_relu", "abs", "hard_tanh", "gelu", "silu", "softplus"),
    *("sin", "cos", "linear", "quadratic", "cubic"),
]


def test_registered_functions() -> None:
    assert list(REGISTERED) == REQUIRED
    texts = [canonical(parse(entry.expression)) for entry in REGISTERED.values()]
    assert len(set(texts)) == len(texts)
    for name, entry in REGISTERED.items():
        assert entry.name == name and entry.citation and entry.latex
        assert lookup(f" {name} ") is entry
        assert lookup(f"( {entry.expression} )") is entry


def test_user_expressions_are_named_by_their_canonical_text() -> None:
    entry = lookup("erf( z/ (sqrt(2)) )")
    assert entry == lookup("erf(z/sqrt(2))")
    assert entry.expression == "erf(z/sqrt(2))"
    # sha256("erf(z/sqrt(2))"), fixed so that generated files keep their names.
    assert entry.name == "user_35816130e82951f4"
    assert entry.name != lookup("erf(z/sqrt(3))").name
    assert entry.latex == r"\operatorname{erf}\left(\frac{z}{\sqrt{2}}\right)"


def test_unknown_names_are_answered_with_the_nearest() -> None:
    for name, nearest in (("tahn", "tanh"), ("Tanh", "tanh"), ("gelo", "gelu"), ("leakyrelu", "leaky_relu")):
        with pytest.raises(ExpressionError, match=f"did you mean '{nearest}'"):
            lookup(name)
    with pytest.raises(ExpressionError, match=r"write erfc\(z\)"):
        lookup("erfc")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(z+1)**2", r"\left(z + 1\right)^{2}"),
        ("z-(1-z)", r"z - \left(1 - z\right)"),
        ("2*(z+1)", r"2 \cdot \left(z + 1\right)"),
        ("0.5**z", r"\left(\frac{1}{2}\right)^{z}"),
        ("-(z+1)", r"-\left(z + 1\right)"),
        ("He(2,pi*z)", r"\operatorname{He}_{2}\left(\pi \cdot z\right)"),
    ],
)
def test_latex_keeps_the_brackets(text: str, expected: str) -> None:
    assert latex(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("identity", lambda z: z),
        ("swish", lambda z: z / (1 + math.exp(-z))),
        ("mish", lambda z: z * math.tanh(math.log1p(math.exp(z)))),
        ("softsign", lambda z: z / (1 + abs(z))),
        ("elu", lambda z: z if z > 0 else math.expm1(z)),
        ("selu", lambda z: 1.0507009873554805 * (z if z > 0 else 1.6732632423543772 * math.expm1(z))),
        ("gelu(z) + 0.1*z", lambda z: z * math.erfc(-z / math.sqrt(2)) / 2 + z / 10),
        ("hard_tanh(2*quadratic(z))", lambda z: max(-1.0, min(1.0, 2 * (z * z - 1)))),
    ],
)
def test_named_functions_are_written_out(text: str, function: Callable[[float], float]) -> None:
    for z in (-1.3, 0.2, 0.9):
        node = parse(lookup(text).expression.replace("z", f"({z})"))
        assert constant_value(node) == pytest.approx(function(z), rel=1e-14)


def test_a_name_and_what_it_stands_for_are_one_function() -> None:
    assert lookup("swish") == lookup("silu") == lookup("silu(z)")
    assert lookup("elu") == lookup("relu(z)+exp(min(z,0))-1")


@pytest.mark.parametrize("text", ["*".join(["z"] * 60), "-" * 60 + "z", "z-(" * 40 + "z" + ")" * 40])
def test_latex_takes_time_in_proportion_to_the_text(text: str) -> None:
    """Each node is written once: a text twice as long has at most some twice the calls."""
    calls = 0

    def counted(node: Node) -> str:
        nonlocal calls
        calls += 1
        return original(node)

    original = catalogue.latex
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "latex", counted)
        catalogue.latex(parse(text))
    assert calls < 2 * len(text)
