"""The saddle-point system: stationarity of the free energy in every order parameter and every conjugate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import sympy as sp

from derive.blocks import BlockSum, Definition, MatrixInverse, ParallelSum, family, index, rename
from derive.calculus import Calculus, contract
from derive.canonical import canonical
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
from derive.symbols import ADJOINT, SYMMETRIC, T
from derive.trace import Claim, Derivation, Recorder

B, C, E = index("b"), index("c"), index("e")


# (stationary in, fixes): the pairs of the functional; "m" has no conjugate and is fixed by its own equation
def pairs(directions: int = 1, spikes: int = 1) -> tuple[tuple[str, str], ...]:
    """The pairs for a number of directions of the target beside the spike, and of the spike."""
    return (
        ("Q1", "V1_hat"),
        ("Q2", "V2_hat"),
        ("Q1_hat", "V1"),
        ("Q2_hat", "V2"),
        *_crossed("psi", directions),
        *_crossed("zeta", spikes),
        ("V1", "Q1_hat"),
        ("V2", "Q2_hat"),
        ("V1_hat", "Q1"),
        ("V2_hat", "Q2"),
    )


def _crossed(name: str, count: int) -> tuple[tuple[str, str], ...]:
    found = zip(directions_of(name, count), directions_of(f"{name}_hat", count), strict=True)
    return tuple(pair for overlap, hat in found for pair in ((overlap, hat), (hat, overlap)))


BulkLaw = LawName
PAIRS = pairs()
ORDER_PARAMETERS = ("m", "zeta", "psi", "Q1", "Q2", "V1", "V2")
RANK = {"Q1": 2, "Q1_hat": 2, "V1": 2, "V1_hat": 2, "P": 2, "S": 2, "M": 2}


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
    ``law``: of the bulk's spectrum.
    """

    name: str
    fields: tuple[Definition, ...]
    partials: Mapping[str, Mapping[str, sp.Expr]]
    directions: int
    spikes: int
    inverse: MatrixInverse
    parallel: tuple[ParallelSum, ...]
    equations: tuple[Equation, ...]
    stationarity: tuple[Equation, ...]
    train_error: sp.Expr
    test_error: sp.Expr
    free_energy: sp.Expr
    derivation: Derivation
    law: SpectralLaw

    def equation(self, unknown: str) -> Equation:
        """The equation that fixes a family. Raises KeyError."""
        return {equation.unknown: equation for equation in self.equations}[unknown]


def member(name: str, indices: tuple[sp.Symbol, ...] | None = None) -> sp.Indexed:
    """``name[b]`` or ``name[b, c]`` by the rank of the family."""
    return family(name)[indices or (B, C)[: RANK.get(name, 1)]]


@lru_cache(maxsize=32)
def saddle_system(loss: Loss = SQUARE, spikes: int = 1) -> SaddleSystem:
    """Derive the saddle-point system of a loss with a quadratic envelope, for any number of blocks.

    spikes: number of directions of the spike, kappa in R^spikes.
    Raises ValueError where the loss has no envelope of the required form. Source: [CUI24] Result 3.3, App. C-D.
    """
    envelope = moreau_envelope(loss)
    return _system(loss.name, (envelope.derivation,), free_energy(quadratic_energy(envelope, spikes)))


@lru_cache(maxsize=32)
def coupled_system(directions: int = 1, spikes: int = 1, bulk: BulkLaw = "isotropic") -> SaddleSystem:
    """Derive the saddle-point system of any convex loss, for any number of blocks.

    The loss enters by averages over the output given kappa, which its own kernel supplies; ``directions``: number of
    directions of the target beside the spike; ``spikes``: of the spike; ``bulk``: the name of a spectral law.
    Source: [CUI24] App. C-D; THEORY sections 4, 5 and 10.
    """
    return _system("coupled", (), free_energy(output_energy(directions, spikes), LAWS[bulk]))


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
        spectral.inverse,
        spectral.parallel,
        equations,
        stationarity,
        energetic.training_error,
        energetic.test_error,
        energy.expression,
        trace.finish(),
        energy.law,
    )


def _equations(trace: Recorder, energy: FreeEnergy) -> tuple[tuple[Equation, ...], tuple[Equation, ...]]:
    """The equations, solved for their unknowns, and the stationarity conditions that they come from."""
    gradient, spectral = _Gradient(energy), energy.spectral
    equations = [Equation(d.name, d.name, d.indices, d.body, "explicit") for d in spectral.definitions]
    if spectral.stationarity is not None:
        equations.append(_solve_for(trace, "T", "T", "dL/dT", "[CUI24] App. D"))
        equations.append(gradient.adjoint(trace))
    paired = pairs(energy.energetic.directions, energy.energetic.spikes)
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
        if energy.spectral.stationarity is None:  # all derivatives are through T
            found = {d.name: d for d in energy.spectral.definitions}
            inverse = energy.spectral.inverse
            self.calculus = replace(
                self.calculus,
                definitions={**self.calculus.definitions, **found},
                inverses={inverse.name: inverse},
            )

    @property
    def definitions(self) -> tuple[Definition | MatrixInverse, ...]:
        """What the symbols in the functional stand for, where a difference has to know."""
        energetic, spectral = self.energy.energetic, self.energy.spectral
        loss = random_loss(energetic.directions).averages if energetic.partials else ()
        return (*energetic.fields, *spectral.definitions, spectral.inverse, *loss)

    def partial(self, expr: sp.Expr, name: str) -> sp.Expr:
        """d expr / d name at fixed T."""
        return self.calculus.derivative(expr, member(name))

    def total(self, trace: Recorder, name: str) -> sp.Expr:
        """Derive d Phi / d name with T at its own equation: the adjoint carries the response of T."""
        rule = f"the derivative of the free energy in ${latex_of(member(name))}$"
        weight, steps = self.energy.weight_of_R, ["free energy"]
        if self.energy.spectral.stationarity is not None:
            steps.append("T")
            if name.endswith("_hat"):
                rule += ", $T$ moving with it by its own equation"

        def by(phi: sp.Expr, *of_t: sp.Expr) -> sp.Expr:
            result = self.partial(phi, name)
            for stationarity in of_t:
                response = self.partial(rename(stationarity, {B: E}), name)
                result = canonical(result - weight * contract(BlockSum(ADJOINT[E] * response, E)), SYMMETRIC)
            return result

        def before(phi: sp.Expr, *of_t: sp.Expr) -> sp.Expr:
            moved = sp.Add(*(_on_adjoint(e, member(name)) for e in of_t))
            return sp.Derivative(phi, member(name), evaluate=False) - weight * moved

        step = computed("differentiate", rule, *steps, by=by, test=equal(before, *self.definitions))
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

    def adjoint(self, trace: Recorder) -> Equation:
        """The linear system of the adjoint: sum_e adjoint_e dE_e/dT_b = dPhi/dT_b / w, E the stationarity of T.

        w is the weight of R in Phi, so that without a finite-size term the right side is dR/dT_b.
        """
        source = "implicit function theorem"
        left = trace.derive(
            "adjoint, response of T",
            sp.Symbol("dE_dT"),
            computed(
                "differentiate",
                "the equation of $T$ differentiated in $T_b$, on the adjoint",
                "T",
                by=self._response_of_t,
                test=equal(lambda e: _on_adjoint(e, T[B]), *self.definitions),
            ),
            source,
            shown=False,
        )
        right = trace.derive(
            "adjoint",
            left,
            computed(
                "differentiate",
                "the free energy depends on the conjugates through $T$ as well; the adjoint carries that dependence",
                "free energy",
                by=self._dependence_on_t,
                test=equal(
                    lambda phi: sp.Derivative(phi, T[B], evaluate=False) / self.energy.weight_of_R, *self.definitions
                ),
            ),
            source,
        )
        return Equation("adjoint", "adjoint", (B,), left - right, "implicit")

    def _response_of_t(self, stationarity: sp.Expr) -> sp.Expr:
        jacobian = self.partial(rename(stationarity, {B: E}), "T")
        return canonical(contract(BlockSum(ADJOINT[E] * jacobian, E)), SYMMETRIC)

    def _dependence_on_t(self, phi: sp.Expr) -> sp.Expr:
        return canonical(sp.expand(self.partial(phi, "T") / self.energy.weight_of_R), SYMMETRIC)


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


def _on_adjoint(stationarity: sp.Expr, moved: sp.Indexed) -> sp.Expr:
    """The derivatives of the equations of T in a member, summed with the adjoint."""
    return BlockSum(ADJOINT[E] * sp.Derivative(rename(stationarity, {B: E}), moved, evaluate=False), E)


def _with_root(body: sp.Expr, wanted: sp.Indexed, root: sp.Expr) -> sp.Expr:
    """A condition with the root in the place of the member that stands alone in it."""
    held = {node: sp.Dummy() for node in body.atoms(BlockSum, Expectation)}
    return body.xreplace(held).xreplace({wanted: root}).xreplace({dummy: node for node, dummy in held.items()})


def _alone(body: sp.Expr, wanted: sp.Indexed, label: str) -> sp.Expr:
    """The root of a condition in one member, everything else held."""
    opaque = {node: sp.Dummy() for node in (*body.atoms(BlockSum), *body.atoms(Expectation)) if not node.has(wanted)}
    plain = body.xreplace(opaque)
    others = {node: sp.Dummy() for node in plain.atoms(sp.Indexed)}
    roots = sp.solve(plain.xreplace(others), others[wanted])
    if len(roots) != 1:
        raise ValueError(f"the stationarity condition {label} does not give {wanted}: {body}")
    back = {dummy: node for node, dummy in (*opaque.items(), *others.items())}
    return canonical(roots[0].xreplace(back), SYMMETRIC)
