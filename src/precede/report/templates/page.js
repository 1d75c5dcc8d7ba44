// Sliders, search, the table, files to take away, light and dark.
const rows = new Map([...document.querySelectorAll("#edges tbody tr")].map((row) => [Number(row.dataset.edge), row]));
const cells = document.querySelectorAll("#cells rect");
edges.forEach((edge, k) => {
  const names = [nodes[edge.cause].name, nodes[edge.effect].name];
  const button = html("button", { type: "button", class: "show", "aria-label": `Show ${names[0]} and ${names[1]} in the graph` }, "show");
  rows.get(k).lastElementChild.replaceChildren(button);
  button.addEventListener("click", () => {
    byId("graph-heading").scrollIntoView();
    focus({ kind: "edge", index: k });
  });
  cells[k].append(drawn("title", {}, `${names[0]} ${joint(edge)} ${names[1]}: strength ${text(edge.strength)}`));
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
    edgeGroups[k].classList.toggle("off", !visible[k]);
    rows.get(k).hidden = !visible[k];
  });
  byId("visible-edges").textContent = visible.filter(Boolean).length;
}
strength.addEventListener("input", filter);
if (confidence) confidence.addEventListener("input", filter);

// a part of a name finds variables; one variable shows all that leads to it and all it leads to
function followed(index) {
  const found = lineage(index);
  pinned = { kind: "node", index };
  light(found.nodes, found.edges, [index]);
  nodeCard(index);
  lookAt(found.nodes);
}
byId("find").addEventListener("input", (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  if (!wanted) { clear(); fit(); return; }
  const exact = nodes.findIndex((node) => node.name.toLowerCase() === wanted);
  const found = exact >= 0 ? [exact] : nodes.flatMap((node, k) => node.name.toLowerCase().includes(wanted) ? [k] : []);
  if (found.length === 1) { followed(found[0]); return; }
  if (!found.length) { clear(); card.replaceChildren(html("p", { class: "hint" }, "No variable has that in its name.")); return; }
  pinned = { kind: "node", index: found[0] };
  light(found, [], found);
  lookAt(found);
  const buttons = found.slice(0, 40).map((k) => {
    const button = html("button", { type: "button" }, nodes[k].name);
    button.addEventListener("click", () => followed(k));
    return html("li", {}, button);
  });
  card.replaceChildren(html("h3", {}, `${found.length} variables`), html("ul", { class: "matches" }, ...buttons));
});

// the table
const body = document.querySelector("#edges tbody");
document.querySelectorAll("#edges thead th[aria-sort]").forEach((head, column) => {
  head.firstElementChild.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") === (head.classList.contains("number") ? "descending" : "none") ||
      head.getAttribute("aria-sort") === "descending";
    document.querySelectorAll("#edges thead th[aria-sort]").forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => head.dataset.key ? edges[row.dataset.edge][head.dataset.key] ?? 0 : row.cells[column].textContent;
    const compare = (a, b) => typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
    [...body.rows].sort((a, b) => compare(key(a), key(b)) * (up ? 1 : -1)).forEach((row) => body.append(row));
  });
});

// files to take away: the formats are in the page, compressed; the pictures are made from the graph as it is shown
function save(blob, name) {
  const link = html("a", { download: name, href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
document.querySelectorAll(".download[data-gzip]").forEach((button) => button.addEventListener("click", async () => {
  const stream = new Blob([bytes(button.dataset.gzip)]).stream().pipeThrough(new DecompressionStream("gzip"));
  save(new Blob([await new Response(stream).arrayBuffer()], { type: button.dataset.type }), button.textContent);
}));
const PAINTED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "display", "marker-end"];
function pictureText() {
  const copy = svg.cloneNode(true), originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, k) => {
    const style = getComputedStyle(originals[k]);
    PAINTED.forEach((name) => element.setAttribute(name, style.getPropertyValue(name)));
    ["class", "style", "tabindex", "role", "aria-label", "data-node", "data-edge"].forEach((name) => element.removeAttribute(name));
  });
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("viewBox", `0 0 ${full.w} ${full.h}`);
  copy.setAttribute("width", full.w);
  copy.setAttribute("height", full.h);
  copy.prepend(drawn("title", {}, data.title), drawn("rect", { width: full.w, height: full.h, fill: getComputedStyle(svg.parentElement).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}
const pictureBlob = () => new Blob([pictureText()], { type: "image/svg+xml" });
byId("save-svg").addEventListener("click", () => save(pictureBlob(), "graph.svg"));
byId("save-png").addEventListener("click", () => {
  const scale = Math.min(3, 8000 / Math.max(full.w, full.h)), image = new Image(), source = URL.createObjectURL(pictureBlob());
  image.addEventListener("load", () => {
    const canvas = html("canvas", { width: Math.round(full.w * scale), height: Math.round(full.h * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, "graph.png"), "image/png");
    URL.revokeObjectURL(source);
  });
  image.src = source;
});

// light and dark
const theme = byId("theme");
function paint(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  theme.setAttribute("aria-pressed", String(dark));
}
paint(window.matchMedia("(prefers-color-scheme: dark)").matches);
theme.addEventListener("click", () => paint(document.documentElement.dataset.theme !== "dark"));

fit();
filter();
