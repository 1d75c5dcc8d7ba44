"""The graph component of the studio, the report and notebooks: its files, and a graph on a page of its own.

``graph-view.js`` says at its top what it is given (``payload.py``). Cytoscape.js and ELK lie beside it, with their
licenses, in ``vendor``.
"""

import base64
import hashlib
import html
import json
import os
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from precede.files import write_text
from precede.graph.component.payload import ShownEdge as ShownEdge
from precede.graph.component.payload import ShownGraph as ShownGraph
from precede.graph.component.payload import payload as payload

FILES = (
    "elements.js", "edge-plots.js", "graph-view.css", "graph-view.js", "graph-layers.js", "graph-layout.js",
    "graph-picture.js", "graph-style.js", "vendor/cytoscape.min.js", "vendor/elk-worker.min.js",
)  # fmt: skip
"""What a page may ask for."""

BETWEEN_THEM = re.compile(r'^import \{[^}]*\} from "\./[\w-]+\.js";\n', re.MULTILINE)


def component_file(name: str) -> bytes:
    """The content of one of :data:`FILES`."""
    if name not in FILES:
        raise KeyError(name)
    return _read(name)


def _read(name: str) -> bytes:
    return files(__name__).joinpath(name).read_bytes()


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


@dataclass(frozen=True, repr=False)
class GraphWidget:
    """A graph to look at, zoom, search and save as a picture; a notebook shows it.

    Parameters
    ----------
    page : str
        A whole page of HTML that fetches nothing.
    height : int
        Of its frame, in pixels.
    """

    page: str
    height: int

    def _repr_html_(self) -> str:
        frame = f"width:100%;height:{self.height}px;border:0"
        return (
            f'<iframe srcdoc="{html.escape(self.page)}" style="{frame}" sandbox="allow-scripts allow-downloads" '
            'title="Causal graph"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<GraphWidget of {len(self.page) / 1000:.0f} KB: a notebook shows it, save(path) writes it as a page>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, for a browser."""
        write_text(Path(path), self.page)


def widget(shown: ShownGraph, title: str, height: int) -> GraphWidget:
    """A page around what :func:`precede.graph.component.payload` gives."""
    library, script = (part.decode("utf-8") for part in (component_file("vendor/cytoscape.min.js"), _read("page.js")))
    script = f"{inline_module()}\n{script}"
    data = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    page = Template(_read("page.html").decode("utf-8")).substitute(
        policy=f"{policy_hash(library)} {policy_hash(script)}",
        title=html.escape(title),
        style=component_file("graph-view.css").decode("utf-8"),
        data=data,
        library=library,
        script=script,
    )
    return GraphWidget(page, height)
