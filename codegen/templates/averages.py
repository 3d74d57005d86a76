# mypy: ignore-errors
"""Nodes of an average over the conditional output, with the envelope of a loss and its derivatives there.

The emitter copies everything below the marker line; what is above it stands for the names that a loss supplies.
"""

import math

from numba import njit

_SMOOTH = True
_RESIDUAL = False
_MARGIN = True
_STEEPNESS = 1.0
_RATE = 1.0
_CURVATURE = 0.25


@njit(error_model="numpy", nogil=True)
def _edge(k, y, q):
    return 0.0


@njit(error_model="numpy", nogil=True)
def _cell(y):
    return 0, 1


@njit(error_model="numpy", nogil=True)
def _rho(k, u, y, q):
    return math.log1p(math.exp(-u)), -1.0 / (1.0 + math.exp(u)), 0.25


# --- copied into the emitted modules from here ---
_REACH = 9.0  # standard deviations of the output that count: the weight beyond is 1e-18
_PANEL = 6.0  # of a Gauss rule, in standard deviations
_BENT = 0.05  # of the change of slope on a panel, what the quadratic through three curvatures may miss on a half
_LENGTH = 27.0  # of l, in units of the loss: the fewest steps of the trapezoid serve up to here
_MOST_STEPS = 400
_SHARP = 0.5  # of the steps per spread of omega, for each width on which the law of the label varies
SCRATCH_SHAPE = (5, 8192)  # output, weight, g, h, envelope at each node


@njit(cache=True, error_model="numpy", nogil=True)
def _prox(k, left, right, w, V, y, tolerance, q):
    """l in (left, right) with l + V rho'(l) = w on piece k: Newton within a bracket, to `tolerance` in w."""
    x = min(max(w, left), right)
    step = tolerance + abs(x - w)
    # the map is monotone: bracket the root by steps that grow
    excess = x + V * _rho(k, x, y, q)[1] - w
    side = -1.0 if excess > 0.0 else 1.0
    other = x
    while excess * side < 0.0:
        x = other
        other = min(max(other + side * step, left), right)
        excess = other + V * _rho(k, other, y, q)[1] - w
        step *= 4.0
        if other in (left, right):
            break
    low, high = min(x, other), max(x, other)
    x = 0.5 * (low + high)
    for _ in range(200):
        _, slope, curvature = _rho(k, x, y, q)
        excess = x + V * slope - w
        if abs(excess) <= tolerance:
            break
        if excess > 0.0:
            high = x
        else:
            low = x
        x -= excess / (1.0 + V * curvature)
        if not low < x < high:
            x = 0.5 * (low + high)
            if x in (low, high):
                break
    return x


@njit(cache=True, error_model="numpy", nogil=True)
def _panel(k, x, last, spread, V, y, q):
    """Width of a panel of l from x on piece k, at most to `last`: no more than a few spreads of omega, and short enough
    that the curvature of rho is nearly quadratic, which is judged on each half: the errors of the two may cancel.
    """
    _, slope, curvature = _rho(k, x, y, q)
    width = min(_PANEL * spread / (1.0 + V * curvature), last - x)
    slack = 1e-9 / (1.0 + V / spread)
    _, next_slope, next_curvature = _rho(k, x + width, y, q)
    for _ in range(60):
        _, half_slope, half_curvature = _rho(k, x + 0.5 * width, y, q)
        change, first, part = next_slope - slope, half_slope - slope, width / 24.0
        left = first - part * (5.0 * curvature + 8.0 * half_curvature - next_curvature)
        right = change - first - part * (5.0 * next_curvature + 8.0 * half_curvature - curvature)
        least = min(curvature, half_curvature, next_curvature)  # of a linear slope nothing has to be resolved
        allowed = _BENT * abs(change - width * least) + slack
        if width + V * change <= 1.5 * _PANEL * spread and abs(left) <= allowed and abs(right) <= allowed:
            break
        width, next_slope, next_curvature = 0.5 * width, half_slope, half_curvature
    return width


@njit(cache=True, error_model="numpy", nogil=True)
def _bend(k, first, last, count, y, q):
    """The largest curvature of rho on piece k, at both ends and at places between them."""
    largest = 0.0
    for i in range(count + 1):
        largest = max(largest, _rho(k, first + (last - first) * i / count, y, q)[2])
    return largest


@njit(cache=True, error_model="numpy", nogil=True)
def _graded(k, kink, x, length, V, y, q, steep, width):
    """The length of a panel from x, cut to its distance to a steep place, or to the width of that place."""
    start = x if kink else x + V * _rho(k, x, y, q)[1]
    for place in steep:
        for _ in range(60):
            end = x + length
            if not kink:
                end += V * _rho(k, x + length, y, q)[1]
            distance = max(start - place, place - end)
            if end - start <= max(2.0 * width, distance):
                break
            length *= 0.5
    return length


@njit(cache=True, error_model="numpy", nogil=True)
def _nodes(gauss, fewest, y, center, spread, V, q, steep, width, scratch):
    """Nodes for an average over omega_u ~ N(center, spread^2), with the envelope, g and h there.

    Each smooth piece is integrated over l = prox(omega), each kink over omega; the rule is the trapezoid where the
    whole line is smooth and not long, and Gauss-Legendre on panels otherwise, graded towards the two places `steep`
    where the law of the label varies on the scale `width`. Returns the number of nodes, 0 where scratch is too small.
    """
    low, high = center - _REACH * spread, center + _REACH * spread
    count = 0
    norm = 0.3989422804014327 / spread
    start = -math.inf
    leftmost, pieces = _cell(y)
    for part in range(2 * pieces - 1):
        k = leftmost + part // 2
        kink = part % 2 == 1
        flat = edge = 0.0
        end = math.inf
        has_end = part // 2 < pieces - 1
        if has_end:
            edge = _edge(k, y, q)
            flat, slope, _ = _rho(k, edge, y, q)
            end = edge + V * (_rho(k + 1, edge, y, q)[1] if kink else slope)
        first, last = max(start, low), min(end, high)
        if first < last:
            if not kink:
                left = _edge(k - 1, y, q) if part > 0 else -math.inf
                right = edge if has_end else math.inf
                tolerance = 1e-3 * spread
                first = left if first == start else _prox(k, left, right, first, V, y, tolerance, q)
                last = right if last == end else _prox(k, left, right, last, V, y, tolerance, q)
            steps = max(fewest, int(min(1e6, _STEEPNESS * (last - first) * fewest / _LENGTH)))
            if _SMOOTH:  # steps of omega are longer than those of l
                bend = _CURVATURE
                if bend == math.inf:
                    bend = _bend(k, first, last, min(steps, _MOST_STEPS) // 2, y, q)
                length = (last - first) * (1.0 + V * bend) / (2.0 * _REACH * spread)
                steps = max(steps, int(min(1e6, fewest * length * max(1.0, _SHARP * spread / width))))
            trapezoid = _SMOOTH and steps <= _MOST_STEPS
            panel_start = first
            while panel_start < last:
                if trapezoid:
                    panel_end, points = last, steps
                else:
                    points = gauss.shape[1]
                    if kink:
                        panel_end = min(last, panel_start + _PANEL * spread)
                    else:
                        panel_end = panel_start + _panel(k, panel_start, last, spread, V, y, q)
                    panel_end = panel_start + _graded(
                        k, kink, panel_start, panel_end - panel_start, V, y, q, steep, width
                    )
                    if last - panel_end < 1e-3 * (panel_end - panel_start) or panel_end <= panel_start:
                        panel_end = last
                half, middle = 0.5 * (panel_end - panel_start), 0.5 * (panel_end + panel_start)
                if count + points > scratch.shape[1]:
                    return 0
                for i in range(points):
                    if trapezoid:
                        x, weight = panel_start + 2.0 * half * i / (points - 1), 2.0 * half / (points - 1)
                    else:
                        x, weight = middle + half * gauss[0, i], half * gauss[1, i]
                    if kink:
                        omega, g, h, value, stretch = x, (edge - x) / V, 1.0 / V, flat, 1.0
                    else:
                        value, slope, curvature = _rho(k, x, y, q)
                        stretch = 1.0 + V * curvature
                        omega, g, h = x + V * slope, -slope, curvature / stretch
                    z = (omega - center) / spread
                    scratch[0, count] = omega
                    scratch[1, count] = weight * stretch * norm * math.exp(-0.5 * z * z)
                    scratch[2, count] = g
                    scratch[3, count] = h
                    scratch[4, count] = value + 0.5 * V * g * g
                    count += 1
                panel_start = panel_end
        start = end
    return count
