// The graph that the studio, the report and notebooks show. Needs cytoscape.min.js (a global) and graph-view.css.
//
//   const view = new GraphView(place, { arrange, onSelect, title, wheel, bar });
//     place       element that the component fills
//     arrange     elkLayout(...) of graph-layout.js; left out, the small layout of graph-layers.js places what brings no x and y
//     onSelect    called with null, { kind: "node", index } or { kind: "edge", index }
//     onPoint     the same for what the pointer is over, while nothing is selected
//     title       of the pictures that are saved
//     wheel       "zoom", or "ctrl" where the wheel alone is to scroll the page
//     bar         false leaves out the bar with search, zoom and pictures
//   await view.show({ nodes, edges, order }, target);
//     target      place of a variable that alone is shown, with all that may lead to it, until the whole graph is asked for; or null
//     node        { name, tier?, x?, y?, width? }           x and y are the middle of its box
//     edge        { cause, effect, strength?, sign?, probability?, mark?, doubtful?, change?, bends? }
//       cause, effect   places among the nodes
//       strength        the larger, the thicker the line; null for none
//       sign            "negative" is drawn in another color
//       probability     0 to 1, shown on the edge that is pointed at
//       mark            "arrow", "line" where the direction is not told, "shared" for a hidden common cause, "half" and "open" for o-> and o-o
//       doubtful        drawn dashed
//       change          "added", "removed" or "turned" since an earlier graph
//       bends           [[x, y], ...] on its way
//     order       places of the nodes, causes first: the way of the arrow keys
//   view.select(item), view.choose(item) wherever it is, view.focus(index), view.find(text), view.filter((edge, index) => ...), view.fit(),
//   view.whole(true | false), view.picture(), view.repaint() after the page changed its colors
import { layered } from "./graph-layers.js";
import { pictureOf } from "./graph-picture.js";
import { HEIGHT, styleOf } from "./graph-style.js";

// above `many` nodes a neighborhood is shown: at most `most` causes and effects, and others up to `few`
const ROOM = { wide: { many: 60, most: 30, few: 18 }, narrow: { many: 16, most: 9, few: 7 } }, NARROW = 560; // pixels
const LETTERS = 22, SMOOTH = 300, STILL = 120; // above STILL nodes nothing is animated
const COLORS = ["paper", "panel", "ink", "soft", "rule", "line", "accent", "accent-soft", "negative", "added", "removed", "warn"];
const CHANGES = { added: "new", removed: "gone", turned: "turned" };
const STYLE = "__________cytoscape_stylesheet";
const HELP = "Arrow keys go from variable to variable and along edges, Enter chooses, Escape lets go, plus and minus zoom, 0 shows all.";

export class GraphView {
  constructor(place, { arrange = layered, onSelect = () => {}, onPoint = () => {}, title = "Causal graph", wheel = "zoom", bar = true } = {}) {
    Object.assign(this, { place, arrange, onSelect, onPoint, title, wheel, nodes: [], edges: [], order: [], chosen: null, visible: () => true });
    this.all = false; this.center = this.beside = this.target = null; this.drawing = 0;
    this.build(bar);
    cytoscape.warnings(false); // of edges between boxes that lie on each other for a moment, while they move
    this.cy = cytoscape({ container: this.canvas, minZoom: 0.05, maxZoom: 3, autoungrabify: true, boxSelectionEnabled: false, selectionType: "single" });
    this.repaint();
    this.listen();
  }

  // -- what is shown ----------------------------------------------------------------------------------------------

  async show({ nodes, edges, order }, target = null) {
    const known = this.center === null ? null : this.nodes[this.center]?.name, before = this.shape, chosen = this.chosen;
    this.shape = JSON.stringify([target, nodes.map((node) => [node.name, node.tier]), edges.map((edge) => [edge.cause, edge.effect, edge.change, edge.mark])]);
    Object.assign(this, { nodes, edges, order: order ?? nodes.map((_, k) => k), chosen: null });
    if (this.shape === before) { this.refresh(); this.select(chosen); return; } // only figures have changed
    this.center = Math.max(nodes.findIndex((node) => node.name === known), -1);
    if (this.center < 0) this.center = nodes.length ? this.busiest() : null;
    if (this.target !== target) { this.target = target; this.all = false; }
    this.toggle.hidden = target === null && nodes.length <= this.room.many;
    await this.draw();
  }
  refresh() {
    const largest = this.largest();
    this.cy.batch(() => this.cy.edges().forEach((link) => {
      const edge = this.edges[link.data("index")];
      link.data({ thick: thickness(edge, largest), words: wordsOn(edge), sure: sureness(edge) }).classes(classesOf(edge, !link.hasClass("bowed")));
    }));
    this.filter(this.visible);
  }
  largest() { return Math.max(...this.edges.map((edge) => Math.abs(edge.strength ?? 0)), 1e-12); }
  get room() { return this.canvas.clientWidth > 0 && this.canvas.clientWidth < NARROW ? ROOM.narrow : ROOM.wide; } // 0: not shown yet
  get near() { return !this.all && (this.target !== null || this.nodes.length > this.room.many); }
  busiest() {
    const degree = this.nodes.map(() => 0);
    this.edges.forEach((edge) => { degree[edge.cause]++; degree[edge.effect]++; });
    return degree.indexOf(Math.max(...degree));
  }
  // the nodes to draw: all, or those closest to the center: its causes and effects step by step, then what is beside them
  members() {
    if (!this.near) return new Set(this.nodes.keys());
    if (this.target !== null) return this.leading(this.target);
    const found = new Set([this.center, this.beside ?? this.center]), { most, few } = this.room;
    const links = this.edges.filter((edge) => edge.change !== "removed" && edge.mark !== "shared");
    const grow = (ring, onward, limit) => {
      const inside = new Set(ring), next = links.flatMap((edge) => onward(edge, inside)).filter((index) => !found.has(index));
      const fresh = [...new Set(next)].slice(0, Math.max(0, limit - found.size));
      fresh.forEach((index) => found.add(index));
      return fresh;
    };
    const up = ({ cause, effect }, inside) => inside.has(effect) ? [cause] : [], down = ({ cause, effect }, inside) => inside.has(cause) ? [effect] : [];
    let above = [this.center], below = [this.center];
    while ((above.length || below.length) && found.size < most) { above = grow(above, up, most); below = grow(below, down, most); }
    let ring = [...found];
    while (ring.length && found.size < few) ring = grow(ring, (edge, inside) => [...up(edge, inside), ...down(edge, inside)], few);
    return found;
  }
  leading(target) {
    const found = new Set([target]), links = this.edges.filter((edge) => edge.change !== "removed" && edge.mark !== "shared");
    for (const index of found) { // grows on the way
      links.forEach((edge) => { if (edge.effect === index) found.add(edge.cause); else if (["line", "open"].includes(edge.mark) && edge.cause === index) found.add(edge.effect); });
    }
    return found;
  }
  async draw() {
    const turn = ++this.drawing, members = [...this.members()], at = new Map(members.map((index, k) => [index, k]));
    const boxes = members.map((index) => ({ width: this.nodes[index].width ?? this.widthOf(index), height: HEIGHT, tier: this.nodes[index].tier ?? null }));
    const inside = [...this.edges.keys()].filter((k) => at.has(this.edges[k].cause) && at.has(this.edges[k].effect));
    const firm = inside.filter((k) => this.edges[k].mark !== "shared"); // what is gone has its place: the rest stays where it was
    let placed;
    if (this.near || members.some((index) => this.nodes[index].x === undefined)) {
      this.canvas.classList.add("gv-busy");
      placed = await this.arrange(boxes, firm.map((k) => [at.get(this.edges[k].cause), at.get(this.edges[k].effect)]));
      if (turn !== this.drawing) return; // something newer is on its way
      this.canvas.classList.remove("gv-busy");
    } else {
      placed = { boxes: members.map((index) => this.nodes[index]), links: firm.map((k) => this.edges[k].bends ?? []) };
    }
    const bends = new Map(firm.map((k, place) => [k, placed.links[place]]));
    this.placeElements(members, boxes, placed.boxes, inside, bends);
    this.said.textContent = !this.near ? "" : this.target === null ? `${members.length} of ${this.nodes.length} variables, around ${this.nodes[this.center].name}` : `${this.nodes[this.target].name} and what may lead to it`;
    this.toggle.setAttribute("aria-pressed", String(this.all));
  }
  placeElements(members, boxes, spots, inside, bends) {
    const { cy } = this, before = new Map(cy.nodes().map((node) => [node.data("name"), { ...node.position() }]));
    const largest = this.largest();
    const middle = new Map(members.map((index, k) => [index, spots[k]]));
    const nodes = members.map((index, k) => ({ group: "nodes", position: { x: spots[k].x, y: spots[k].y },
      data: { id: `n${index}`, index, name: this.nodes[index].name, label: shortened(this.nodes[index].name), width: boxes[k].width } }));
    const width = new Map(members.map((index, k) => [index, boxes[k].width]));
    const links = inside.map((k) => {
      const edge = this.edges[k], from = middle.get(edge.cause), to = middle.get(edge.effect);
      const forward = bends.has(k) && to.x > from.x;
      const route = forward ? controls({ x: from.x + width.get(edge.cause) / 2, y: from.y }, { x: to.x - width.get(edge.effect) / 2, y: to.y }, bends.get(k)) : { distances: [edge.mark === "shared" ? -40 : 40], weights: [0.5] };
      return { group: "edges", classes: classesOf(edge, forward), data: { id: `e${k}`, index: k, source: `n${edge.cause}`, target: `n${edge.effect}`,
        thick: thickness(edge, largest), distances: route.distances, weights: route.weights, words: wordsOn(edge),
        sure: sureness(edge) } };
    });
    cy.renderer().textureOnViewport = members.length > STILL; // many nodes are moved as a picture, and painted afterwards
    cy.batch(() => { cy.elements().remove(); cy.add([...nodes, ...links]); });
    this.filter(this.visible);
    this.fit();
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches || members.length > STILL || this.near;
    if (!calm) cy.nodes().forEach((node) => {
      const old = before.get(node.data("name")), now = { ...node.position() };
      if (old) node.position(old).animate({ position: now }, { duration: SMOOTH });
    });
  }
  widthOf(index) {
    this.ruler ??= Object.assign(document.createElement("canvas").getContext("2d"), { font: `500 13px ${this.font()}` });
    return Math.max(34, Math.ceil(this.ruler.measureText(shortened(this.nodes[index].name)).width) + 20);
  }
  filter(visible) {
    this.visible = visible;
    this.cy.batch(() => this.cy.edges().forEach((edge) => edge.toggleClass("off", !visible(this.edges[edge.data("index")], edge.data("index")))));
  }
  async whole(all) { this.all = all; await this.draw(); }

  // -- light on a part ----------------------------------------------------------------------------------------------

  select(item, tell = true) {
    this.chosen = item;
    this.light(item);
    if (tell) this.onSelect(item);
  }
  light(item) {
    const { cy } = this;
    cy.batch(() => {
      cy.elements().removeClass("lit chosen faded");
      const element = item && cy.getElementById(`${item.kind === "node" ? "n" : "e"}${item.index}`);
      if (!element?.length) return;
      const near = item.kind === "node" ? element.closedNeighborhood() : element.union(element.connectedNodes());
      cy.elements().addClass("faded");
      near.removeClass("faded").addClass("lit");
      element.addClass("chosen");
    });
  }
  // what may not be drawn yet: a neighborhood that lacks it is drawn anew around it
  async choose(item) {
    const edge = item.kind === "edge" ? this.edges[item.index] : null;
    if (this.near && !this.cy.getElementById(`${item.kind === "node" ? "n" : "e"}${item.index}`).length) {
      [this.center, this.beside] = edge ? [edge.cause, edge.effect] : [item.index, null];
      if (this.target !== null) this.all = true;
      await this.draw();
    }
    this.select(item);
    this.reveal(item);
  }
  // a variable with all that leads to it and all it leads to
  async focus(index) {
    [this.center, this.beside] = [index, null];
    if (this.target !== null && !this.cy.getElementById(`n${index}`).length) this.all = true;
    if (this.near || this.target !== null) await this.draw();
    const family = this.lineage(index);
    this.select({ kind: "node", index });
    this.cy.batch(() => {
      this.cy.elements().removeClass("lit").addClass("faded");
      family.removeClass("faded").addClass("lit");
    });
    this.cy.fit(family, 40);
    if (this.cy.zoom() > 1.4) { this.cy.zoom(1.4); this.cy.center(family); }
  }
  // of what is drawn; neither hidden edges nor sharedCauses lead on
  lineage(index) {
    const links = this.cy.edges().not(".off").not(".shared").not(".removed"), start = this.cy.getElementById(`n${index}`);
    let family = start;
    for (const [from, to] of [["source", "target"], ["target", "source"]]) {
      let ring = start;
      while (ring.length) {
        const onward = links.filter((edge) => ring.contains(edge[from]())).not(family);
        ring = onward.map((edge) => edge[to]()).reduce((all, node) => all.union(node), this.cy.collection()).not(family);
        family = family.union(onward).union(ring);
      }
    }
    return family;
  }
  async find(text) {
    const wanted = text.trim().toLowerCase(), names = this.nodes.map((node) => node.name.toLowerCase());
    const exact = names.indexOf(wanted), found = !wanted ? [] : exact >= 0 ? [exact] : names.flatMap((name, k) => name.includes(wanted) ? [k] : []);
    this.offer(found.length > 1 ? found : [], wanted);
    this.said.textContent = wanted && !found.length ? "No variable has that in its name." : found.length > 1 ? `${found.length} variables` : "";
    if (found.length === 1) await this.focus(found[0]);
    if (!wanted) { this.select(null); this.fit(); }
    return found;
  }
  offer(found) {
    this.matches.hidden = !found.length;
    this.matches.replaceChildren(...found.slice(0, 40).map((index, k) => {
      const entry = made("li", { role: "option", id: `${this.key}-match-${k}`, "aria-selected": "false" }, this.nodes[index].name);
      entry.addEventListener("pointerdown", (event) => { event.preventDefault(); this.take(index); });
      entry.dataset.index = index;
      return entry;
    }));
    this.input.setAttribute("aria-expanded", String(found.length > 0));
    this.input.removeAttribute("aria-activedescendant");
  }
  take(index) { this.input.value = this.nodes[index].name; this.offer([]); this.focus(index); }

  // -- the keyboard -------------------------------------------------------------------------------------------------

  sequence() {
    const there = (kind, index) => { const element = this.cy.getElementById(`${kind}${index}`); return element.length && !element.hasClass("off"); };
    return this.order.filter((n) => there("n", n)).flatMap((n) => [{ kind: "node", index: n },
      ...this.edges.flatMap((edge, k) => edge.cause === n && there("e", k) ? [{ kind: "edge", index: k }] : [])]);
  }
  step(by) {
    const items = this.sequence(), at = items.findIndex((item) => this.chosen && item.kind === this.chosen.kind && item.index === this.chosen.index);
    const item = items[Math.min(items.length - 1, Math.max(0, at + by))];
    if (item) { this.select(item); this.reveal(item); this.speech.textContent = this.describe(item); }
  }
  reveal(item) {
    const box = this.cy.getElementById(`${item.kind === "node" ? "n" : "e"}${item.index}`).renderedBoundingBox(), { clientWidth: w, clientHeight: h } = this.canvas;
    if (box.x1 < 0 || box.y1 < 0 || box.x2 > w || box.y2 > h) this.cy.panBy({ x: w / 2 - (box.x1 + box.x2) / 2, y: h / 2 - (box.y1 + box.y2) / 2 });
  }
  describe(item) {
    if (item.kind === "node") return this.nodes[item.index].name;
    const edge = this.edges[item.index], [cause, effect] = [this.nodes[edge.cause].name, this.nodes[edge.effect].name];
    const joint = { line: "is connected with", open: "is connected with", half: "causes, or shares an unmeasured cause with,", shared: "shares an unmeasured cause with" }[edge.mark] ?? "causes";
    const sure = edge.probability === null || edge.probability === undefined ? "" : `, probability ${edge.probability.toFixed(2)}`;
    return `${cause} ${joint} ${effect}${sure}${edge.change ? `, ${CHANGES[edge.change]}` : ""}`;
  }
  typed(event) {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (move) this.step(move);
    else if (event.key === "Home") this.step(-1e9);
    else if (event.key === "End") this.step(1e9);
    else if (event.key === "Enter" && this.chosen?.kind === "node") this.focus(this.chosen.index);
    else if (event.key === "Enter" && this.chosen) this.select(this.chosen);
    else if (event.key === "Escape") this.select(null);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }
  typedInSearch(event) {
    const entries = [...this.matches.children], at = entries.findIndex((entry) => entry.getAttribute("aria-selected") === "true");
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && entries.length) {
      const next = entries[Math.min(entries.length - 1, Math.max(0, at + move))];
      entries.forEach((entry) => entry.setAttribute("aria-selected", String(entry === next)));
      next.scrollIntoView({ block: "nearest" });
      this.input.setAttribute("aria-activedescendant", next.id);
    } else if (event.key === "Enter" && entries.length) this.take(Number(entries[Math.max(at, 0)].dataset.index));
    else if (event.key === "Escape") { this.input.value = ""; this.find(""); }
    else return;
    event.preventDefault();
  }

  // -- zoom, pictures, colors --------------------------------------------------------------------------------------

  fit() {
    this.cy.resize();
    this.cy.fit(undefined, 28);
    if (this.cy.zoom() > 1.3) { this.cy.zoom(1.3); this.cy.center(); } // a small graph is not blown up
  }
  zoom(factor) { this.cy.zoom({ level: this.cy.zoom() * factor, renderedPosition: { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 } }); }
  font() { return getComputedStyle(this.place).fontFamily; }
  colors() {
    const style = getComputedStyle(this.place);
    return Object.fromEntries(COLORS.map((name) => [name, style.getPropertyValue(`--gv-${name}`).trim() || "#777"]));
  }
  picture() { return pictureOf(this.cy, this.title, this.colors(), this.font()); }
  repaint() { this.cy.style(styleOf(this.colors(), this.font())); }
  save(kind) {
    const blob = kind === "svg" ? new Blob([this.picture()], { type: "image/svg+xml" })
      : this.cy.png({ output: "blob", full: true, scale: 2, maxWidth: 8000, maxHeight: 8000, bg: this.colors().panel });
    const link = made("a", { download: `graph.${kind}`, href: URL.createObjectURL(blob) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  // -- the elements -------------------------------------------------------------------------------------------------

  build(bar) {
    // Cytoscape would put a style element into the page, which a strict policy refuses; graph-view.css has its one line
    if (!document.getElementById(STYLE)) document.head.append(made("meta", { id: STYLE }));
    this.key = `gv-${Math.random().toString(36).slice(2, 8)}`;
    const button = (words, label, work) => { const b = made("button", { type: "button", ...(label && { "aria-label": label, title: label }) }, words); b.addEventListener("click", work); return b; };
    this.input = made("input", { type: "search", placeholder: "Find a variable", "aria-label": "Find a variable by part of its name", role: "combobox", autocomplete: "off", "aria-expanded": "false", "aria-controls": `${this.key}-matches` });
    this.matches = made("ul", { class: "gv-matches", role: "listbox", id: `${this.key}-matches`, "aria-label": "Variables found", hidden: "" });
    this.said = made("span", { class: "gv-said", role: "status" });
    this.toggle = button("Whole graph", null, () => this.whole(!this.all));
    this.toggle.hidden = true;
    this.speech = made("p", { class: "gv-hidden", "aria-live": "polite" });
    this.canvas = made("div", { class: "gv-canvas", tabindex: "0", role: "application", "aria-label": `${this.title}. ${HELP}` });
    this.bar = made("div", { class: "gv-bar", role: "group", "aria-label": "The graph" }, this.input, this.matches, this.said, made("span", { class: "gv-space" }), this.toggle,
      button("−", "Zoom out", () => this.zoom(0.8)), button("+", "Zoom in", () => this.zoom(1.25)), button("Fit", "Show all", () => this.fit()),
      button("SVG", "Save the picture as SVG", () => this.save("svg")), button("PNG", "Save the picture as PNG", () => this.save("png")));
    this.place.classList.add("graph-view");
    this.bar.hidden = !bar;
    this.place.replaceChildren(this.bar, this.canvas, this.speech);
  }
  listen() {
    const itemOf = (element) => ({ kind: element.isNode() ? "node" : "edge", index: element.data("index") });
    this.cy.on("tap", (event) => this.select(event.target === this.cy ? null : itemOf(event.target)));
    this.cy.on("dbltap", "node", (event) => this.focus(event.target.data("index")));
    this.cy.on("mouseover", "node, edge", (event) => { if (!this.chosen) { this.light(itemOf(event.target)); this.onPoint(itemOf(event.target)); } this.canvas.style.cursor = "pointer"; });
    this.cy.on("mouseout", "node, edge", () => { if (!this.chosen) { this.light(null); this.onPoint(null); } this.canvas.style.cursor = ""; });
    this.canvas.addEventListener("keydown", (event) => this.typed(event));
    this.canvas.addEventListener("wheel", (event) => { if (this.wheel === "ctrl" && !event.ctrlKey && !event.metaKey) event.stopPropagation(); }, { capture: true, passive: true });
    this.input.addEventListener("input", () => this.find(this.input.value));
    this.input.addEventListener("keydown", (event) => this.typedInSearch(event));
    this.input.addEventListener("blur", () => this.offer([]));
    new ResizeObserver(() => { if (this.canvas.clientWidth) this.fit(); }).observe(this.canvas);
  }
}

// a tangle starts with its strongest edges (more variables start with a neighborhood): the share of the largest strength from which edges are shown at first, in whole percent
export function startingStrength(edges, n) {
  const sizes = edges.filter((edge) => edge.mark !== "shared").map((edge) => Math.abs(edge.strength ?? 0)).sort((a, b) => b - a), most = Math.max(40, Math.round(1.5 * n));
  return n > ROOM.wide.many || sizes.length <= 1.25 * most || !sizes[0] ? 0 : Math.min(99, Math.ceil(100 * sizes[most] / sizes[0] + 1e-9));
}

// -- small parts ----------------------------------------------------------------------------------------------------

function made(tag, attributes, ...children) {
  const element = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...children);
  return element;
}
const shortened = (name) => name.length > LETTERS ? name.slice(0, LETTERS - 1) + "…" : name;
const classesOf = (edge, forward) => [forward ? "" : "bowed", edge.mark ?? "arrow", edge.sign === "negative" ? "negative" : "", edge.doubtful ? "doubtful" : "", edge.change ?? ""].filter(Boolean);
const sureness = (edge) => 0.25 + 0.7 * (edge.probability ?? 1); // how opaque a line is
const thickness = (edge, largest) => 1.1 + 2.4 * Math.abs(edge.strength ?? 0) / largest;
const wordsOn = (edge) => edge.change ? CHANGES[edge.change] : edge.probability === null || edge.probability === undefined ? "" : edge.probability.toFixed(2);

// the bends of a link as Cytoscape counts them: along the line from end to end, and away from it
function controls(from, to, bends) {
  const free = [bends[0]?.[0] ?? to.x, bends.at(-1)?.[0] ?? from.x]; // a lead never passes the bend after it
  const leads = [Math.max(0, Math.min(30, (free[0] - from.x) / 2.2)), Math.max(0, Math.min(30, (to.x - free[1]) / 2.2))], v = { x: to.x - from.x, y: to.y - from.y }, square = v.x ** 2 + v.y ** 2, size = Math.sqrt(square);
  const points = [[from.x + leads[0], from.y], ...bends, [to.x - leads[1], to.y]].map(([x, y]) => ({ x: x - from.x, y: y - from.y }));
  return { weights: points.map((p) => (p.x * v.x + p.y * v.y) / square), distances: points.map((p) => (p.y * v.x - p.x * v.y) / size) };
}
