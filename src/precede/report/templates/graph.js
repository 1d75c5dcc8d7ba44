// The graph: what is shown, pointed at, focused or kept; zoom and pan.
const svg = byId("graph");
const edgeGroups = [...svg.querySelectorAll(".edge")];
const nodeGroups = new Map([...svg.querySelectorAll(".node")].map((g) => [Number(g.dataset.node), g]));
const visible = edges.map(() => true);
let pinned = null, drag = null;

edgeGroups.forEach((g, k) => {
  const edge = edges[k];
  g.dataset.edge = k;
  g.setAttribute("role", "img");
  g.setAttribute("tabindex", "-1");
  g.setAttribute("aria-label", `${nodes[edge.cause].name} ${edge.direction === "told" ? "causes" : "is connected with"} ${nodes[edge.effect].name}, strength ${text(edge.strength)}, ` +
    trends[edge.trend] + (edge.confidence === null ? "" : `, confidence ${text(edge.confidence)}`));
  // a wide, invisible line makes a thin edge easy to hit
  const reach = g.firstElementChild.cloneNode();
  reach.setAttribute("class", "reach");
  reach.removeAttribute("stroke-width");
  g.prepend(reach);
});

// everything that leads to a variable, and everything it leads to
function lineage(index) {
  const found = { nodes: new Set([index]), edges: new Set() };
  for (const [from, to] of [["cause", "effect"], ["effect", "cause"]]) {
    const waiting = [index], seen = new Set(waiting);
    while (waiting.length) {
      const at = waiting.pop();
      edges.forEach((edge, k) => {
        if (!visible[k] || edge[from] !== at) return;
        found.edges.add(k);
        if (!seen.has(edge[to])) { seen.add(edge[to]); waiting.push(edge[to]); found.nodes.add(edge[to]); }
      });
    }
  }
  return found;
}
function light(litNodes, litEdges, chosen) {
  svg.querySelectorAll(".lit, .chosen").forEach((g) => g.classList.remove("lit", "chosen"));
  svg.classList.add("faded");
  litEdges.forEach((k) => edgeGroups[k].classList.add("lit"));
  litNodes.forEach((n) => nodeGroups.get(n).classList.add("lit"));
  chosen.forEach((n) => nodeGroups.get(n).classList.add("chosen"));
}
function show(item) {
  if (item === null) {
    svg.querySelectorAll(".lit, .chosen").forEach((g) => g.classList.remove("lit", "chosen"));
    svg.classList.remove("faded");
    card.replaceChildren(...hint.map((child) => child.cloneNode(true)));
    return;
  }
  if (item.kind === "edge") {
    light([edges[item.index].cause, edges[item.index].effect], [item.index], []);
    edgeCard(item.index);
    return;
  }
  const near = edges.flatMap((e, k) => (e.cause === item.index || e.effect === item.index) && visible[k] ? [k] : []);
  light([item.index, ...near.flatMap((k) => [edges[k].cause, edges[k].effect])], near, [item.index]);
  nodeCard(item.index);
}
const itemOf = (element) => {
  const g = element.closest && element.closest(".edge, .node");
  if (!g) return null;
  return g.classList.contains("edge") ? { kind: "edge", index: Number(g.dataset.edge) } : { kind: "node", index: Number(g.dataset.node) };
};
const groupOf = (item) => item.kind === "edge" ? edgeGroups[item.index] : nodeGroups.get(item.index);
svg.addEventListener("pointerover", (event) => { const item = itemOf(event.target); if (item && !pinned && !drag) show(item); });
svg.addEventListener("pointerout", (event) => { if (itemOf(event.target) && !pinned && !drag) show(null); });
svg.addEventListener("focusin", (event) => { const item = itemOf(event.target); if (item) { pinned = item; show(item); } });
function clear() { pinned = null; show(null); }

// one stop of the Tab key; arrows move on, variable by variable and through the edges that leave it
function sequence() {
  return order.flatMap((n) => [{ kind: "node", index: n }, ...edges.flatMap((e, k) => e.cause === n && visible[k] ? [{ kind: "edge", index: k }] : [])]);
}
function focus(item) {
  svg.querySelectorAll('[tabindex="0"]').forEach((g) => g.setAttribute("tabindex", "-1"));
  const group = groupOf(item);
  group.setAttribute("tabindex", "0");
  group.focus({ preventScroll: true });
  reveal(item);
}
svg.addEventListener("keydown", (event) => {
  const items = sequence(), item = itemOf(document.activeElement);
  const at = items.findIndex((other) => item && other.kind === item.kind && other.index === item.index);
  const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (move) focus(items[Math.min(items.length - 1, Math.max(0, at + move))]);
  else if (event.key === "Home") focus(items[0]);
  else if (event.key === "End") focus(items[items.length - 1]);
  else if (event.key === "Escape") clear();
  else if (event.key === "+" || event.key === "=") zoom(1.25);
  else if (event.key === "-") zoom(0.8);
  else if (event.key === "0") fit();
  else return;
  event.preventDefault();
});

// zoom and pan by the viewBox
const full = { w: Number(svg.dataset.width), h: Number(svg.dataset.height) };
let view = { x: 0, y: 0, w: full.w, h: full.h };
const apply = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
function look(box, largest) {
  const { width, height } = svg.getBoundingClientRect();
  const scale = Math.min(width / box.w, height / box.h, largest) || 1;
  view = { w: width / scale, h: height / scale };
  view.x = box.x + (box.w - view.w) / 2;
  view.y = box.y + (box.h - view.h) / 2;
  apply();
}
// on the screen a small graph is not blown up
const fit = () => look({ x: 0, y: 0, ...full }, window.matchMedia("print").matches ? Infinity : 1.5);
function lookAt(indices) {
  const boxes = [...indices].map((n) => nodeGroups.get(n).getBBox());
  const x = Math.min(...boxes.map((b) => b.x)) - 30, y = Math.min(...boxes.map((b) => b.y)) - 30;
  look({ x, y, w: Math.max(...boxes.map((b) => b.x + b.width)) + 30 - x, h: Math.max(...boxes.map((b) => b.y + b.height)) + 30 - y }, 1.5);
}
function zoom(factor, cx = view.x + view.w / 2, cy = view.y + view.h / 2) {
  const limited = Math.min(Math.max(factor, view.w / (full.w * 3)), view.w / 120);
  view = { x: cx - (cx - view.x) / limited, y: cy - (cy - view.y) / limited, w: view.w / limited, h: view.h / limited };
  apply();
}
function reveal(item) {
  const box = groupOf(item).getBBox(), x = box.x + box.width / 2, y = box.y + box.height / 2;
  if (x < view.x || x > view.x + view.w || y < view.y || y > view.y + view.h) { view.x = x - view.w / 2; view.y = y - view.h / 2; apply(); }
}
const place = (event) => {
  const box = svg.getBoundingClientRect();
  return [view.x + (event.clientX - box.left) / box.width * view.w, view.y + (event.clientY - box.top) / box.height * view.h];
};
svg.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  zoom(Math.exp(-event.deltaY / 400), ...place(event));
}, { passive: false });
// one pointer drags, two pinch
const pointers = new Map();
const spread = () => { const [a, b] = [...pointers.values()]; return { gap: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY), clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 }; };
svg.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  pointers.set(event.pointerId, event);
  drag = { at: place(event), x: event.clientX, y: event.clientY, far: pointers.size > 1 };
});
window.addEventListener("pointermove", (event) => {
  if (!drag) return;
  if (pointers.size === 2 && pointers.has(event.pointerId)) {
    const before = spread();
    pointers.set(event.pointerId, event);
    const after = spread(), [x0, y0] = place(before), [x1, y1] = place(after);
    view.x += x0 - x1;
    view.y += y0 - y1;
    zoom(after.gap / (before.gap || 1), x0, y0);
    return;
  }
  drag.far = drag.far || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 4;
  if (!drag.far) return;
  svg.classList.add("moving");
  const [x, y] = place(event);
  view.x += drag.at[0] - x;
  view.y += drag.at[1] - y;
  apply();
});
function release(event) {
  const moved = drag && drag.far, inside = drag !== null;
  pointers.delete(event.pointerId);
  if (pointers.size) return;
  drag = null;
  svg.classList.remove("moving");
  if (!inside || moved || event.type === "pointercancel") return;
  const item = itemOf(event.target);
  if (item) { pinned = item; show(item); } else clear();
}
window.addEventListener("pointerup", release);
window.addEventListener("pointercancel", release);
byId("zoom-in").addEventListener("click", () => zoom(1.25));
byId("zoom-out").addEventListener("click", () => zoom(0.8));
byId("zoom-fit").addEventListener("click", fit);
window.addEventListener("resize", fit);
window.addEventListener("beforeprint", () => { view = { x: 0, y: 0, w: full.w, h: full.h }; apply(); });
window.addEventListener("afterprint", fit);
