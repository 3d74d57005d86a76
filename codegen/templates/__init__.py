"""Sources of the emitted modules: Python that is copied, and text with places to fill."""

from importlib import resources


def read(name: str) -> str:
    """Text of a template without its last line end."""
    return resources.files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8").strip()
