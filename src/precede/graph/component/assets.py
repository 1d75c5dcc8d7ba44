"""The files of the component, to be served one by one or written into a page."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

FILES = {
    "elements.js": "text/javascript",
    "edge-plots.js": "text/javascript",
    "graph-view.css": "text/css",
    "graph-view.js": "text/javascript",
    "graph-layers.js": "text/javascript",
    "graph-layout.js": "text/javascript",
    "graph-picture.js": "text/javascript",
    "graph-style.js": "text/javascript",
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


def inline_module(*more: str) -> str:
    """The component as one text for ``<script type="module">``, without Cytoscape.js, which goes before it.

    Parameters
    ----------
    more : str
        Other :data:`FILES` that the page needs, in the sequence in which they need each other.

    Notes
    -----
    ELK is not in it: a page that serves no files takes the places that Python computed (:func:`payload`), and the small
    layout of ``graph-layers.js`` for neighborhoods.

    Examples
    --------
    >>> "import " in inline_module()
    False
    """
    names = [*more, "graph-layers.js", "graph-picture.js", "graph-style.js", "graph-view.js"]
    return "\n".join(BETWEEN_THEM.sub("", component_file(name).decode("utf-8")) for name in names)


def policy_hash(code: str) -> str:
    """A script as a page's content policy names it, so that it may run where it stands in the page.

    Examples
    --------
    >>> policy_hash("alert(1)")[:12]
    "'sha256-bhHH"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"
