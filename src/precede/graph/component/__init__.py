"""The graph component of the studio, the report and notebooks: its files, and a graph in the shape that it shows.

``graph-view.js`` says at its top what it is given. Cytoscape.js and ELK lie beside it, with their licenses, in
``vendor``.
"""

from precede.graph.component.assets import component_file, inline_module, policy_hash
from precede.graph.component.payload import ShownEdge, ShownGraph, payload
from precede.graph.component.widget import GraphWidget, widget

__all__ = [
    "GraphWidget",
    "ShownEdge",
    "ShownGraph",
    "component_file",
    "inline_module",
    "payload",
    "policy_hash",
    "widget",
]
