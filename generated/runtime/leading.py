"""Where solutions at several places lead at a further one.

Written by hand, in codegen/runtime/leading.py.
Generated; do not edit. Signature 9378c8310ee32688, runtime c3c89fd6f491a80d.
Regenerate with: giantstep generate
"""

# fmt: off

from generated.runtime.compiling import entry, inner

_SMALL = 1e-9  # of the largest number: one that may be rounding


@inner
def _share(places, here, row, dropped):
    """What a row counts for in the polynomials through all rows but one."""
    count, place = places.shape[0], places[row]
    share, slope, known, rate = 1.0, 0.0, False, row > 0 and places[row - 1] == place
    for other in range(count):
        if places[other] != place and other != dropped:
            share *= (here - places[other]) / (place - places[other])
            slope += 1.0 / (place - places[other])
        elif other == row + 1 and places[other] == place:
            known = other != dropped
    if rate:
        return share * (here - place)
    return share * (1.0 - (here - place) * slope) if known else share


@entry
def fill_guesses(places, here, numbers, out):
    """out[0]: the polynomials through rows of numbers [R, n] at the places, at a further place; out[1]: those without
    the last row of the first place. Where a place stands twice in a row, the second row has the rates there.

    Returns the largest difference of both, relative to the size of that number at the places.
    Source: Hermite's formula.
    """
    count = places.shape[0]
    last = 1 if count > 1 and places[0] == places[1] else 0
    for way in range(2):
        dropped = last if way == 1 else -1
        for i in range(numbers.shape[1]):
            out[way, i] = 0.0
        for row in range(count):
            if row != dropped:
                share = _share(places, here, row, dropped)
                for i in range(numbers.shape[1]):
                    out[way, i] += share * numbers[row, i]
    largest = apart = 0.0
    for row in range(count):
        if row == 0 or places[row - 1] != places[row]:
            for i in range(numbers.shape[1]):
                largest = max(largest, abs(numbers[row, i]))
    for i in range(numbers.shape[1]):
        size = _SMALL * largest
        for row in range(count):
            if row == 0 or places[row - 1] != places[row]:
                size = max(size, abs(numbers[row, i]))
        difference = abs(out[0, i] - out[1, i])
        if not difference <= apart * size:
            apart = difference / size
    return apart

SIGNATURE = "9378c8310ee3268843410bad256f29b7df0fec22adde59cefbe4f21ca52bc167"
