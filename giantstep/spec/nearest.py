"""Hints for keys that a model does not have: those it has that are near, or what the table holds."""

import difflib
from collections.abc import Collection

_MOST = 3  # that a hint asks after

#: Keys by the symbols of the papers, and by what other programs call them.
_OTHER_NAMES = {
    name: key
    for key, names in {
        "learning_rate": "lr rate eta eta_tilde step_size stepsize",
        "samples": "n n0 alpha alpha0 alpha_0 batch_size n_samples",
        "ridge": "lambda lam lambda_ l2 reg regularization regularisation weight_decay",
        "width": "p beta neurons hidden n_hidden",
        "activation": "sigma sigma_ nonlinearity act",
        "link": "sigma_star f_star function teacher",
        "strength": "r",
        "alignment": "gamma overlap",
        "bulk_variance": "c variance",
    }.items()
    for name in names.split()
}

#: What a model cannot have, and why, by what other programs call it.
_ABSENT = {
    name: reason
    for reason, names in {
        "a network has two layers: the first one takes the giant steps, the second one is fitted": "depth layers "
        "n_layers num_layers hidden_layers",
        "the fit goes to its minimum, and each table [[step]] is one giant step": "epochs n_epochs iterations n_iter "
        "max_iter n_steps num_steps",
    }.items()
    for name in names.split()
}


def nearest(key: object, known: Collection[str], where: str) -> str:
    """Why no model has such a key; or up to three of the known keys that are near; or else all that are there."""
    if reason := _ABSENT.get(str(key).lower()):
        return reason
    near = _closest(str(key), known, _MOST)
    return _question(near) if near else f"{where} has the keys {', '.join(known)}"


def nearest_keys(key: object, known: Collection[str]) -> str:
    """The same for a dotted key: why there is none; or what is near in its table, or else anywhere; or the keys of the
    table, or the tables.

    Of one of several steps the table is step.2.
    """
    if reason := _ABSENT.get(str(key).lower().rpartition(".")[2]):
        return reason
    first, _, rest = str(key).partition(".")
    number, _, after = rest.partition(".")
    table, rest = (f"{first}.{number}", after) if first == "step" and number.isdigit() else (first, rest)
    inside = tuple(name.removeprefix(f"{first}.") for name in known if name.startswith(f"{first}."))
    elsewhere = tuple(name for name in known if not name.startswith(f"{first}.") and (name != first or not inside))
    near = [f"{table}.{name}" for name in _closest(rest, inside, _MOST)] or _closest(str(key), elsewhere)
    if near:
        return _question(near)
    if inside:
        return f"[{table}] has the keys {', '.join(name for name in inside if '.' not in name)}"
    tables = dict.fromkeys(name.partition(".")[0] for name in known)
    return f"a model has the tables {', '.join(f'[{name}]' for name in tables)}"


def _closest(word: str, known: Collection[str], most: int = 1) -> list[str]:
    other = _OTHER_NAMES.get(word.lower(), "")
    return [other] if other in known else difflib.get_close_matches(word[:50].lower(), known, n=most)


def _question(words: list[str]) -> str:
    *first, last = (f"'{word}'" for word in words)
    return f"did you mean {', '.join(first)}{' or ' * bool(first)}{last}?"
