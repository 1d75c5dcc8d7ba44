"""DOT, the language of Graphviz: a small writer, and a parser of plain directed graphs."""

import re
from collections.abc import Hashable, Iterable
from itertools import pairwise

from precede.errors import GraphError

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
    |(?P<quoted>"(?:[^"\\]|\\.)*")
    |(?P<arrow>->|--)
    |(?P<mark>[\[\]{};,=])
    |(?P<bare>-?(?:\.\d+|\d+(?:\.\d*)?)|[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
KEYWORDS = ("graph", "node", "edge")

Token = tuple[str, str]


def written(names: Iterable[Hashable], edges: Iterable[tuple[Hashable, Hashable, str]]) -> str:
    """Digraph of some names and of edges (first, second, attributes)."""
    lines = [f"  {_quoted(name)};" for name in names]
    lines += [f"  {_quoted(first)} -> {_quoted(second)} [{attributes}];" for first, second, attributes in edges]
    return "\n".join(["digraph {", *lines, "}"]) + "\n"


def _quoted(name: Hashable) -> str:
    """Integers stay bare, so that they come back as integers."""
    if isinstance(name, int) and not isinstance(name, bool):
        return str(name)
    text = str(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def read(text: str) -> tuple[list[Hashable], list[tuple[Hashable, Hashable, dict[str, str]]]]:
    """Names and edges of a digraph, the edges (also of chains ``a -> b -> c``) with their attributes."""
    tokens = _tokens(text)
    while tokens and tokens[0][1].lower() != "digraph":
        if tokens[0][1].lower() != "strict":
            raise GraphError("the DOT text is not a digraph.")
        tokens.pop(0)
    opening = next((k for k, token in enumerate(tokens) if token == ("mark", "{")), -1)
    if opening not in (1, 2) or tokens[-1] != ("mark", "}"):
        raise GraphError("the DOT text must be a digraph with its statements in braces.")
    nodes, edges = _statements(tokens[opening + 1 : -1])
    integers = all(kind == "bare" and re.fullmatch(r"-?\d+", name) for kind, name in nodes)
    named: dict[Token, Hashable] = {node: int(node[1]) if integers else node[1] for node in nodes}
    names = list(dict.fromkeys(named.values()))  # "a" and a are the same node
    return names, [(named[a], named[b], attributes) for a, b, attributes in edges]


def _tokens(text: str) -> list[Token]:
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


def _statements(tokens: list[Token]) -> tuple[list[Token], list[tuple[Token, Token, dict[str, str]]]]:
    """Nodes and edges, read statement after statement."""
    nodes: dict[Token, None] = {}
    edges: list[tuple[Token, Token, dict[str, str]]] = []
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
        edges += [(a, b, attributes) for a, b in pairwise(chain)]
    return list(nodes), edges


def _attributes(tokens: list[Token], k: int) -> tuple[dict[str, str], int]:
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
