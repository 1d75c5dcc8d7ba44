"""The files of the component, to be served one by one or written into a page."""

from __future__ import annotations

import re
from importlib.resources import files

FILES = {
    "graph-view.css": "text/css",
    "graph-view.js": "text/javascript",
    "graph-layout.js": "text/javascript",
    "graph-picture.js": "text/javascript",
    "vendor/cytoscape.min.js": "text/javascript",
    "vendor/elk-worker.min.js": "text/javascript",
}
"""What a page may ask for, with its type."""

BETWEEN_THEM = re.compile(r'^import \{[^}]*\} from "\./[\w-]+\.js";\n', re.MULTILINE)


def component_file(name: str) -> bytes:
    """The content of one of :data:`FILES`."""
    if name not in FILES:
        raise KeyError(name)
    return files(__package__).joinpath(name).read_bytes()


def inline_module(layout: bool = False) -> str:
    """The component as one text for ``<script type="module">``, without Cytoscape.js, which goes before it.

    Parameters
    ----------
    layout : bool
        Whether ``graph-layout.js`` is in it: not needed where the graph brings its places (:func:`payload`).

    Examples
    --------
    >>> "import " in inline_module()
    False
    """
    names = ["graph-picture.js", *(["graph-layout.js"] if layout else []), "graph-view.js"]
    return "\n".join(BETWEEN_THEM.sub("", component_file(name).decode("utf-8")) for name in names)
