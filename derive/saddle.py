"""The saddle-point system: stationarity of the free energy in every order parameter and every conjugate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import sympy as sp

from derive.blocks import (
    BlockSum,
    Definition,
    MatrixInverse,
    ParallelSum,
    family,
    fresh_indices,
    index,
    names_in,
    rename,
    used_indices,
)
from derive.calculus import Calculus, contract
from derive.canonical import canonical
from derive.constraints import OF_T, Constraint, constraint_of, definitions_in, summed, within
from derive.directions import directions_of
from derive.energetic import Energetic, output_energy, quadratic_energy
from derive.free_energy import FreeEnergy, free_energy
from derive.gaussian.expectation import Expectation
from derive.loss.loss import Loss
from derive.loss.quadratic import SQUARE, moreau_envelope
from derive.operations import computed, equal
from derive.printing import latex_of
from derive.random_loss import random_loss
from derive.spectrum import LAWS, LawName, SpectralLaw
from derive.symbols import ADJOINT, SYMMETRIC
from derive.trace import Claim, Derivation, Recorder

B, C, E = index("b"), index("c"), index("e")


# (stationary in, fixes): the pairs of the functional; "m" has no conjugate and is fixed by its own equation
def pairs(directions: int = 1, spikes: int = 1, norms: bool = False) -> tuple[tuple[str, str], ...]:
    """The pairs for numbers of directions of the target beside the spike, and of the spike; norms: of rows, vary."""
    return (
        ("Q1", "V1_hat"),
        ("Q2", "V2_hat"),
        ("Q1_hat", "V1"),
        ("Q2_hat", "V2"),
        *_crossed("psi", directions),
        *_crossed("zeta", spikes),
        *(_crossed("norm", 1) if norms else ()),
        ("V1", "Q1_hat"),
        ("V2", "Q2_hat"),
        ("V1_hat", "Q1"),
        ("V2_hat", "Q2"),
    )


def _crossed(name: str, count: int) -> tuple[tuple[str, str], ...]:
    found = zip(directions_of(name, count), directions_of(f"{name}_hat", count), strict=True)
    return tuple(pair for overlap, hat in found for pair in ((overlap, hat), (hat, overlap)))


BulkLaw = LawName
ORDER_PARAMETERS = ("m", "zeta", "psi", "Q1", "Q2", "V1", "V2")
RANK = {"Q1": 2, "Q1_hat": 2, "V1": 2, "V1_hat": 2, "P": 2, "S": 2, "M": 2} | dict.fromkeys(("Res", "X"), 2)


@dataclass(frozen=True)
class Equation:
    """One equation per block (or pair): ``unknown[indices] = body`` ("explicit") or ``body = 0`` ("implicit").

    ``body`` of an explicit equation may depend on other unknowns, and through them on its own.
    """

    label: str
    unknown: str
    indices: tuple[sp.Symbol, ...]
    body: sp.Expr
    kind: Literal["explicit", "implicit"]


@dataclass(frozen=True)
class SaddleSystem:
    """The contract between mathematics and machine: unknowns, their equations, and what is read off the solution.

    ``partials``: averages over the output that a kernel supplies at each node of kappa (none for the square loss), with
    their derivatives in the fields; ``directions``: of the target beside the spike; ``spikes``: of the spike itself;
    ``law``: of the bulk's spectrum; ``drawn``: whether the label has moments beside those of the clean target.
    """

    name: str
    fields: tuple[Definition, ...]
    partials: Mapping[str, Mapping[str, sp.Expr]]
    directions: int
    spikes: int
    inverses: tuple[MatrixInverse, ...]
    parallel: tuple[ParallelSum, ...]
    equations: tuple[Equation, ...]
    stationarity: tuple[Equation, ...]
    train_error: sp.Expr  # with partials the mean loss, without the factor that errors are told with
    test_error: sp.Expr
    free_energy: sp.Expr
    derivation: Derivation
    law: SpectralLaw
    drawn: bool = False

    def equation(self, unknown: str) -> Equation:
        """The equation that fixes a family. Raises KeyError."""
        return {equation.unknown: equation for equation in self.equations}[unknown]


def member(name: str, indices: tuple[sp.Symbol, ...] | None = None) -> sp.Indexed:
    """``name[b]`` or ``name[b, c]`` by the rank of the family."""
    return family(name)[indices or (B, C)[: RANK.get(name, 1)]]


@lru_cache(maxsize=32)
def saddle_system(loss: Loss = SQUARE, directions: int = 1, spikes: int = 1, drawn: bool = False) -> SaddleSystem:
    """Derive the saddle-point system of a loss with a quadratic envelope, for any number of blocks.

    directions: number of directions of the target beside the spike; spikes: of the spike, kappa in R^spikes;
    drawn: labels have moments of their own beside those of the clean target.
    Raises ValueError where the loss has no envelope of the required form. Source: [CUI24] Result 3.3, App. C-D.
    """
    envelope = moreau_envelope(loss)
    energy = free_energy(quadratic_energy(envelope, directions, spikes, drawn))
    return _system(loss.name, (envelope.derivation,), energy)


@lru_cache(maxsize=32)
def coupled_system(directions: int = 1, spikes: int = 1, bulk: BulkLaw = "isotropic") -> SaddleSystem:
    """Derive the saddle-point system of any convex loss, for any number of blocks.

    The loss enters by averages over the output given kappa, which its own kernel supplies; ``directions``: number of
    directions of the target beside the spike; ``spikes``: of the spike; ``bulk``: the name of a spectral law.
    Source: [CUI24] App. C-D; THEORY sections 4, 5 and 10.
    """
    return _system("coupled", (), free_energy(output_energy(directions, spikes, LAWS[bulk].norms), LAWS[bulk]))


def _system(name: str, before: tuple[Derivation, ...], energy: FreeEnergy) -> SaddleSystem:
    energetic, spectral = energy.energetic, energy.spectral
    bulk = f", {energy.law.title}" * bool(energy.law.title)
    trace = Recorder(f"Saddle-point equations, {f'{name} loss' if before else 'any convex loss'}{bulk}")
    for part in (*before, energetic.derivation, energy.derivation):
        trace.extend(part)
    equations, stationarity = _equations(trace, energy)
    return SaddleSystem(
        name,
        energetic.fields,
        energetic.partials,
        energetic.directions,
        energetic.spikes,
        spectral.inverses,
        spectral.parallel,
        equations,
        stationarity,
        energetic.training_error,
        energetic.test_error,
        energy.expression,
        trace.finish(),
        energy.law,
        energetic.drawn,
    )


def _equations(trace: Recorder, energy: FreeEnergy) -> tuple[tuple[Equation, ...], tuple[Equation, ...]]:
    """The equations, solved for their unknowns, and the stationarity conditions that they come from."""
    gradient, spectral = _Gradient(energy), energy.spectral
    equations = [Equation(d.name, d.name, d.indices, d.body, "explicit") for d in spectral.definitions]
    if (
        energy.law.stand_in and spectral.stationarity is not None
    ):  # T, which may be small, tells little of what fixes it
        equations.append(Equation("T", "T", (B,), spectral.stationarity, "implicit"))
    elif spectral.stationarity is not None:
        equations.append(_solve_for(trace, "T", "T", "dL/dT", "[CUI24] App. D"))
    equations += [Equation(d.name, d.name, d.indices, d.body, "explicit") for d in definitions_in(spectral.auxiliary)]
    equations += gradient.adjoints(trace)
    paired = pairs(energy.energetic.directions, energy.energetic.spikes, energy.law.norms)
    conditions = {name: gradient.total(trace, name) for name, _ in paired}
    for unknown, fixes in paired:
        equations.append(_solve_for(trace, f"slope in {unknown}", fixes, f"d/d{unknown}", "[CUI24] Result 3.3, App. D"))
    if spectral.stationarity is None:  # Q2 by its own equation, under the name of the unknown that carries it
        equations = [replace(e, unknown="adjoint") if e.unknown == "Q2" else e for e in equations]
        equations.append(Equation("Q2", "Q2", (B,), ADJOINT[B], "explicit"))
    equations.append(gradient.of_constant_direction(trace))
    stationarity = tuple(
        Equation(f"d/d{unknown}", unknown, member(unknown).indices, body, "implicit")
        for unknown, body in conditions.items()
    )
    return tuple(equations), stationarity


class _Gradient:
    """Derivatives of the free energy, through T by the implicit function theorem (adjoint form)."""

    def __init__(self, energy: FreeEnergy) -> None:
        self.energy = energy
        self.calculus = calculus_of(energy.energetic, energy.spectral.parallel)
        if not energy.spectral.parallel:  # all derivatives are through T, or there are auxiliary unknowns beside it
            found = {d.name: d for d in energy.spectral.definitions}
            inside = {inverse.name: inverse for inverse in self._inverses}
            self.calculus = replace(self.calculus, definitions={**self.calculus.definitions, **found}, inverses=inside)

    @property
    def _inverses(self) -> tuple[MatrixInverse, ...]:
        """Those that are no unknowns of their own."""
        spectral = self.energy.spectral
        return tuple(inverse for inverse in spectral.inverses if inverse not in spectral.auxiliary)

    @property
    def definitions(self) -> tuple[Definition | MatrixInverse, ...]:
        """What the symbols in the functional stand for, where a difference has to know."""
        energetic, spectral = self.energy.energetic, self.energy.spectral
        loss = random_loss(energetic.directions).averages if energetic.partials else ()
        return (*energetic.fields, *spectral.definitions, *self._inverses, *loss)

    def partial(self, expr: sp.Expr, name: str) -> sp.Expr:
        """d expr / d name at fixed T."""
        return self.calculus.derivative(expr, member(name))

    def total(self, trace: Recorder, name: str) -> sp.Expr:
        """Derive d Phi / d name with T and what follows it at their own equations: adjoints carry their response."""
        rule = f"the derivative of the free energy in ${latex_of(member(name))}$"
        weight, constraints = self.energy.weight_of_R, self._moved_by(name)
        if constraints and name.endswith("_hat"):
            rule += ", $T$ moving with it by its own equation"

        def by(phi: sp.Expr, *bodies: sp.Expr) -> sp.Expr:
            result = self.partial(phi, name)
            for constraint, body in zip(constraints, bodies, strict=True):
                result = canonical(result - weight * self._response(constraint, body, member(name)), SYMMETRIC)
            return result

        def before(phi: sp.Expr, *bodies: sp.Expr) -> sp.Expr:
            moved = [c.response(body, member(name)) for c, body in zip(constraints, bodies, strict=True)]
            return sp.Derivative(phi, member(name), evaluate=False) - weight * sp.Add(*moved)

        labels = [constraint.name for constraint in constraints]
        step = computed("differentiate", rule, "free energy", *labels, by=by, test=equal(before, *self.definitions))
        return trace.derive(f"slope in {name}", sp.Symbol("dPhi"), step, "[CUI24] App. C", shown=False)

    def of_constant_direction(self, trace: Recorder) -> Equation:
        """The equation of m, which has no conjugate."""
        body = trace.derive(
            "d/dm",
            sp.S.Zero,
            computed(
                "differentiate",
                "stationarity of the free energy in $m$, which has no ridge of its own as d grows",
                "free energy",
                by=lambda body: self.partial(body, "m"),
                before=lambda body: sp.Derivative(body, member("m"), evaluate=False),
                test=equal(lambda body: sp.Derivative(body, member("m"), evaluate=False), *self.definitions),
            ),
            "[CUI24] App. C",
        )
        return Equation("d/dm", "m", (B,), body, "implicit")

    @property
    def _constraints(self) -> tuple[Constraint, ...]:
        """The equations that T and what follows it obey, the others held."""
        spectral = self.energy.spectral
        own = () if spectral.stationarity is None else (OF_T,)
        return (*own, *map(constraint_of, spectral.auxiliary))

    def _moved_by(self, name: str) -> tuple[Constraint, ...]:
        """Those of the equations that a name stands in, by itself or by what is defined by it; its own among them."""
        spectral = self.energy.spectral
        bodies = {d.name: d.body for d in (*spectral.definitions, *definitions_in(spectral.auxiliary))}
        bodies |= {inverse.name: inverse.entry for inverse in spectral.inverses}
        if spectral.stationarity is not None:
            bodies["T"] = spectral.stationarity
        own = {constraint.name for constraint in self._constraints}

        def reaches(place: str, seen: frozenset[str]) -> bool:
            names = names_in(bodies[place])
            inner = (names & bodies.keys()) - own - seen
            return name in names or any(reaches(each, seen | inner) for each in inner)

        return tuple(c for c in self._constraints if c.name == name or reaches(c.name, frozenset()))

    def adjoints(self, trace: Recorder) -> list[Equation]:
        """Linear equations of the adjoints: sum_e adjoint_e dE_e/dy = dPhi/dy / w, E what vanishes, y an unknown of E.

        w is the weight of R in Phi, so that without a finite-size term the right side is dR/dy.
        """
        return [equation for each in self._constraints for equation in self._adjoint(trace, each)]

    def _adjoint(self, trace: Recorder, of: Constraint) -> Iterator[Equation]:
        source, unknown = "implicit function theorem", member(of.name, of.indices)
        constraints = self._moved_by(of.name)
        labels = [constraint.name for constraint in constraints]

        def left(*bodies: sp.Expr) -> sp.Expr:
            terms = (self._response(c, e, unknown) for c, e in zip(constraints, bodies, strict=True))
            return canonical(sp.Add(*terms), SYMMETRIC)

        def before(*bodies: sp.Expr) -> sp.Expr:
            return sp.Add(*(c.response(e, unknown) for c, e in zip(constraints, bodies, strict=True)))

        moved = trace.derive(
            f"{of.adjoint}, response of {of.name}",
            sp.Symbol(f"dE_d{of.name}"),
            computed(
                "differentiate",
                f"equations of ${latex_of(unknown)}$ and what follows from it, differentiated in it, on their adjoints",
                *labels,
                by=left,
                test=equal(before, *self.definitions),
            ),
            source,
            shown=False,
        )
        right = trace.derive(
            of.adjoint,
            moved,
            computed(
                "differentiate",
                f"the free energy depends on the conjugates through ${latex_of(unknown)}$ too: the adjoint",
                "free energy",
                by=lambda phi: self._dependence(phi, unknown),
                test=equal(
                    lambda phi: sp.Derivative(phi, unknown, evaluate=False) / self.energy.weight_of_R, *self.definitions
                ),
            ),
            source,
        )
        adjoint = family(of.adjoint)[of.indices]
        if not of.explicit:
            yield Equation(of.adjoint, of.adjoint, of.indices, moved - right, "implicit")
            return
        yield Equation(of.adjoint, of.adjoint, of.indices, canonical(right - moved + adjoint, SYMMETRIC), "explicit")
        if of.inverse:
            words = f"what the adjoint of ${of.name}$ carries on to the matrix of which it is the inverse"
            body = trace.define(of.multiplier, family(of.multiplier)[of.indices], of.carried(), words, source)
            yield Equation(of.multiplier, of.multiplier, of.indices, canonical(body, SYMMETRIC), "explicit")

    def _response(self, of: Constraint, body: sp.Expr, moved: sp.Indexed) -> sp.Expr:
        """sum_e adjoint_e dE_e/d moved."""
        places = fresh_indices(len(of.indices), used_indices(body, moved, *of.indices))
        there = rename(body, dict(zip(of.indices, places, strict=True)))
        slope, multiplier = self.calculus.derivative(there, moved), family(of.multiplier)[places]
        if not of.explicit:
            return canonical(contract(summed(multiplier * slope, places)), SYMMETRIC)
        own = family(of.adjoint)[moved.indices] if str(moved.base.label) == of.name else sp.S.Zero
        follows = canonical(contract(within(multiplier, slope, places)), SYMMETRIC)
        return own + follows if of.inverse else own - follows

    def _dependence(self, phi: sp.Expr, unknown: sp.Indexed) -> sp.Expr:
        return canonical(sp.expand(self.calculus.derivative(phi, unknown) / self.energy.weight_of_R), SYMMETRIC)


def calculus_of(energetic: Energetic, parallel: tuple[ParallelSum, ...]) -> Calculus:
    """Derivatives through the fields of kappa and the matrices S and M."""
    return Calculus(
        definitions={d.name: d for d in energetic.fields},
        parallel={p.name: p for p in parallel},
        symmetric=SYMMETRIC,
        partials=energetic.partials,
    )


def _solve_for(trace: Recorder, condition: str, unknown: str, label: str, source: str) -> Equation:
    """Solve a recorded stationarity condition for the member of ``unknown`` that stands alone in it."""
    wanted = member(unknown)
    solution = trace.derive(
        label,
        wanted,
        computed(
            "solve",
            f"stationarity, solved for ${latex_of(wanted)}$",
            condition,
            by=lambda body: _alone(body, wanted, label),
            test=Claim(lambda root, body: (_with_root(body, wanted, root), sp.S.Zero)),
        ),
        source,
    )
    return Equation(label, unknown, wanted.indices, solution, "explicit")


def _with_root(body: sp.Expr, wanted: sp.Indexed, root: sp.Expr) -> sp.Expr:
    """A condition with the root in the place of the member that stands alone in it."""
    held = {node: sp.Dummy() for node in body.atoms(BlockSum, Expectation)}
    return body.xreplace(held).xreplace({wanted: root}).xreplace({dummy: node for node, dummy in held.items()})


def _alone(body: sp.Expr, wanted: sp.Indexed, label: str) -> sp.Expr:
    """The root of a condition in one member, everything else held."""
    opaque = {node: sp.Dummy() for node in (*body.atoms(BlockSum), *body.atoms(Expectation)) if not node.has(wanted)}
    plain = body.xreplace(opaque)
    others = {node: sp.Dummy() for node in plain.atoms(sp.Indexed)}
    roots = sp.solve(plain.xreplace(others), others[wanted], simplify=False)
    if len(roots) != 1:
        raise ValueError(f"the stationarity condition {label} does not give {wanted}: {body}")
    back = {dummy: node for node, dummy in (*opaque.items(), *others.items())}
    return canonical(roots[0].xreplace(back), SYMMETRIC)
