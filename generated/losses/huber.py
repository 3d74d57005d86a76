"""Averages over the output for the loss min(abs(y-f),delta)*(abs(y-f)-min(abs(y-f),delta)/2)  [Huber 1964, Ann. Math. Stat. 35, 73; THEORY section 4].

3 smooth piece(s), 11 operations, in u = f - y.
Generated; do not edit. Signature 68c46e0f762c8b73.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np
from numba import njit

NAME = "huber"
EXPRESSION = "min(abs(y-f),delta)*(abs(y-f)-min(abs(y-f),delta)/2)"
SIGNATURE = "68c46e0f762c8b736e78f916a42327d081e5af7e06deabda6ca93f50ec0c14fc"
FORM = "residual"
PARAMETERS: tuple[str, ...] = ('delta',)
SMOOTH = False
SYMMETRIC = True  # loss(-y, -f) = loss(y, f)

_PIECES = 3
_SMOOTH = False
_RESIDUAL = True
_MARGIN = False
_STEEPNESS = 1.0  # of the pieces beside the logistic loss, at the default parameters
_RATE = 0.0  # of its exponential growth, which polynomials have not
_CURVATURE = math.inf  # the largest of a smooth loss


@njit(cache=True, error_model="numpy", nogil=True)
def _cell(y):
    """The first piece that holds at the label y, and how many do."""
    return 0, 3


@njit(cache=True, error_model="numpy", nogil=True)
def _edge(k, y, q):
    """Breakpoint at the end of piece k of rho, in u."""
    delta = q[0]
    if k == 0:
        return -delta
    if k == 1:
        return delta
    return math.nan


@njit(cache=True, error_model="numpy", nogil=True)
def _rho(k, u, y, q):
    """Value, slope and curvature of rho on piece k."""
    delta = q[0]
    if k == 0:
        return -0.5*delta*delta - delta*u, -delta, 0.0
    if k == 1:
        return 0.5*u*u, u, 1.0
    return -0.5*delta*delta + delta*u, delta, 0.0


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


_ORDER = 16  # Chebyshev nodes of a panel of centres
_HALF = 0.7  # its half width in spreads of the output, which smooth what is interpolated: (h/2)^n 2/sqrt(n!) = 2e-14
_CROWD = 24  # centres on a panel that are worth its nodes
_GROWTH = 2.0  # its half width in units of the exponential growth of a loss, at most: (h/2)^n 2/n! = 1e-13


@njit(cache=True, error_model="numpy", nogil=True)
def _sums(gauss, fewest, y, center, variance, V, q, steep, scratch, sums):
    """Averages over the output about a centre, in u; nan where scratch is too small."""
    count = _nodes(gauss, fewest, y, center, math.sqrt(variance), V, q, steep, math.inf, scratch)
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = s8 = 0.0
    for i in range(count):
        p = scratch[1, i]
        x = (scratch[0, i] - center) / variance
        g, h = scratch[2, i], scratch[3, i]
        s0 += p * scratch[4, i]
        s1 += p * g
        s2 += p * h
        s3 += p * g * g
        s4 += p * g * h
        s5 += p * h * x
        s6 += p * g * g * h
        s7 += p * g * h * x
        s8 += p * h * (x * x - 1.0 / variance)
    sums[0] = math.nan if count == 0 else s0
    sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], sums[8] = s1, s2, s3, s4, s5, s6, s7, s8


@njit(cache=True, error_model="numpy", nogil=True)
def _add(sums, sign, parts, carried, rest, out, node):
    """Add the averages about a centre to those at a node; parts: the weights of 1, of the mean of t and its products.

    t varies about its mean by `rest`, which moves the output by `carried`: by Stein's lemma a factor t - mean becomes
    `carried` times a derivative in the centre.
    """
    directions, w = carried.shape[0], parts[0]
    odd = sign * w
    out[0, node] += w * sums[0]
    out[1, node] += odd * sums[1]
    out[2, node] += w * sums[2]
    out[3, node] += w * sums[3]
    out[4, node] += odd * sums[4]
    out[5, node] += odd * sums[5]
    out[6, node] += w * sums[6]
    out[7, node] += w * sums[7]
    out[8, node] += w * sums[8]
    place, pair = 9 + 4 * directions, 1 + directions
    for d in range(directions):
        along, moved = sign * parts[1 + d], w * carried[d]
        out[9 + d, node] += along * sums[1] - moved * sums[2]
        out[9 + directions + d, node] += parts[1 + d] * sums[2] + sign * moved * sums[5]
        out[9 + 2 * directions + d, node] += along * sums[4] + moved * sums[7]
        out[9 + 3 * directions + d, node] += along * sums[5] + moved * sums[8]
        for e in range(d, directions):
            mixed = sign * (parts[1 + d] * carried[e] + parts[1 + e] * carried[d])
            out[place, node] += (parts[pair] + w * rest[d, e]) * sums[2] + mixed * sums[5]
            out[place, node] += moved * carried[e] * sums[8]
            place, pair = place + 1, pair + 1


@njit(cache=True, error_model="numpy", nogil=True)
def _parts(w, t, parts):
    """The weights of 1, of t and of its products where t has the weight w."""
    directions = t.shape[0]
    parts[0] = w
    place = 1 + directions
    for d in range(directions):
        parts[1 + d] = w * t[d]
        for e in range(d, directions):
            parts[place] = w * t[d] * t[e]
            place += 1


@njit(cache=True, error_model="numpy", nogil=True)
def _crowded(centers, low, half, panel):
    """Number the panels from `low` on that hold more centres than pay for a table, -1 for the others; how many."""
    panel[:] = 0
    for j in range(centers.shape[0]):
        place = (centers[j] - low) / (2.0 * half)
        if place < panel.shape[0]:
            panel[int(place)] += 1
    count = 0
    for k in range(panel.shape[0]):
        if panel[k] > _CROWD:
            panel[k] = count
            count += 1
        else:
            panel[k] = -1
    return count


@njit(cache=True, error_model="numpy", nogil=True)
def _gathered(centers, low, half, panel, weight, t, parts, moments):
    """Chebyshev moments [panel, degree, part] of the weights of the centres in crowded panels, which are taken out."""
    for j in range(centers.shape[0]):
        place = (centers[j] - low) / (2.0 * half)
        if place < panel.shape[0] and panel[int(place)] >= 0:
            k = panel[int(place)]
            x = 2.0 * (place - int(place)) - 1.0
            _parts(weight[j], t[j], parts)
            before, now = x, 1.0  # the polynomials of degrees -1 and 0
            for degree in range(_ORDER):
                for a in range(parts.shape[0]):
                    moments[k, degree, a] += now * parts[a]
                before, now = now, 2.0 * x * now - before
            centers[j] = math.inf


@njit(cache=True, error_model="numpy", nogil=True)
def _standing(moments, angle, parts):
    """The parts at the Chebyshev node of an angle that stand for those of all centres of a panel."""
    for a in range(parts.shape[0]):
        parts[a] = moments[0, a] / _ORDER
    for degree in range(1, _ORDER):
        share = 2.0 * math.cos(degree * angle) / _ORDER
        for a in range(parts.shape[0]):
            parts[a] += share * moments[degree, a]


@njit(cache=True, error_model="numpy", nogil=True)
def points(gauss, fewest, weight, t, label, rest, noise, q, V, mean, slope, Delta, scratch, out):
    """Averages over labels at nodes, and t about a mean there: out[:, node], in the order of AVERAGES.

    gauss[2, n]: Gauss-Legendre rule on (-1, 1); fewest: steps of the trapezoid; weight, label[N, J], t[N, J, D]: the
    law of label and mean of t given kappa; rest[D, D]: the covariance of t there; noise: variance of the label noise of
    a residual loss; V, mean, Delta[N], slope[D, N]: the fields. A loss of the residual or of the margin knows a label
    by the centre of the output only: many that are close are replaced by Chebyshev nodes, with weights that average
    polynomials as they do.
    """
    directions, steep = t.shape[2], np.full(2, math.inf)
    sums, parts = np.empty(9), np.empty(1 + directions + directions * (directions + 1) // 2)
    carried, centers, panel = np.empty(directions), np.empty(weight.shape[1]), np.empty(weight.shape[1], np.int64)
    tables = weight.shape[1] > _CROWD and (_RESIDUAL or _MARGIN)
    for node in range(V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        variance = Delta[node] + noise
        for d in range(directions):
            carried[d] = 0.0
            for e in range(directions):
                carried[d] += rest[d, e] * slope[e, node]
            variance += slope[d, node] * carried[d]
        half = _HALF * math.sqrt(variance)
        if _RATE > 0.0:
            half = min(half, _GROWTH / _RATE)
        for side in range(2 if _MARGIN else 1):
            sign = 1.0 - 2.0 * side
            low = math.inf
            for j in range(weight.shape[1]):
                centers[j] = math.inf
                y = label[node, j]
                if weight[node, j] != 0.0 and ((y > 0.0) == (side == 0) or not _MARGIN):
                    center = mean[node]
                    for d in range(directions):
                        center += slope[d, node] * t[node, j, d]
                    centers[j] = sign * center - (y if _RESIDUAL else 0.0)
                    low = min(low, centers[j])
            panels = _crowded(centers, low, half, panel) if tables else 0
            if panels > 0:
                moments = np.zeros((panels, _ORDER, parts.shape[0]))
                _gathered(centers, low, half, panel, weight[node], t[node], parts, moments)
                for k in range(panel.shape[0]):
                    if panel[k] >= 0:
                        for i in range(_ORDER):
                            angle = math.pi * (i + 0.5) / _ORDER
                            _standing(moments[panel[k]], angle, parts)
                            center = low + half * (2.0 * k + 1.0 + math.cos(angle))
                            _sums(gauss, fewest, sign, center, variance, V[node], q, steep, scratch, sums)
                            _add(sums, sign, parts, carried, rest, out, node)
            for j in range(weight.shape[1]):
                if centers[j] != math.inf:
                    y = label[node, j]
                    _sums(gauss, fewest, y, centers[j], variance, V[node], q, steep, scratch, sums)
                    _parts(weight[node, j], t[node, j], parts)
                    _add(sums, sign, parts, carried, rest, out, node)


@njit(cache=True, error_model="numpy", nogil=True)
def _tails(a):
    """Phi(a) and phi(a)."""
    return 0.5 * math.erfc(-0.7071067811865476 * a), 0.3989422804014327 * math.exp(-0.5 * a * a)


@njit(cache=True, error_model="numpy", nogil=True)
def intervals(gauss, fewest, kappa, low, high, weight, label, channel, noise, q, V, mean, slope, Delta, scratch, out):
    """Averages where the label is constant on intervals of z' = gamma kappa + width t', as `points` otherwise.

    low, high, weight, label[J]: an interval of z', the probability of that label in it, the label;
    channel: (gamma, width, correlation of t and t'). Given omega, t and t' are Gaussian and integrated in closed form.
    """
    gamma, width, correlation = channel[0], channel[1], channel[2]
    steep = np.empty(2)
    for node in range(V.shape[0]):
        for a in range(out.shape[0]):
            out[a, node] = 0.0
        along = slope[0, node]
        rest = Delta[node] + noise
        total = rest + along * along
        spread = math.sqrt(total)
        ratio = along / total  # of the mean of t given omega
        variance = rest / total  # of t given omega
        inner = 1.0 - correlation * correlation * (1.0 - variance)  # of t' given omega
        root = math.sqrt(inner)
        carried = correlation * variance / root
        kept = variance - carried * carried
        for j in range(label.shape[0]):
            y = label[j]
            sign = y if _MARGIN else 1.0
            center = sign * mean[node] - (y if _RESIDUAL else 0.0)
            edge_low, edge_high = low[j] - gamma * kappa[node], high[j] - gamma * kappa[node]
            if width > 0.0:
                edge_low, edge_high = edge_low / width, edge_high / width
            else:  # the label follows from kappa
                if not edge_low <= 0.0 < edge_high:
                    continue
                edge_low, edge_high = -math.inf, math.inf
            if edge_low > _REACH or edge_high < -_REACH:
                continue
            turn = correlation * ratio
            blur = math.inf
            steep[0] = steep[1] = math.inf
            if turn != 0.0:
                blur = root / abs(turn)
                steep[0], steep[1] = center + sign * edge_low / turn, center + sign * edge_high / turn
            count = _nodes(gauss, fewest, y, center, spread, V[node], q, steep, blur, scratch)
            if count == 0:
                out[0, node] = math.nan
            for i in range(count):
                off = sign * (scratch[0, i] - center)
                m = ratio * off
                first, last = (edge_low - correlation * m) / root, (edge_high - correlation * m) / root
                flip = first > 0.0  # differences of small numbers, not of numbers close to one
                if flip:
                    first, last = -last, -first
                p0 = p1 = p2 = 0.0
                if last < math.inf:
                    cdf, pdf = _tails(last)
                    p0, p1, p2 = cdf, -pdf, cdf - last * pdf
                else:
                    p0, p2 = 1.0, 1.0
                if first > -math.inf:
                    cdf, pdf = _tails(first)
                    p0, p1, p2 = p0 - cdf, p1 + pdf, p2 - cdf + first * pdf
                if flip:
                    p1 = -p1
                p = weight[j] * scratch[1, i]
                p2 = p * ((m * m + kept) * p0 + 2.0 * m * carried * p1 + carried * carried * p2)
                p1 = p * (m * p0 + carried * p1)
                p0 = p * p0
                a, b = off / rest, along / rest  # x = a - b t
                x0, x1 = a * p0 - b * p1, a * p1 - b * p2
                xx = a * x0 - b * x1 - p0 / rest
                g, h = sign * scratch[2, i], scratch[3, i]
                out[0, node] += p0 * scratch[4, i]
                out[1, node] += p0 * g
                out[2, node] += p0 * h
                out[3, node] += p0 * g * g
                out[4, node] += p0 * g * h
                out[5, node] += x0 * h
                out[6, node] += p0 * g * g * h
                out[7, node] += x0 * g * h
                out[8, node] += xx * h
                out[9, node] += p1 * g
                out[10, node] += p1 * h
                out[11, node] += p1 * g * h
                out[12, node] += x1 * h
                out[13, node] += p2 * h
