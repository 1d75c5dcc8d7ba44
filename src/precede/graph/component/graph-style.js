// How nodes and edges look, in the colors of the page.
export const HEIGHT = 28;

export function styleOf(c, font) {
  const edge = (color) => ({ "line-color": color, "target-arrow-color": color, "source-arrow-color": color });
  return [
    { selector: "node", style: { shape: "round-rectangle", "corner-radius": 8, width: "data(width)", height: HEIGHT, label: "data(label)", "text-valign": "center", "text-halign": "center",
      "font-family": font, "font-size": 13, "font-weight": 500, "min-zoomed-font-size": 5, color: c.ink, "background-color": c.paper, "border-width": 1.1, "border-color": c.line, "overlay-opacity": 0 } },
    { selector: "edge", style: { width: "data(thick)", opacity: "data(sure)", "curve-style": "unbundled-bezier", "edge-distances": "endpoints", "source-endpoint": "90deg", "target-endpoint": "270deg",
      "control-point-distances": "data(distances)", "control-point-weights": "data(weights)", "target-arrow-shape": "triangle", "arrow-scale": 0.9, "overlay-opacity": 0, ...edge(c.line),
      "font-family": font, "font-size": 11, color: c.soft, "text-background-color": c.panel, "text-background-opacity": 0.9, "text-background-padding": 2 } },
    { selector: "edge.bowed", style: { "edge-distances": "node-position", "source-endpoint": "outside-to-node", "target-endpoint": "outside-to-node" } },
    { selector: "edge.negative", style: edge(c.negative) },
    { selector: "edge.doubtful", style: { "line-style": "dashed" } },
    { selector: "edge.line, edge.open", style: { "target-arrow-shape": "none" } },
    { selector: "edge.half, edge.open", style: { "source-arrow-shape": "circle", "source-arrow-fill": "hollow" } },
    { selector: "edge.open", style: { "target-arrow-shape": "circle", "target-arrow-fill": "hollow" } },
    { selector: "edge.shared", style: { ...edge(c.warn), width: 1.4, "line-style": "dotted", "source-arrow-shape": "triangle", opacity: 0.75 } },
    { selector: "edge.added, edge.turned", style: { ...edge(c.added), label: "data(words)", color: c.added, "font-weight": 600 } },
    { selector: "edge.removed", style: { ...edge(c.removed), width: 1.6, "line-style": "dotted", label: "data(words)", color: c.removed, opacity: 0.8 } },
    { selector: "node.lit", style: { "border-color": c.accent, "border-width": 1.8 } },
    { selector: "edge.lit", style: { ...edge(c.accent), opacity: 1, label: "data(words)", color: c.accent, "z-index": 5 } },
    { selector: "node.chosen", style: { "background-color": c["accent-soft"], "border-width": 2.6 } },
    { selector: "edge.chosen", style: { width: 5 } },
    { selector: "node.faded", style: { opacity: 0.32 } },
    { selector: "edge.faded", style: { opacity: 0.12 } },
    { selector: ".off", style: { display: "none" } },
  ];
}
