"""DOT, the language of Graphviz: a small writer, and a parser of plain directed graphs."""

from __future__ import annotations

import re
from collections.abc import Hashable
from itertools import pairwise

from precede.errors import GraphError
from precede.graph.formats import Parts, edges_of, parts_of_edges, text_names

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
    |(?P<quoted>"(?:[^"\\]|\\.)*")
    |(?P<arrow>->|--)
    |(?P<mark>[\[\]{};,=])
    |(?P<bare>-?(?:\.\d+|\d+(?:\.\d*)?)|[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
KEYWORDS = ("graph", "node", "edge")


def to_dot(parts: Parts) -> str:
    """Digraph whose edges carry their weight as ``strength`` (exact) and as ``label`` (three digits).

    Graphviz has a ``weight`` of its own, which must not be negative.
    """
    text_names(parts.names)  # refuses names that would become the same
    lines = [f"  {_quoted(name)};" for name in parts.names]
    for cause, effect, weight in edges_of(parts):
        lines.append(f'  {_quoted(cause)} -> {_quoted(effect)} [strength="{weight!r}", label="{weight:.3g}"];')
    return "\n".join(["digraph {", *lines, "}"]) + "\n"


def _quoted(name: Hashable) -> str:
    """Integers stay bare, so that they come back as integers."""
    if isinstance(name, int) and not isinstance(name, bool):
        return str(name)
    text = str(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def from_dot(text: str) -> Parts:
    """Parts of a digraph: nodes, edges (also chains ``a -> b -> c``) and their attributes.

    An edge's weight is its ``strength``, else its ``weight``, else its ``label`` where that is a number, else 1.
    """
    tokens = _tokens(text)
    while tokens and tokens[0][1].lower() != "digraph":
        if tokens[0][1].lower() != "strict":
            raise GraphError("the DOT text is not a digraph.")
        tokens.pop(0)
    opening = next((k for k, token in enumerate(tokens) if token == ("mark", "{")), -1)
    if opening not in (1, 2) or tokens[-1] != ("mark", "}"):
        raise GraphError("the DOT text must be a digraph with its statements in braces.")
    return _parts(tokens[opening + 1 : -1])


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens, start = [], 0
    while start < len(text):
        match = TOKEN.match(text, start)
        if match is None:
            raise GraphError(f"the DOT text has {text[start : start + 10]!r} at {start}, which is not understood.")
        kind = str(match.lastgroup)
        if kind == "quoted":
            tokens.append((kind, re.sub(r"\\([\"\\])", r"\1", match.group()[1:-1])))
        elif kind != "skip":
            tokens.append((kind, match.group()))
        start = match.end()
    return tokens


def _parts(tokens: list[tuple[str, str]]) -> Parts:
    """Read statement after statement."""
    nodes: dict[tuple[str, str], None] = {}
    edges: list[tuple[tuple[str, str], tuple[str, str], float]] = []
    k = 0
    while k < len(tokens):
        if tokens[k] in (("mark", ";"), ("mark", ",")):
            k += 1
            continue
        chain = [tokens[k]]
        k += 1
        while k + 1 < len(tokens) and tokens[k][0] == "arrow":
            if tokens[k][1] == "--":
                raise GraphError("the DOT text has undirected edges (--): a causal graph needs ->.")
            chain.append(tokens[k + 1])
            k += 2
        if any(kind not in ("quoted", "bare") for kind, _ in chain):
            raise GraphError("the DOT text has subgraphs or stray marks: only plain nodes and edges can be read.")
        if len(chain) == 1 and tokens[k : k + 1] == [("mark", "=")]:  # an attribute of the graph
            k += 2
            continue
        attributes, k = _attributes(tokens, k)
        if chain[0][0] == "bare" and chain[0][1].lower() in KEYWORDS:
            continue
        nodes.update(dict.fromkeys(chain))
        edges += [(a, b, _weight(attributes)) for a, b in pairwise(chain)]
    integers = all(kind == "bare" and re.fullmatch(r"-?\d+", text) for kind, text in nodes)
    named: dict[tuple[str, str], Hashable] = {node: int(node[1]) if integers else node[1] for node in nodes}
    names = list(dict.fromkeys(named.values()))  # "a" and a are the same node
    return parts_of_edges(names, [(named[a], named[b], weight) for a, b, weight in edges])


def _attributes(tokens: list[tuple[str, str]], k: int) -> tuple[dict[str, str], int]:
    """Read ``[key=value, ...]`` lists from position k on."""
    attributes: dict[str, str] = {}
    while tokens[k : k + 1] == [("mark", "[")]:
        closing = next((j for j in range(k, len(tokens)) if tokens[j] == ("mark", "]")), -1)
        if closing < 0:
            raise GraphError("the DOT text has an attribute list that is not closed.")
        inside = tokens[k + 1 : closing]
        for j in range(1, len(inside) - 1):
            if inside[j] == ("mark", "="):
                attributes[inside[j - 1][1]] = inside[j + 1][1]
        k = closing + 1
    return attributes, k


def _weight(attributes: dict[str, str]) -> float:
    for key in ("strength", "weight", "label"):
        try:
            return float(attributes[key])
        except (KeyError, ValueError):
            continue
    return 1.0
