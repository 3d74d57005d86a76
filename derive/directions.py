"""Names of what there is one of for every direction of target and spike, or for every number of them."""

from __future__ import annotations


def directions_of(name: str, count: int) -> tuple[str, ...]:
    """Names of a vector over the ``count`` directions of the target beside the spike: one keeps the plain name."""
    return (name,) if count == 1 else tuple(f"{name}_{i + 1}" for i in range(count))


def weight_name(first: int, second: int, spikes: int, directions: int) -> str:
    """Name of the weight between two directions: law_vv, law_vo or law_oo, numbered where there are several."""
    first, second = sorted((first, second))
    if second < spikes:
        return "law_vv" if spikes == 1 else f"law_vv_{first + 1}_{second + 1}"
    if first < spikes:
        names = directions_of("law_vo", directions)
        return names[second - spikes] if spikes == 1 else f"law_vo_{first + 1}_{second - spikes + 1}"
    return "law_oo" if directions == 1 else f"law_oo_{first - spikes + 1}_{second - spikes + 1}"


def norm_weight_names(directions: int = 1, spikes: int = 1) -> tuple[str, ...]:
    """Names of the weights between spike and target and the direction of the norms, [K] at every point."""
    return (*directions_of("law_vn", spikes), *directions_of("law_on", directions))


def system_name(law: str, directions: int = 1, spikes: int = 1) -> str:
    """Name of the module of a system: "square" or that of its spectral law, and its numbers of directions beyond one.

    directions: of the target beside the spike, as many as its indices; spikes: of the spike, its rank.
    """
    return law + f"_indices_{directions}" * (directions > 1) + f"_rank_{spikes}" * (spikes > 1)
