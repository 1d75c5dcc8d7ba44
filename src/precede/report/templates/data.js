// The data of the page.
const data = JSON.parse(document.getElementById("data").textContent);
// numbers of plots travel as their range and a byte each, tables column by column
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const unpacked = (packed) => packed && [...bytes(packed[2])].map((byte) => packed[0] + (packed[1] - packed[0]) * byte / 255);
const records = (columns) => Object.values(columns)[0].map((_, k) => Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[k]])));
const nodes = records(data.nodes), edges = records(data.edges), sharedCauses = data.graph.edges.slice(edges.length);
nodes.forEach((node) => { node.values = unpacked(node.values); node.grid = unpacked(node.grid); });
// a density is a square of bytes, column after column
const square = (cells, n = Math.round(Math.sqrt(cells.length))) => Array.from({ length: n }, (_, i) => cells.slice(i * n, (i + 1) * n));
edges.forEach((edge) => { edge.points = unpacked(edge.points); edge.curve = unpacked(edge.curve); edge.density = edge.density && square([...bytes(edge.density)]); });

const byId = (id) => document.getElementById(id);
const totalEffect = ({ value, low, high }) => value === null ? `${number(low)} to ${number(high)}, by its direction` : `${number(value)} (${number(low)} to ${number(high)})`;
const joint = (edge) => ({ half: "o→", open: "o–o" })[edge.mark] ?? (edge.source === "open" ? "–" : "→");
