"""The expression grammar under hostile and random text: nothing is evaluated, and what is accepted is grammar."""

import random
import re
import string
from fractions import Fraction

import pytest
from grammar_cases import tripwires
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.language.grammar import FUNCTIONS, ExpressionError, Node, canonical, parse
from derive.language.loss_catalogue import lookup as lookup_loss

_TEXT = """
z.real|z.__class__|().__class__.__bases__[0]|z.__init__.__globals__|tanh.__call__(z)|__import__('os')
__import__(z)|__builtins__|__name__|eval(z)|exec(z)|open(z)|compile(z,z,z)|getattr(z,z)|globals()|vars()
print(z)|input()|breakpoint()|exit()|quit()|help(z)|lambda: z|lambda z: z|(lambda: z)()|[z]|[z for z in z]
{z}|{z: z}|{}|[]|(z for z in z)|z[0]|z[0:1]|z[...]|...|(z := 2)|z := 2|z = 2|z == 2|z < 2|z > 1|z <= z
z is z|z in z|not z|z and z|z or z|z if z else z|z @ z|z % 2|z // 2|z << 2|z >> 2|z & z|z ~ z|~z|!z|z!|z & 1
f'{z}'|f"{__import__('os')}"|'z'|"z"|b'z'|'''z'''|`z`|'a'*9|None|True|False|NaN|nan|inf|Infinity|1j|2.j|0x10
0b1|0o7|1_0|1__0|1e|1e+|.|..|1..2|1.2.3|$z|z?|z;z|z:|#z|z#|\\z|z\x00|\x00|z\x0b|z\x0c|z\x7f|z\x1b[31m
z\u00a0|\uff5a|\uff54\uff41\uff4e\uff48(z)|\U0001d433|\u1d4f|z\u200b|z\u202e|\u2124|t\u0430nh(z)|\u212f
z\u2212z|\ufeffz|\ud800|\u0660|\uff11|z\u0301|1\u20442|\u00b5|\u017f\u0069n(z)|tanh\uff08z\uff09|tanh(z=z)
tanh(x=1)|tanh(*z)|tanh(**z)|max(z,*z)|max(z,**z)|tanh(z)(z)|(tanh)(z)|(z)(z)|2(z)|tanh tanh z|z z|z 2|2 z
yield|yield z|await z|await tanh(z)|async|import os|from os import *|del z|pass|return z|raise z|assert z
global z|class z: pass|def z(): z|while z: z|for z in z: z|with z: z|try: z|print z|z; import os|z\\z|@z
z -> z|sympify(z)|S(z)|Symbol('z')|os.system('id')|9**9**9|9**9**9**9**9|z**(9**9)|2**65**z**z*0+9**9**9
(9**99)**99|exp(exp(exp(9)))|1e400|1e999999999999|-1e99|factorial(9)|_|__|_z|z_|Z|Tanh(z)|TANH(z)|np.tanh(z)
math.exp(z)|theta|sigma(z)|pi(z)|e(z)|tanh|max|He|He(z)|He(99,z)|He(-1,z)|He(1e1.,z)
"""
PAYLOADS = [*_TEXT.strip("\n").replace("\n", "|").split("|"), "z|z"]

CONTEXTS = (
    "{}",
    "z+{}",
    "({})",
    "tanh({})",
    "-({})",
    "max(z,{})",
    "2*({})",
    "clip({},0,1)",
    "He(2,{})",
    "z*(1+{})",
    "exp(-({}))",
)


def test_payloads_are_refused_in_every_context() -> None:
    tried = 0
    for payload in PAYLOADS:
        for context in CONTEXTS:
            assert not accepted(context.format(payload)), (payload, context)
            tried += 1
    assert tried > 2000


def test_seeded_hostile_strings() -> None:
    """Payloads cut, joined and nested at random: an ExpressionError or a tree of the grammar."""
    source = random.Random(20240207)
    pieces = [*PAYLOADS, *FUNCTIONS, "z", "(", ")", "**", "2", ",", " "]
    outcomes = {True: 0, False: 0}
    for _ in range(6000):
        text = "".join(source.choice(pieces) for _ in range(source.randint(1, 8)))
        cut = text[: source.randint(1, len(text))]
        outcomes[accepted(source.choice(CONTEXTS).format(cut))] += 1
    assert outcomes[False] > 5000 and outcomes[True] > 10


OTHER_VARIABLES = (("f", "y"), ("z1", "z2", "z3", "z4"))


@pytest.mark.parametrize("variables", OTHER_VARIABLES)
def test_payloads_in_other_variables_are_refused(variables: tuple[str, ...]) -> None:
    for payload in PAYLOADS:
        renamed = re.sub(r"\bz\b", variables[0], payload)
        for context in CONTEXTS:
            text = re.sub(r"\bz\b", variables[-1], context).format(renamed)
            assert not accepted(text, variables), text


def test_hostile_losses() -> None:
    """The catalogue of losses answers every hostile text with an ExpressionError, before any of it is evaluated."""
    for payload in PAYLOADS:
        for context in ("{}", "(y-f)**2+{}", "max(0,1-y*{})", "abs(y-f)*({})"):
            with tripwires(), pytest.raises(ExpressionError) as caught:
                lookup_loss(context.format(re.sub(r"\bz\b", "f", payload)))
            message = str(caught.value)
            assert message.isascii() and message.isprintable() and len(message) < 600


@settings(max_examples=600, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from([*FUNCTIONS, *"yfz2e.()+-*/,", "**", "pi", "0.5", "y-f", "y*f"]), max_size=25).map("".join)
)
def test_any_sequence_of_tokens_as_a_loss(text: str) -> None:
    accepted(text, ("y", "f"))
    try:
        with tripwires():
            entry = lookup_loss(text)
    except ExpressionError:
        return
    assert lookup_loss(entry.expression) == entry


def accepted(text: str, variables: tuple[str, ...] = ("z",)) -> bool:
    """Whether the text parses; if so its tree holds grammar only and survives printing and parsing."""
    try:
        with tripwires():
            node = parse(text, variables)
    except ExpressionError:
        return False
    assert_grammar_only(node, variables)
    assert parse(canonical(node), variables) == node
    return True


def assert_grammar_only(node: Node, variables: tuple[str, ...] = ("z",)) -> None:
    assert type(node) is Node
    if node.op == "number":
        assert type(node.value) is Fraction and node.value >= 0 and not node.args
    elif node.op in ("variable", "constant"):
        assert node.value in (*variables, "pi", "e") and not node.args
    elif node.op == "call":
        assert len(node.args) == FUNCTIONS[str(node.value)]
    else:
        assert node.op in ("add", "sub", "mul", "div", "pow", "neg") and node.value is None
        assert len(node.args) == (1 if node.op == "neg" else 2)
    for argument in node.args:
        assert_grammar_only(argument, variables)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    accepted(text)


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.text(alphabet=string.printable, max_size=60))
def test_any_printable_text(text: str) -> None:
    accepted(text)


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([*FUNCTIONS, *"z2e.()+-*/,", "**", "pi", "0.5", "1e9"]), max_size=25).map("".join))
def test_any_sequence_of_tokens(text: str) -> None:
    accepted(text)
