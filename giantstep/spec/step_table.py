"""The table [step] of a model, and the tables [[step]] of a network that takes several steps.

Source: [CUI24] Cui et al. 2024, arXiv:2402.04980; THEORY section 12.
"""

import itertools
import re
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from giantstep.spec.errors import BadInput
from giantstep.spec.tables import Table, build, shown_plainly
from giantstep.spec.validate import Choice, FileName, Number, wrong

MOST_STEPS = 100
_STRETCHED = (
    "rows that are stretched along spike and target only are those of large batches, and elsewhere they can be further "
    'from the network than rows without direction; "trained" has the stretch and all else'
)
_NUMBERED = re.compile(r"step\.(\d{1,4})(?=\.|$)")


@shown_plainly
@dataclass(frozen=True)
class Step(Table):
    """One gradient step: samples = n0/d, eta = learning_rate d^(1/2 + exponent). [CUI24, Result 3.1]

    The giant step has exponent 1/2; below it the strength of the spike vanishes as d grows, and powers of kappa are
    learned [MON23]. bulk: what the rows are around the spike, isotropic, as the step leaves them, or those of the file
    ``matrix``. Of several steps the last one says it.

    Several steps are a table [[step]] for each, in order: ``step.samples`` then changes all of them, ``step.2.samples``
    the second. batch: fresh samples, or the same as those of the step before.
    """

    path: ClassVar[str] = "step"
    samples: Annotated[
        float, Number("the number of samples of the step over the dimension, alpha0 = n0/d", positive=True)
    ]
    learning_rate: Annotated[float, Number("the learning rate over the dimension, eta_tilde = eta/d", low=0.0)]
    bulk: Annotated[str, Choice(("isotropic", "trained", "matrix"), (("stretched", _STRETCHED),))] = "isotropic"
    exponent: Annotated[
        float, Number("e in eta = learning_rate d^(1/2 + e), 1/2 for the giant step", high=0.5, positive=True)
    ] = 0.5
    matrix: Annotated[str | None, FileName(".npy or .npz")] = None
    batch: Annotated[str, Choice(("fresh", "same"))] = "fresh"

    def check(self) -> None:
        """Raises BadInput for another bulk below the giant step, and a matrix missing or not used."""
        if self.exponent < 0.5 and self.bulk != "isotropic":
            raise BadInput(
                f"step.bulk = {self.bulk!r} has no place where step.exponent = {self.exponent!r} is below 1/2",
                "leave step.bulk out: the bulk is that of the untrained features as d grows",
            )
        if (self.bulk == "matrix") != (self.matrix is not None):
            asked = 'step.bulk = "matrix" needs step.matrix' if self.matrix is None else "step.matrix is not used"
            raise BadInput(
                f"{asked}: step.bulk = {self.bulk!r}, step.matrix = {self.matrix!r}",
                'give both, as in bulk = "matrix", matrix = "bulk.npy"',
            )


def check_several(steps: tuple[Step, ...]) -> None:
    """What several steps have no law for. Raises BadInput."""
    if len(steps) > MOST_STEPS:
        raise BadInput(f"the model has {len(steps)} steps", f"give at most {MOST_STEPS}")
    if steps and steps[0].batch == "same":
        raise BadInput(
            'step.batch = "same": the first step has no batch before it', 'leave it out, or write "fresh" there'
        )
    for number, (before, step) in enumerate(itertools.pairwise(steps), start=2):
        if step.batch == "same" and step.samples != before.samples:
            raise BadInput(
                f"step.{number}.samples = {step.samples!r}: the same batch as that of the step before has "
                f"{before.samples!r}",
                "give the same number of samples",
            )
    if len(steps) < 2:
        return
    for number, step in enumerate(steps, start=1):
        if step.exponent < 0.5:
            raise BadInput(
                f"step.{number}.exponent = {step.exponent!r}: of several steps each has to be a giant one",
                "leave the exponent out; a step below 1/2 leaves no spike that the next one could start from",
            )
        if step.bulk == "matrix" or step.bulk != "isotropic" and steps[-1].bulk == "isotropic":
            raise BadInput(
                f"step.{number}.bulk = {step.bulk!r}: "
                + ("a bulk is given after one step only" if step.bulk == "matrix" else "it is that of the last step"),
                'give the last step bulk = "trained", or leave it out for rows without direction ("isotropic")',
            )


def check_with_inputs(step: Step | None) -> None:
    """What no spectral law of structured inputs is known for. Raises BadInput."""
    if step is not None and step.bulk == "trained":
        raise BadInput(
            'step.bulk = "trained" has not been derived for structured inputs: what the samples of the step add to '
            "the rows has the covariance of the inputs on both sides, so that the resolvent of the rows is another one "
            "at every eigenvalue",
            'use step.bulk = "isotropic", rows whose covariance at an eigenvalue is the mean of that, or leave the '
            "table [inputs] out",
        )
    if step is not None and step.bulk == "matrix":
        raise BadInput(
            'step.bulk = "matrix" has its covariance in its rows, which the table [inputs] would give once more',
            "multiply the rows of the file by the root of the covariance and leave the table [inputs] out",
        )
    if step is not None and step.exponent < 0.5:
        raise BadInput(
            f"step.exponent = {step.exponent!r} has no law for structured inputs: polynomials of kappa that a small "
            "step adds are derived for rows that it lengthens alike in all directions; it lengthens these more along "
            "large eigenvalues",
            "use the giant step, exponent 1/2, or leave the table [inputs] out",
        )


def steps_of(entries: object) -> tuple[Step, ...]:
    """The steps of a list of tables. Raises BadInput that says which step is wrong."""
    assert isinstance(entries, list | tuple)
    found = []
    for number, entry in enumerate(entries, start=1):
        try:
            found.append(entry if isinstance(entry, Step) else build(Step, entry, "step"))
        except BadInput as error:
            raise BadInput(f"step {number} of {len(entries)}: {error.message}", error.hint) from None
    return tuple(found)


def unnumbered(key: str) -> str:
    """A key without the number of a step: step.2.samples is step.samples of the second step."""
    return _NUMBERED.sub("step", key)


def numbered_step(key: str) -> int | None:
    """The number of the step that a key is of, from 1; None for all of them and for other keys."""
    found = _NUMBERED.match(key)
    return None if found is None else int(found[1])


def chosen_steps(entry: Any, key: str) -> list[dict[str, Any]]:
    """The tables of the steps that a key changes: one by its number, or all of them. Raises BadInput."""
    steps: list[dict[str, Any]] = entry if isinstance(entry, list) else [entry]
    for step in steps:
        if not isinstance(step, dict):
            raise wrong("step", step, "a table")
    number = numbered_step(key)
    if number is not None and not 1 <= number <= len(steps):
        raise BadInput(f"{key} is of step {number}, and the model has {len(steps)}", "count from 1, or add [[step]]")
    return steps if number is None else [steps[number - 1]]
