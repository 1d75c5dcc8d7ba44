// The graph, sliders, the table, files to take away, light and dark.
const visible = edges.map(() => true);
function show(item) {
  if (item === null) card.replaceChildren(...hint.map((child) => child.cloneNode(true)));
  else if (item.kind === "node") nodeCard(item.index);
  else if (item.index < edges.length) edgeCard(item.index);
  else sharedCard(data.graph.edges[item.index]);
}
// the graph is as high as it needs to be, and no higher than what is left of the first screen
const place = byId("graph"), left = window.innerHeight - place.getBoundingClientRect().top - window.scrollY - 12;
const rowsHigh = Math.max(...data.graph.nodes.map((node) => node.y)) * 1.3 + 130;
place.style.height = `${Math.max(380, Math.min(left, nodes.length > 60 ? Infinity : rowsHigh, 1000))}px`;
// the wheel scrolls the page; two fingers, + and − zoom
const view = new GraphView(place, { onSelect: show, onPoint: show, title: `Causal graph of ${data.title}`, wheel: "ctrl" });

const rows = new Map([...document.querySelectorAll("#edges tbody tr")].map((row) => [Number(row.dataset.edge), row]));
edges.forEach((edge, k) => {
  const names = [nodes[edge.cause].name, nodes[edge.effect].name];
  const button = el("button", { type: "button", class: "show", "aria-label": `Show ${names[0]} and ${names[1]} in the graph` }, "show");
  rows.get(k).lastElementChild.replaceChildren(button);
  button.addEventListener("click", () => {
    byId("graph").scrollIntoView({ block: "nearest" });
    view.choose({ kind: "edge", index: k });
  });
});

byId("controls").addEventListener("submit", (event) => event.preventDefault());
const strength = byId("strength-slider"), confidence = byId("confidence-slider");
const largest = Number(strength.dataset.largest);
function filter() {
  const weakest = strength.value / 100 * largest;
  const least = confidence ? Number(confidence.value) : 0;
  byId("strength-value").textContent = weakest.toFixed(2);
  if (confidence) byId("confidence-value").textContent = least.toFixed(2);
  edges.forEach((edge, k) => {
    visible[k] = (edge.strength ?? 0) >= weakest - 1e-12 && (!confidence || (edge.confidence ?? 0) >= least - 1e-12);
    rows.get(k).classList.toggle("off", !visible[k]); // the table has every edge
  });
  const shared = byId("sharedCauses")?.checked;
  view.filter((_, k) => k < edges.length ? visible[k] : shared);
  byId("visible-edges").textContent = visible.filter(Boolean).length;
}
strength.addEventListener("input", filter);
if (confidence) confidence.addEventListener("input", filter);
byId("sharedCauses")?.addEventListener("change", filter);

// the table
const body = document.querySelector("#edges tbody");
document.querySelectorAll("#edges thead th[aria-sort]").forEach((head, column) => {
  head.firstElementChild.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") === (head.classList.contains("number") ? "descending" : "none") ||
      head.getAttribute("aria-sort") === "descending";
    document.querySelectorAll("#edges thead th[aria-sort]").forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const size = (value) => typeof value === "object" && value ? value.value ?? (value.low + value.high) / 2 : value ?? 0;
    const key = (row) => head.dataset.key ? size(edges[row.dataset.edge][head.dataset.key]) : row.cells[column].textContent;
    const compare = (a, b) => typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
    [...body.rows].sort((a, b) => compare(key(a), key(b)) * (up ? 1 : -1)).forEach((row) => body.append(row));
  });
});

// files to take away: they are in the page, compressed
function save(blob, name) {
  const link = el("a", { download: name, href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
document.querySelectorAll(".download[data-gzip]").forEach((button) => button.addEventListener("click", async () => {
  const stream = new Blob([bytes(button.dataset.gzip)]).stream().pipeThrough(new DecompressionStream("gzip"));
  save(new Blob([await new Response(stream).arrayBuffer()], { type: button.dataset.type }), button.textContent);
}));

// light and dark
const theme = byId("theme");
function paint(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  theme.textContent = dark ? "Light" : "Dark";
  view.repaint();
}
paint(window.matchMedia("(prefers-color-scheme: dark)").matches);
theme.addEventListener("click", () => paint(document.documentElement.dataset.theme !== "dark"));

// on a narrow page every row of a table is a card, with the heads as labels
document.querySelectorAll("table.cards").forEach((table) => {
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
  [...table.tBodies[0].rows].forEach((row) => [...row.cells].forEach((cell, k) => { if (heads[k] && k && cell.tagName === "TD" && k < heads.length - (table.id === "edges")) cell.dataset.label = heads[k]; }));
});

// on paper nothing is folded, and the graph is a picture of what is shown, in the colors of the day
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  const dark = document.documentElement.dataset.theme === "dark";
  if (dark) paint(false);
  const picture = new DOMParser().parseFromString(view.picture(), "image/svg+xml").documentElement;
  byId("on-paper").replaceChildren(document.importNode(picture, true));
  if (dark) paint(true);
});

strength.value = data.outcome === null ? startingStrength(edges, nodes.length) : 0;
await view.show(data.graph, data.outcome);
filter();
document.documentElement.dataset.ready = "";
