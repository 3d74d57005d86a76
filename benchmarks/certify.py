"""Answers of the random suites by the second implementation of every average, of ``giantstep verify``."""

from __future__ import annotations

import math
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from giantstep.system.result import Result
from giantstep.verify.certificate import certificate
from giantstep.verify.interpreter import NotEvaluable

CERTIFIED, DIFFERS, OPEN = "certified", "DIFFERS", "not certified"
LIMIT = 120  # seconds of the processor for an answer


@dataclass(frozen=True)
class Certified:
    """What the certificate says about one answer: the worst relative deviation of an error, of an equation and of the
    first layer; ``reason``: of what differs, or why it tells nothing.
    """

    status: str
    errors: float = math.nan
    equations: float = math.nan
    layer: float = math.nan
    reason: str = ""
    seconds: float = 0.0


def certified(result: Result) -> Certified:
    """The certificate of an answer, in at most LIMIT seconds of the processor."""
    start = time.process_time()
    try:
        with _limited(LIMIT):
            found = certificate(result)
    except (NotEvaluable, TimeoutError) as error:
        return Certified(OPEN, reason=str(error), seconds=time.process_time() - start)
    name, equations = found.worst_equation
    off, errors = max(found.errors.items(), key=lambda item: item[1])
    status = CERTIFIED if found.holds else OPEN if found.unsettled else DIFFERS
    words = "" if found.holds else found.unsettled or f"{off} {errors:.1e}, {name} {equations:.1e}, {found.layer:.1e}"
    return Certified(status, errors, equations, found.layer, words, time.process_time() - start)


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def over(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"it takes more than {seconds} s")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # the same on a busy machine
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def certificates_report(found: Sequence[Certified]) -> None:
    """Counts, the worst deviations of what is certified, and the reasons of the others."""
    sound = [c for c in found if c.status == CERTIFIED]
    counts = ", ".join(f"{sum(c.status == s for c in found)} {s}" for s in (CERTIFIED, OPEN, DIFFERS))
    print(f"{len(found)} answers by a second implementation of every average: {counts}")
    for reason, count in Counter(re.sub(r"\d\S*", "#", c.reason) for c in found if c.status == OPEN).most_common():
        print(f"{count:7d}  {reason}")
    if sound:
        worst = (max(getattr(c, name) for c in sound) for name in ("errors", "equations", "layer"))
        print("worst deviation of an error {:.1e}, of an equation {:.1e}, of the first layer {:.1e}".format(*worst))
        times = sorted(c.seconds for c in found)
        print(f"processor time of a certificate: median {times[len(times) // 2]:.2f} s, slowest {times[-1]:.1f} s")
