// A graph as it is shown, as the text of an SVG file: plain shapes, colors written out, names escaped by the DOM.
const SVG = "http://www.w3.org/2000/svg", MARGIN = 24;

export function pictureOf(cy, title, colors, font) {
  const shown = cy.elements(":visible"), box = shown.boundingBox({ includeOverlays: false });
  const drawn = (tag, attributes, ...children) => {
    const element = document.createElementNS(SVG, tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.append(...children);
    return element;
  };
  const [width, height] = [Math.max(box.w, 1) + 2 * MARGIN, Math.max(box.h, 1) + 2 * MARGIN].map(Math.ceil);
  const svg = drawn("svg", { xmlns: SVG, width, height, viewBox: `${round(box.x1 - MARGIN)} ${round(box.y1 - MARGIN)} ${width} ${height}` },
    drawn("title", {}, title),
    drawn("rect", { x: round(box.x1 - MARGIN), y: round(box.y1 - MARGIN), width, height, fill: colors.panel }));
  shown.edges().forEach((edge) => {
    const stroke = edge.style("line-color"), opacity = edge.style("opacity");
    const group = drawn("g", { opacity }, drawn("path", { d: pathOf(edge), fill: "none", stroke, "stroke-width": parseFloat(edge.style("width")), ...dashes(edge) }));
    if (edge.style("target-arrow-shape") !== "none") group.append(tip(drawn, edge.targetEndpoint(), before(edge, "end"), stroke, edge.style("target-arrow-shape")));
    if (edge.style("source-arrow-shape") !== "none") group.append(tip(drawn, edge.sourceEndpoint(), before(edge, "start"), stroke, edge.style("source-arrow-shape")));
    svg.append(group);
  });
  shown.nodes().forEach((node) => {
    const { x, y } = node.position(), w = node.width(), h = node.height();
    svg.append(drawn("g", {},
      drawn("title", {}, node.data("name")),
      drawn("rect", { x: round(x - w / 2), y: round(y - h / 2), width: round(w), height: round(h), rx: 8, fill: node.style("background-color"), stroke: node.style("border-color"), "stroke-width": parseFloat(node.style("border-width")) }),
      drawn("text", { x: round(x), y: round(y + 4.5), "text-anchor": "middle", fill: colors.ink, "font-family": font, "font-size": 13, "font-weight": 500 }, node.data("label"))));
  });
  return new XMLSerializer().serializeToString(svg);
}

const round = (value) => Math.round(value * 10) / 10;
const at = ({ x, y }) => `${round(x)} ${round(y)}`;
const dashes = (edge) => edge.style("line-style") === "solid" ? {} : { "stroke-dasharray": edge.style("line-style") === "dotted" ? "1.5 4" : "6 4" };
const middle = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });

function pathOf(edge) {
  const start = edge.sourceEndpoint(), end = edge.targetEndpoint(), bends = edge.controlPoints() ?? [];
  if (!bends.length) return `M${at(start)}L${at(end)}`;
  return `M${at(start)}` + bends.map((bend, k) => `Q${at(bend)} ${at(k === bends.length - 1 ? end : middle(bend, bends[k + 1]))}`).join("");
}
function before(edge, side) {
  const bends = edge.controlPoints() ?? [];
  if (side === "end") return bends[bends.length - 1] ?? edge.sourceEndpoint();
  return bends[0] ?? edge.targetEndpoint();
}
function tip(drawn, end, from, fill, shape) {
  if (shape === "circle") return drawn("circle", { cx: round(end.x), cy: round(end.y), r: 4, fill: "none", stroke: fill });
  const size = Math.hypot(end.x - from.x, end.y - from.y) || 1, u = { x: (end.x - from.x) / size, y: (end.y - from.y) / size };
  const corner = (side) => ({ x: end.x - 9 * u.x - side * 4 * u.y, y: end.y - 9 * u.y + side * 4 * u.x });
  return drawn("path", { d: `M${at(end)}L${at(corner(1))}L${at(corner(-1))}Z`, fill });
}
