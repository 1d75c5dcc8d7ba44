"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  // numbers of plots travel as their range and a byte each, tables column by column
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = ([low, high, text]) => [...bytes(text)].map((byte) => low + (high - low) * byte / 255);
  const records = (columns) => Object.values(columns)[0].map((_, k) => Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[k]])));
  const nodes = records(data.nodes), edges = records(data.edges), order = data.order, hasConfidence = data.has_confidence;
  nodes.forEach((node) => { node.values = unpacked(node.values); node.grid = unpacked(node.grid); });
  edges.forEach((edge) => { edge.points = unpacked(edge.points); edge.curve = unpacked(edge.curve); });
  const byId = (id) => document.getElementById(id);
  const svg = byId("graph"), card = byId("card"), hint = card.innerHTML;
  const SVG = "http://www.w3.org/2000/svg";
  const edgeGroups = [...svg.querySelectorAll(".edge")];
  const nodeGroups = new Map([...svg.querySelectorAll(".node")].map((g) => [Number(g.dataset.node), g]));
  const rows = new Map([...document.querySelectorAll("#edges tbody tr")].map((row) => [Number(row.dataset.edge), row]));
  const cells = document.querySelectorAll("#cells rect");
  const visible = edges.map(() => true);
  let pinned = null;

  const text = (value, digits = 3) => value === null ? "–" : Number(value.toPrecision(digits)).toLocaleString("en");
  const escape = (string) => string.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

  edgeGroups.forEach((g, k) => {
    const edge = edges[k], names = [nodes[edge.cause].name, nodes[edge.effect].name];
    g.dataset.edge = k;
    g.setAttribute("role", "img");
    g.setAttribute("tabindex", "-1");
    g.setAttribute("aria-label", `${names[0]} causes ${names[1]}, weight ${text(edge.weight)}, strength ${text(edge.strength)}` +
      (edge.confidence === null ? "" : `, confidence ${text(edge.confidence)}`));
    rows.get(k).lastElementChild.innerHTML = '<button type="button" class="show">show</button>';
    rows.get(k).querySelector(".show").setAttribute("aria-label", `Show ${names[0]} to ${names[1]} in the graph`);
    const title = document.createElementNS(SVG, "title");
    title.textContent = `${names[0]} → ${names[1]}: weight ${text(edge.weight)}`;
    cells[k].append(title);
    // a wide, invisible line makes a thin edge easy to hit
    const reach = g.firstElementChild.cloneNode();
    reach.setAttribute("class", "reach");
    reach.removeAttribute("stroke-width");
    g.prepend(reach);
  });

  // sliders
  const strength = byId("strength-slider"), confidence = byId("confidence-slider");
  const largest = Number(strength.dataset.largest);
  function filter() {
    const weakest = strength.value / 100 * largest;
    const least = confidence ? Number(confidence.value) : 0;
    byId("strength-value").textContent = weakest.toFixed(2);
    if (confidence) byId("confidence-value").textContent = least.toFixed(2);
    edges.forEach((edge, k) => {
      visible[k] = edge.strength >= weakest - 1e-12 && (!hasConfidence || edge.confidence >= least - 1e-12);
      edgeGroups[k].classList.toggle("off", !visible[k]);
      rows.get(k).hidden = !visible[k];
    });
    byId("visible-edges").textContent = visible.filter(Boolean).length;
  }
  strength.addEventListener("input", filter);
  if (confidence) confidence.addEventListener("input", filter);

  // plots on the card
  function frame(xs, ys, xName, yName, draw) {
    const [w, h, l, b] = [290, 210, 40, 34];
    const range = (v) => { const lo = Math.min(...v), hi = Math.max(...v), pad = (hi - lo || 1) * 0.04; return [lo - pad, hi + pad]; };
    const [x0, x1] = range(xs), [y0, y1] = range(ys);
    const px = (x) => (l + (x - x0) / (x1 - x0) * (w - l - 6)).toFixed(1);
    const py = (y) => (6 + (y1 - y) / (y1 - y0) * (h - b - 6)).toFixed(1);
    return `<svg viewBox="0 0 ${w} ${h}" role="img" aria-label="${escape(yName)} against ${escape(xName)}">${draw(px, py, h - b)}` +
      `<path class="axis" d="M${l} 6V${h - b}H${w - 6}"/>` +
      `<text x="${l}" y="${h - b + 13}">${text(Math.min(...xs))}</text><text x="${w - 6}" y="${h - b + 13}" text-anchor="end">${text(Math.max(...xs))}</text>` +
      `<text x="${(l + w) / 2}" y="${h - 5}" text-anchor="middle">${escape(xName)}</text>` +
      `<text x="${l - 4}" y="14" text-anchor="end">${text(Math.max(...ys), 2)}</text><text x="${l - 4}" y="${h - b}" text-anchor="end">${text(Math.min(...ys), 2)}</text></svg>`;
  }
  const polyline = (kind, xs, ys, px, py) => `<polyline class="${kind}" points="${xs.map((x, k) => `${px(x)},${py(ys[k])}`).join(" ")}"/>`;

  function edgeCard(k) {
    const edge = edges[k], cause = nodes[edge.cause], effect = nodes[edge.effect];
    const linear = edge.slope !== null;
    const line = cause.grid.map((x) => edge.slope * (x - cause.mean));
    const plot = frame([...cause.values, ...cause.grid], [...edge.points, ...edge.curve, ...(linear ? line : [])], cause.name, effect.name, (px, py) =>
      `<g class="dots">${cause.values.map((x, n) => `<circle cx="${px(x)}" cy="${py(edge.points[n])}" r="1.7"/>`).join("")}</g>` +
      polyline(linear ? "smooth" : "fitted", cause.grid, edge.curve, px, py) + (linear ? polyline("fitted", cause.grid, line, px, py) : ""));
    card.innerHTML = `<h3>${escape(cause.name)} → ${escape(effect.name)}</h3><dl>` +
      `<div><dt>Weight</dt><dd>${text(edge.weight)}</dd></div><div><dt>Strength</dt><dd>${text(edge.strength)}</dd></div>` +
      (edge.confidence === null ? "" : `<div><dt>Confidence</dt><dd>${text(edge.confidence)}</dd></div><div><dt>In either direction</dt><dd>${text(edge.connected)}</dd></div>`) +
      (edge.directed ? "" : "<div><dt>Direction</dt><dd>either way</dd></div>") + `</dl>${plot}` +
      `<p class="hint">${escape(effect.name)} as it depends on ${escape(cause.name)}, its other causes taken out. ` +
      (linear ? "The line is the linear fit, the dashes a smooth one." : "The curve is a smooth fit.") + "</p>";
  }
  function nodeCard(index) {
    const node = nodes[index];
    const names = (list) => list.length ? list.map(escape).join(", ") : "none";
    const causes = edges.filter((e, k) => e.effect === index && visible[k]).map((e) => nodes[e.cause].name);
    const effects = edges.filter((e, k) => e.cause === index && visible[k]).map((e) => nodes[e.effect].name);
    const low = Math.min(...node.values), high = Math.max(...node.values), bins = 16, width = (high - low || 1) / bins;
    const counts = Array(bins).fill(0);
    node.values.forEach((v) => { counts[Math.min(bins - 1, Math.floor((v - low) / width))] += 1; });
    const plot = frame([low, high], [0, ...counts], node.name, "rows", (px, py, floor) => counts.map((c, k) =>
      `<rect class="dots" x="${px(low + k * width)}" y="${py(c)}" width="${Math.max(0, px(low + (k + 1) * width) - px(low + k * width) - 1).toFixed(1)}" height="${Math.max(0, floor - py(c)).toFixed(1)}"/>`).join(""));
    card.innerHTML = `<h3>${escape(node.name)}</h3><dl><div><dt>Place in the order</dt><dd>${node.place} of ${nodes.length}</dd></div>` +
      `<div><dt>Mean</dt><dd>${text(node.mean)}</dd></div><div><dt>Standard deviation</dt><dd>${text(node.sd)}</dd></div></dl>` +
      `<p><strong>Causes:</strong> ${names(causes)}</p><p><strong>Effects:</strong> ${names(effects)}</p>${plot}`;
  }

  // what is pointed at, focused or kept
  function show(item) {
    svg.querySelectorAll(".lit, .chosen").forEach((g) => g.classList.remove("lit", "chosen"));
    svg.classList.toggle("faded", item !== null);
    if (item === null) { card.innerHTML = hint; return; }
    const lit = item.kind === "edge" ? [item.index] : edges.flatMap((e, k) => (e.cause === item.index || e.effect === item.index) && visible[k] ? [k] : []);
    lit.forEach((k) => {
      edgeGroups[k].classList.add("lit");
      [edges[k].cause, edges[k].effect].forEach((n) => nodeGroups.get(n).classList.add("lit"));
    });
    if (item.kind === "node") { nodeGroups.get(item.index).classList.add("lit", "chosen"); nodeCard(item.index); } else edgeCard(item.index);
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
  function fit() {
    const { width, height } = svg.getBoundingClientRect();
    const largest = window.matchMedia("print").matches ? Infinity : 1.5;  // on the screen a small graph is not blown up
    const scale = Math.min(width / full.w, height / full.h, largest) || 1;
    view = { w: width / scale, h: height / scale };
    view.x = (full.w - view.w) / 2;
    view.y = (full.h - view.h) / 2;
    apply();
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
  let drag = null;
  svg.addEventListener("pointerdown", (event) => { if (event.button === 0) drag = { at: place(event), x: event.clientX, y: event.clientY, far: false }; });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drag.far = drag.far || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 4;
    if (!drag.far) return;
    svg.classList.add("moving");
    const [x, y] = place(event);
    view.x += drag.at[0] - x;
    view.y += drag.at[1] - y;
    apply();
  });
  window.addEventListener("pointerup", (event) => {
    const moved = drag && drag.far, inside = drag !== null;
    drag = null;
    svg.classList.remove("moving");
    if (inside && !moved && !itemOf(event.target)) clear();
  });
  byId("zoom-in").addEventListener("click", () => zoom(1.25));
  byId("zoom-out").addEventListener("click", () => zoom(0.8));
  byId("zoom-fit").addEventListener("click", fit);
  window.addEventListener("resize", fit);
  window.addEventListener("beforeprint", () => { view = { x: 0, y: 0, w: full.w, h: full.h }; apply(); });
  window.addEventListener("afterprint", fit);

  byId("find").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    const index = nodes.findIndex((node) => node.name.toLowerCase() === wanted);
    if (index < 0) { if (!wanted) clear(); return; }
    pinned = { kind: "node", index };
    show(pinned);
    reveal(pinned);
  });

  // the table
  const body = document.querySelector("#edges tbody");
  document.querySelectorAll("#edges thead th[aria-sort]").forEach((head, column) => {
    head.firstElementChild.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === (head.classList.contains("figure") ? "descending" : "none") ||
        head.getAttribute("aria-sort") === "descending";
      document.querySelectorAll("#edges thead th[aria-sort]").forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => head.dataset.key ? edges[row.dataset.edge][head.dataset.key] ?? 0 : row.cells[column].textContent;
      const compare = (a, b) => typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
      [...body.rows].sort((a, b) => compare(key(a), key(b)) * (up ? 1 : -1)).forEach((row) => body.append(row));
    });
  });
  rows.forEach((row, k) => row.querySelector(".show").addEventListener("click", () => {
    byId("graph-heading").scrollIntoView();
    focus({ kind: "edge", index: k });
  }));

  // files to take away, which the page holds compressed
  document.querySelectorAll(".download").forEach((button) => button.addEventListener("click", async () => {
    const stream = new Blob([bytes(button.dataset.gzip)]).stream().pipeThrough(new DecompressionStream("gzip"));
    const file = new Blob([await new Response(stream).arrayBuffer()], { type: button.dataset.type });
    const link = document.createElement("a");
    link.download = button.textContent;
    link.href = URL.createObjectURL(file);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }));

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
})();
