"""The samples of several steps on fewer nodes: those that all others follow from, in what the equations average.

Nodes of a later step are a rule in kappa and one in the residual at each kappa. What is averaged over them are products
of what a sample adds, its own presence counted, with the sums over samples that norms go with: smooth functions of few
numbers, which span some tens of dimensions whatever the nodes. So a part of the nodes carries the others, and these
leave their weights to it. Source: Cheng, Gimbutas, Martinsson and Rokhlin, SIAM J. Sci. Comput. 26 (2005) 1389.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from scipy.linalg import qr, solve_triangular

from generated.runtime.evaluation import inverted_together

Array = np.ndarray
Pair = tuple[Array, Array]
_LEFT = 1e-13  # of a function, what the nodes that are kept leave of it
_RESPONSES = 12  # V1_hat T, of eigenvalues between these two, the weakest over the largest that a sample adds
_WEAK, _STRONG = 1e-2, 1e5
_APART = 10.0  # ratios of the T of blocks, either way
_SWEEPS, _DAMPED = (2, 5, 8), 0.5  # of the iteration that X follows from: those after which functions are drawn
_LITTLE = 512  # numbers of what samples add, which cost equations next to nothing
_ROUND = 8  # nodes of a step, in such numbers
_GROUPS = 24  # of nodes that stand for these on the way of X
_TOGETHER = 256  # nodes that are looked at together at first
_AT_A_TIME = 32  # nodes whose functions are taken at a time: what leads to these stays in the cache of a processor
_FUNCTIONS, _SPARE = 160, 0.9  # drawn at first; the share of them that may turn out to be independent
_LEAST = 1e-300
_AT_NODES, _WEIGHTS = ("sample", "along", "earlier", "of_step"), ("law_tr", "law_along", "law_t", "law_own")


def fewer_samples(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays that equations of stretched rows are given, with the samples of every step on fewer nodes; on all of
    them where these are few, or numbers so large that functions of a sample overflow.
    """
    if arrays["sample"].size <= _LITTLE:
        return dict(arrays)
    draw = np.random.default_rng(0)
    steps = [np.flatnonzero(own) for own in arrays["of_step"]]
    parts = []
    try:
        with np.errstate(all="ignore"):
            of_steps = _met(arrays, steps, draw)
    except np.linalg.LinAlgError:
        return dict(arrays)
    for nodes, met in zip(steps, of_steps, strict=True):
        step = {name: arrays[name][..., nodes] for name in (*_AT_NODES, *_WEIGHTS)}
        parts.append(_rounded_up(_reduced(step, met, draw)))
    return {**arrays, **{name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}}


def _rounded_up(step: dict[str, Array]) -> dict[str, Array]:
    """The step on a round number of nodes, of which the last stand in one place: what is laid out for so many serves
    other rows too.
    """
    count = step["law_tr"].shape[-1]
    more = -count % _ROUND
    share = np.ones(count + more)
    share[count - 1 :] = 1.0 / (1 + more)
    chosen = np.minimum(np.arange(count + more), count - 1)
    moved = {name: step[name][..., chosen] for name in _AT_NODES}
    return {**moved, **{name: step[name][..., chosen] * share for name in _WEIGHTS}}


def _reduced(step: dict[str, Array], met: Array, draw: np.random.Generator) -> dict[str, Array]:
    """A step on the nodes that carry all others: first among those next to each other, then among more and more."""
    together, count = _TOGETHER, _FUNCTIONS
    while True:
        nodes = np.arange(step["law_tr"].shape[-1])
        groups = np.array_split(nodes, max(1, round(len(nodes) / together)))
        size = _sizes(step)
        with np.errstate(all="ignore"):
            drawn = _drawn(step, met, size, count, draw) * size
        lengths = np.linalg.norm(drawn, axis=1, keepdims=True)
        if not 0.0 < lengths.max() < np.inf:  # samples of a step of rate zero add nothing
            return step
        drawn /= np.where(lengths > 0.0, lengths, 1.0)
        least = _LEFT * math.sqrt(float((drawn**2).sum(axis=0).max()))
        found = [_carrying(drawn[:, group], least) for group in groups]
        if all(
            len(own) <= _SPARE * count or count >= len(group) for group, (own, _) in zip(groups, found, strict=True)
        ):
            step, together = _moved(step, size, groups, found), 2 * together
            if len(groups) == 1:
                return step
        count *= 2


def _moved(step: dict[str, Array], size: Array, groups: list[Array], found: list[Pair]) -> dict[str, Array]:
    """The step on the nodes of every group that are kept; others leave their weights to them."""
    kept = np.concatenate([group[own] for group, (own, _) in zip(groups, found, strict=True)])
    moved = {name: step[name][..., kept] for name in _AT_NODES}
    inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    for name in _WEIGHTS:
        shares = [
            (step[name][..., group] * inverse[group]) @ share.T * size[group[own]]
            for group, (own, share) in zip(groups, found, strict=True)
        ]
        moved[name] = np.concatenate(shares, axis=-1)
    return moved


def _met(arrays: Mapping[str, Array], steps: list[Array], draw: np.random.Generator) -> list[Array]:
    """The mean resolvents that samples of every step meet, [responses, 2 K, 2 K]: at weak and strong responses, with X
    on its way from that without samples to the solution: about there, by the means of nodes next to each other.
    """
    own, base = arrays["own_rows"], arrays["base"]
    response = _responses(len(arrays["chi"]), _WEAK / max(1.0, float(np.abs(arrays["sample"]).max())), draw)
    x = np.broadcast_to(base, (len(response), *base.shape))
    found: list[list[Array]] = [[] for _ in steps]
    groups = [_grouped(arrays["sample"][..., nodes], arrays["law_tr"][nodes]) for nodes in steps]
    for sweep in range(1, 1 + max(_SWEEPS)):
        mean, wanted = _resolvents(response, x), base
        for rows, (sample, weight), of_step in zip(own, groups, found, strict=True):
            met = rows @ mean @ rows.T
            added = np.einsum("jnpq,n->jpq", _present(sample, met), weight)
            wanted = wanted + rows.T @ added @ rows
            if sweep in _SWEEPS:
                of_step.append(met)
        x = x + _DAMPED * (wanted - x)
    return [np.concatenate(each) for each in found]


def _grouped(sample: Array, weight: Array) -> Pair:
    """The means [G, 2 K, 2 K] of what samples [2 K, 2 K, N] add, over some groups of them, and the weights of these."""
    starts = np.unique(np.linspace(0, len(weight), 1 + min(len(weight), _GROUPS)).astype(int)[:-1])
    of_groups, sums = np.add.reduceat(weight, starts), np.add.reduceat(sample * weight, starts, axis=2)
    found = np.divide(sums, of_groups, out=np.zeros_like(sums), where=of_groups > 0.0)
    return np.moveaxis(found, 2, 0), of_groups


def _present(sample: Array, met: Array, beside: Array | None = None) -> Array:
    """What samples [N, 2 K, 2 K] add, their own presence counted, [responses, N, 2 K, 2 K]; and with that counted what
    stands beside, [N, 2 K, ...].
    """
    (nodes, rows, _), many = sample.shape, len(met)
    met = (sample.reshape(-1, rows) @ met.swapaxes(0, 1).reshape(rows, -1)).reshape(nodes, rows, many, rows)
    matrix = np.eye(rows)[:, :, None, None] + met.transpose(1, 3, 2, 0)
    inverse = inverted_together(matrix.reshape(rows, rows, -1)).reshape(matrix.shape).transpose(2, 3, 0, 1)
    right = sample if beside is None else np.concatenate([sample, beside], axis=2)
    return np.asarray(np.ascontiguousarray(inverse) @ right)


def _parts(nodes: int) -> Iterator[slice]:
    """So many nodes at a time that what leads to their functions has room."""
    yield from (slice(start, start + _AT_A_TIME) for start in range(0, nodes, _AT_A_TIME))


def _responses(blocks: int, weakest: float, draw: np.random.Generator) -> Array:
    """Products V1_hat T: symmetric matrices of any eigenvalues, with diagonal ones."""
    strengths = np.geomspace(weakest, _STRONG, _RESPONSES)
    values = np.stack([draw.permutation(strengths) for _ in range(blocks)], axis=1)
    axes = np.linalg.qr(draw.normal(size=(_RESPONSES, blocks, blocks)))[0]
    t = _APART ** draw.uniform(-1.0, 1.0, (_RESPONSES, blocks))
    return np.asarray((axes * values[:, None]) @ axes.swapaxes(1, 2) * (t / t.max(axis=1, keepdims=True))[:, None])


def _resolvents(response: Array, x: Array) -> Array:
    """The mean resolvents ``(X + (V1_hat T)^-1)^-1``, the inverse in the rows of the blocks themselves."""
    blocks, matrix, right = response.shape[-1], np.array(x), np.zeros_like(x)
    matrix[:, :blocks] = np.eye(*matrix.shape[1:])[:blocks] + response @ x[:, :blocks]
    right[:, :blocks, :blocks], right[:, blocks:, blocks:] = response, np.eye(matrix.shape[1] - blocks)
    return np.linalg.solve(matrix, right)


def _carrying(drawn: Array, least: float) -> tuple[Array, Array]:
    """Which columns are kept, so that the others are less than ``least`` beside these, and the share [kept, N] of every
    column that is each of them.
    """
    triangle, order = qr(drawn, mode="r", pivoting=True)
    many = int(np.count_nonzero(np.abs(np.diag(triangle)) > least))
    share = np.eye(many, drawn.shape[1])
    if many > 0:
        share[:, many:] = solve_triangular(triangle[:many, :many], triangle[:many, many:])
    share[:, order] = share.copy()
    return order[:many], share


def _sizes(step: Mapping[str, Array]) -> Array:
    """How much every node weighs in what it weighs most in, relative."""
    sizes = [np.abs(np.atleast_2d(step[name])) for name in _WEIGHTS]
    of_kinds = [each.max(axis=0) / max(float(each.sum(axis=1).max()), _LEAST) for each in sizes]
    return np.asarray(np.max(of_kinds, axis=0))


def _sums(step: Mapping[str, Array], size: Array) -> Array:
    """The sums over samples that norms go with, in units of the largest of a kind: [sums, 2 K, N]."""
    found = []
    for name in ("along", "earlier"):
        rows = step[name]
        largest = math.sqrt(float(((rows**2) @ size).max()))
        found.append(rows / (largest if largest > 0.0 else 1.0))
    return np.concatenate(found)


def _drawn(step: Mapping[str, Array], met: Array, size: Array, count: int, draw: np.random.Generator) -> Array:
    """Random functions of a sample, [count, N]: products of two of what it adds, of 1, and of sums with its presence
    counted; and of these with sums.
    """
    sums, many, rows = _sums(step, size), len(met), met.shape[1]
    each, present = -(-count // many), rows * len(sums)
    widths = rows**2 + present, rows**2 + present, 1, present, present
    first, second, constant, third, fourth = (draw.normal(size=(many, width, each)) for width in widths)

    def functions(part: slice) -> Array:
        sample, own = (np.ascontiguousarray(of[..., part].T) for of in (step["sample"], sums))
        found = _present(sample.swapaxes(1, 2), met, own)
        one, counted, alone = (of.reshape(*of.shape[:-2], -1) for of in (found, found[..., rows:], own))
        return np.asarray((one @ first) * (one @ second + constant) + (counted @ third) * (alone @ fourth))

    found = [functions(part).swapaxes(1, 2).reshape(many * each, -1) for part in _parts(sums.shape[-1])]
    return np.concatenate(found, axis=1)
