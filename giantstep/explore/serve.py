"""The page in a browser, served to this machine alone; and in a notebook."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from giantstep.explore.page import explorer, movable, require_panel
from giantstep.spec.errors import BadInput
from giantstep.spec.given import hands_over
from giantstep.spec.model import Model

if TYPE_CHECKING:
    import panel

_HOME = "127.0.0.1"


@hands_over
def explore(model: Model) -> panel.viewable.Viewable:
    """Sliders for the main numbers of a model, with its curves beside them: shows itself in a notebook.

    Raises BadInput where panel is not installed (the extra ``explore``).
    """
    return explorer(model)


@hands_over
def serve(model: Model, port: int = 0, *, browser: bool = True, threaded: bool = False) -> Any:
    """Serve the page of a model at 127.0.0.1, at any free port for 0; returns when it is stopped.

    threaded: return at once the thread that serves it, which has a ``stop``. Raises BadInput for a port in use.
    """
    panel = require_panel()
    movable(model)  # a model without sliders is refused before a page opens
    port = port or free_port()
    try:
        return panel.serve(
            {"/": lambda: explorer(model)},
            address=_HOME,
            port=port,
            websocket_origin=[f"{_HOME}:{port}", f"localhost:{port}"],  # no page from elsewhere may talk to it
            show=browser,
            title="giantstep",
            threaded=threaded,
        )
    except OSError as error:
        raise BadInput(f"the page cannot be served at port {port}: {error.strerror}", "give another --port") from None


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as tried:
        tried.bind((_HOME, 0))
        found: int = tried.getsockname()[1]
        return found
