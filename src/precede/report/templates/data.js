// The data of the page, and small tools for building elements: text is always set as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
// numbers of plots travel as their range and a byte each, tables column by column
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const unpacked = (packed) => packed && [...bytes(packed[2])].map((byte) => packed[0] + (packed[1] - packed[0]) * byte / 255);
const records = (columns) => Object.values(columns)[0].map((_, k) => Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[k]])));
const nodes = records(data.nodes), edges = records(data.edges), suspicions = data.graph.edges.slice(edges.length);
nodes.forEach((node) => { node.values = unpacked(node.values); node.grid = unpacked(node.grid); });
edges.forEach((edge) => { edge.points = unpacked(edge.points); edge.curve = unpacked(edge.curve); });

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
function build(make, tag, attributes, children) {
  const element = make(tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}
const html = (tag, attributes = {}, ...children) => build((name) => document.createElement(name), tag, attributes, children);
const drawn = (tag, attributes = {}, ...children) => build((name) => document.createElementNS(SVG, name), tag, attributes, children);

const text = (value, digits = 3) => {
  if (value === null) return "–";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(digits - 1) : Number(value.toPrecision(digits)).toLocaleString("en");
};
const pValue = (value) => value === null ? "–" : value < 1e-10 ? "< 1e-10" : String(Number(value.toPrecision(2)));
const trends = { rising: "rises with the cause", falling: "falls as the cause rises", mixed: "no single direction" };
const directions = { "told": "told by the data", "either way": "either way", "not claimed": "not claimed" };
const totalEffect = ({ value, low, high }) => value === null ? `${text(low)} to ${text(high)}, by its direction` : `${text(value)} (${text(low)} to ${text(high)})`;
const joint = (edge) => edge.direction === "told" ? "→" : "–";
