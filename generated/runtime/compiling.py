"""How the numerics are compiled, and calls through addresses.

A rule of quadrature is compiled once and serves every function: it asks for values at many places at a time, from code
that it knows by its address only.

Written by hand, in codegen/runtime/compiling.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from collections.abc import Callable
from functools import cached_property
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from generated.runtime.kept_code import CodeFile, keep
from generated.runtime.linked import LinkedCompiler
from generated.runtime.machine_code import Code, Loaded, made

_NUMBERS = types.CPointer(types.float64)
_OPTIONS = {"error_model": "numpy", "nogil": True}
# arrays are borrowed: to count who holds one costs as much as a short loop. What allocates one counts, and so does what
# takes over arrays that another function returns
_BORROWING = {**_OPTIONS, "_nrt": False}
#: polynomials that are evaluated together: coefficients of one, and how many, in whole vectors of four
POWERS, WIDTH = 16, 12

#: (number of places, places, values)
VALUES = types.void(types.intp, _NUMBERS, _NUMBERS)
#: (number of shifts, shifts, q, sums, sizes): sums[k n + i] is the coefficient k at the shift i
CLOSED = types.void(types.intp, _NUMBERS, types.float64, _NUMBERS, _NUMBERS)
#: (piece, label, parameters, number of places, places, values, slopes, curvatures)
PIECES = types.void(types.intp, types.float64, _NUMBERS, types.intp, _NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS)
#: (piece, label, parameters) -> the place where it ends
EDGE = types.float64(types.intp, types.float64, _NUMBERS)

# wrappers that nobody calls take a tenth of the time to compile
_INNER = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": LinkedCompiler}
inner = njit(**_INNER, **_BORROWING)
making_inner = njit(**_INNER, **_OPTIONS)  # makes arrays
# what loops are to become vector instructions with: a call would keep them from it
within = njit(forceinline=True, **_INNER, **_BORROWING)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls; kept on disk where a folder can be written."""
    return kept(no_cfunc_wrapper=True, **_BORROWING)(function)


def making_entry(function: Callable[..., Any]) -> Any:
    """The same of a function that makes arrays."""
    return kept(no_cfunc_wrapper=True, **_OPTIONS)(function)


def kept(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile with the options of numba; kept on disk where a folder can be written."""

    def compile_it(function: Callable[..., Any]) -> Any:
        linked = options.get("no_cpython_wrapper", False)
        found = njit(**options, **({"pipeline_class": LinkedCompiler} if linked else {}))(function)
        keep(found, function)
        return found

    return compile_it


class Compiled:
    """A function of numbers and pointers to numbers, compiled when its address is first asked for."""

    def __init__(self, signature: Any, function: Callable[..., Any]) -> None:
        self.signature = signature
        self.function = function

    @cached_property
    def file(self) -> CodeFile:
        """Where its machine code is kept."""
        return CodeFile(self.function, self.signature)

    def known(self) -> bool:
        """Whether its machine code is loaded, or kept and loaded now."""
        code = None if "loaded" in vars(self) else self.file.read()
        if code is not None:
            self.loaded = Loaded(code)
        return "loaded" in vars(self)

    def made(self) -> Code:
        """Machine code, made here and now."""
        return made(self.function, self.signature, _OPTIONS)

    def take(self, code: Code) -> None:
        """Load machine code that was made of this function, and keep it."""
        self.file.write(code)
        self.loaded = Loaded(code)

    @cached_property
    def loaded(self) -> Loaded:
        """Machine code in memory, from where it is kept or made here."""
        code = self.file.read()
        if code is None:
            code = self.made()
            self.file.write(code)
        return Loaded(code)

    @property
    def address(self) -> int:
        """Where the machine code begins; it lives as long as this object."""
        return self.loaded.address


def compiled(signature: Any) -> Callable[[Callable[..., Any]], Compiled]:
    """Decorator: a function with one of the signatures above that is called through its address."""
    return lambda function: Compiled(signature, function)


def _called(builder: Any, returned: Any, address: Any, given: list[Any]) -> Any:
    """Call the code at an address with plain numbers and pointers."""
    kind = ir.FunctionType(returned, [value.type for value in given])
    return builder.call(builder.inttoptr(address, kind.as_pointer()), given)


def _start(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Pointer to the first number of an array without gaps."""
    return context.make_array(kind)(context, builder, array).data


def _row(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    """Pointer to the first number of a row of an array without gaps."""
    found = context.make_array(kind)(context, builder, array)
    return builder.gep(found.data, [builder.mul(i, builder.extract_value(found.shape, 1))])


def _vector(builder: Any, start: Any, n: Any, kind: Any) -> Any:
    """Pointer to a vector of numbers, from the n-th on."""
    return builder.bitcast(builder.gep(start, [n]), kind.as_pointer())


def _plain(*kinds: Any) -> bool:
    """Whether all are arrays of numbers without gaps."""
    return all(isinstance(kind, types.Array) and kind.dtype == types.float64 and kind.layout == "C" for kind in kinds)


@intrinsic
def values_at(typing: Any, address: Any, places: Any, values: Any) -> Any:
    """values[i] = f(places[i]) by the VALUES at an address; both may be the same array."""
    if not _plain(places, values):
        return None

    def lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kinds = signature.args
        count = builder.extract_value(context.make_array(kinds[1])(context, builder, given[1]).shape, 0)
        numbers = [_start(context, builder, kind, array) for kind, array in zip(kinds[1:], given[1:], strict=True)]
        _called(builder, ir.VoidType(), given[0], [count, *numbers])
        return context.get_dummy_value()

    return types.void(types.intp, places, values), lowered


@intrinsic
def value_at(typing: Any, address: Any, place: Any) -> Any:
    """f(place) by the VALUES at an address."""

    def lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        number = given[1].type
        one = context.get_constant(types.intp, 1)
        room = cgutils.alloca_once(builder, number)
        builder.store(given[1], room)
        _called(builder, ir.VoidType(), given[0], [one, room, room])
        return builder.load(room)

    return types.float64(types.intp, types.float64), lowered


@intrinsic
def closed_at(typing: Any, address: Any, shifts: Any, q: Any, sums: Any, sizes: Any) -> Any:
    """Fill sums[3, n] and sizes[3, n] by the CLOSED at an address."""
    if not _plain(shifts, sums, sizes):
        return None

    def lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kinds = signature.args
        count = builder.extract_value(context.make_array(kinds[1])(context, builder, given[1]).shape, 0)
        first, second, third = (_start(context, builder, kinds[k], given[k]) for k in (1, 3, 4))
        _called(builder, ir.VoidType(), given[0], [count, first, given[2], second, third])
        return context.get_dummy_value()

    return types.void(types.intp, shifts, types.float64, sums, sizes), lowered


@intrinsic
def pieces_at(typing: Any, address: Any, k: Any, y: Any, q: Any, rows: Any, first: Any, count: Any) -> Any:
    """Piece k of a loss at the places rows[0, first:first + count], by the PIECES at an address.

    rows[n, m]: the slopes go to row 2, the curvatures to row 3, the values to row 4.
    """
    if not (_plain(q, rows) and rows.ndim == 2):
        return None

    def lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kinds = signature.args
        parameters = _start(context, builder, kinds[3], given[3])
        array = context.make_array(kinds[4])(context, builder, given[4])
        length = builder.extract_value(array.shape, 1)
        numbers = []
        for row in (0, 4, 2, 3):
            offset = builder.add(builder.mul(context.get_constant(types.intp, row), length), given[5])
            numbers.append(builder.gep(array.data, [offset]))
        _called(builder, ir.VoidType(), given[0], [given[1], given[2], parameters, given[6], *numbers])
        return context.get_dummy_value()

    kinds = (types.intp, types.intp, types.float64, q, rows, types.intp, types.intp)
    return types.void(*kinds), lowered


@intrinsic
def piece_at(typing: Any, address: Any, k: Any, y: Any, q: Any, place: Any) -> Any:
    """(value, slope, curvature) of piece k of a loss at one place, by the PIECES at an address."""
    if not _plain(q):
        return None

    def lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        number = given[4].type
        one = context.get_constant(types.intp, 1)
        rooms = [cgutils.alloca_once(builder, number) for _ in range(4)]
        builder.store(given[4], rooms[0])
        parameters = _start(context, builder, signature.args[3], given[3])
        _called(builder, ir.VoidType(), given[0], [given[1], given[2], parameters, one, *rooms])
        return context.make_tuple(builder, signature.return_type, [builder.load(room) for room in rooms[1:]])

    return types.UniTuple(types.float64, 3)(types.intp, types.intp, types.float64, q, types.float64), lowered


@intrinsic
def edge_at(typing: Any, address: Any, k: Any, y: Any, q: Any) -> Any:
    """The place where piece k of a loss ends, by the EDGE at an address."""
    if not _plain(q):
        return None

    def lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        parameters = _start(context, builder, signature.args[3], given[3])
        return _called(builder, ir.DoubleType(), given[0], [given[1], given[2], parameters])

    return types.float64(types.intp, types.intp, types.float64, q), lowered


@intrinsic
def sum_of_products(typing: Any, rows: Any, i: Any, others: Any, j: Any, first: Any, last: Any) -> Any:
    """The sum of rows[i, n] others[j, n] over first <= n < last, whole vectors: eight sums side by side, then these.

    Written as vectors: sums are in an order, which keeps a compiler from making vectors of a loop.
    """
    if not (_plain(rows, others) and rows.ndim == 2 and others.ndim == 2):
        return None

    def lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        eight = ir.VectorType(ir.DoubleType(), 8)
        starts = [_row(context, builder, signature.args[k], given[k], given[k + 1]) for k in (0, 2)]
        sums = cgutils.alloca_once_value(builder, ir.Constant(eight, None))
        step = context.get_constant(types.intp, 8)
        with cgutils.for_range_slice(builder, given[4], given[5], step, inc=True) as (n, _):
            product = builder.fmul(*[builder.load(_vector(builder, start, n, eight), align=8) for start in starts])
            builder.store(builder.fadd(builder.load(sums), product), sums)
        found = builder.load(sums)
        part = [builder.extract_element(found, ir.Constant(ir.IntType(32), k)) for k in range(8)]
        while len(part) > 1:
            half = len(part) // 2
            part = [builder.fadd(part[k], part[k + half]) for k in range(half)]
        return part[0]

    return types.float64(rows, types.intp, others, types.intp, types.intp, types.intp), lowered


@intrinsic
def add_polynomials(typing: Any, coefficients: Any, first: Any, x: Any, part: Any, sums: Any) -> Any:
    """Add polynomials at x, times part[p], to sums[p]: WIDTH of them for the first p, four for the others.

    Rows first, first + 1, ... of the coefficients are those of powers, the highest, POWERS - 1, first.
    """
    if not (_plain(coefficients, part, sums) and coefficients.ndim == sums.ndim == 2 and part.ndim == 1):
        return None

    def lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        four, kinds = ir.VectorType(ir.DoubleType(), 4), signature.args
        start, one = _row(context, builder, kinds[0], given[0], given[1]), context.get_constant(types.intp, 1)

        def vector(begin: Any, n: int) -> Any:
            return _vector(builder, begin, context.get_constant(types.intp, n), four)

        def alike(number: Any) -> Any:
            found = ir.Constant(four, ir.Undefined)
            for k in range(4):
                found = builder.insert_element(found, number, ir.Constant(ir.IntType(32), k))
            return found

        kind = ir.FunctionType(four, [four, four, four])
        step = cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.v4f64")
        columns, place = range(0, WIDTH, 4), alike(given[2])
        values = [builder.load(vector(start, column), align=8) for column in columns]
        for power in range(1, POWERS):
            rows = [builder.load(vector(start, WIDTH * power + column), align=8) for column in columns]
            values = [builder.call(step, [value, place, row]) for value, row in zip(values, rows, strict=True)]
        weights = context.make_array(kinds[3])(context, builder, given[3])
        into = _start(context, builder, kinds[4], given[4])

        def add(at: Any, weight: Any, polynomials: list[Any]) -> None:
            for column, value in zip(columns, polynomials, strict=False):
                target = vector(at, column)
                builder.store(builder.call(step, [weight, value, builder.load(target, align=8)]), target, align=8)

        add(into, alike(builder.load(weights.data)), values)
        parts = builder.extract_value(weights.shape, 0)
        with cgutils.for_range_slice(builder, one, parts, one, inc=True) as (p, _):
            weight = alike(builder.load(builder.gep(weights.data, [p])))
            add(_row(context, builder, kinds[4], given[4], p), weight, values[:1])
        return context.get_dummy_value()

    return types.void(coefficients, types.intp, types.float64, part, sums), lowered


@intrinsic
def bits_of(typing: Any, x: Any) -> Any:
    """The 64 bits of a number as a whole number."""

    def lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.bitcast(given[0], ir.IntType(64))

    return types.int64(types.float64), lowered


@intrinsic
def of_bits(typing: Any, bits: Any) -> Any:
    """The number of 64 bits."""

    def lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.bitcast(given[0], ir.DoubleType())

    return types.float64(types.int64), lowered

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
