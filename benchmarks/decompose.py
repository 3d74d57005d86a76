"""What pairs of fits cost beside a solve: the same points in this checkout and in an older one, in turns.

Usage: python benchmarks/decompose.py FOLDER [--rounds 3]

FOLDER: another checkout, as for ``against.py``. Processor time, the least of all rounds and of several points, which
are new in their samples; what many points share has been made. Columns: a solve, pairs that share the batch of the
step (``--given batch``), all pairs; of both versions, and as multiples of a solve of the same version.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from against import HERE, KINDS, Version
from seconds import readable

WAYS = ("one", "held", "all")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="another checkout")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    versions = {"before": Version(given.folder.resolve()), "now": Version(HERE)}
    print("| what | version | a solve | one batch | all pairs | one batch, in solves | all pairs, in solves |")
    print("|---|---|---|---|---|---|---|")
    for kind, (words, _, _) in KINDS.items():
        best = {(name, way): float("inf") for name in versions for way in WAYS}
        for number in range(given.rounds):
            for name in list(versions) if number % 2 == 0 else list(versions)[::-1]:
                for way in WAYS:
                    seconds = versions[name].seconds(f"{way}_{kind}")
                    if isinstance(seconds, str):
                        raise SystemExit(f"{name}, {way} {kind}: {seconds}")
                    best[name, way] = min(best[name, way], seconds)
        for name in versions:
            one, held, every = (best[name, way] for way in WAYS)
            told = " | ".join(map(readable, (one, held, every)))
            print(f"| {words} | {name} | {told} | {held / one:.3g} | {every / one:.3g} |", flush=True)
    for version in versions.values():
        version.process.communicate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
