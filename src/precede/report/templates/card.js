// The card beside the graph: what is known of an edge or a variable, with its plot.
const card = byId("card"), hint = [...card.childNodes].map((child) => child.cloneNode(true));

function frame(xs, ys, xName, yName, contents) {
  const [w, h, l, b] = [300, 228, 54, 36];
  const range = (v) => { const lo = Math.min(...v), hi = Math.max(...v), pad = (hi - lo || 1) * 0.04; return [lo - pad, hi + pad]; };
  const [x0, x1] = range(xs), [y0, y1] = range(ys);
  const px = (x) => l + (x - x0) / (x1 - x0) * (w - l - 6), py = (y) => 6 + (y1 - y) / (y1 - y0) * (h - b - 6);
  const label = (x, y, words, extra = {}) => drawn("text", { x, y, ...extra }, words);
  const short = (words) => words.length > 34 ? words.slice(0, 33) + "…" : words;
  return drawn("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `${yName} against ${xName}` },
    ...contents(px, py, h - b),
    drawn("path", { class: "axis", d: `M${l} 6V${h - b}H${w - 6}` }),
    label(l, h - b + 13, text(Math.min(...xs))), label(w - 6, h - b + 13, text(Math.max(...xs)), { "text-anchor": "end" }),
    label((l + w) / 2, h - 5, short(xName), { "text-anchor": "middle", class: "axis-name" }),
    label(0, 0, short(yName), { "text-anchor": "middle", class: "axis-name", transform: `translate(11 ${(h - b) / 2}) rotate(-90)` }),
    label(l - 4, 14, text(Math.max(...ys), 2), { "text-anchor": "end" }), label(l - 4, h - b, text(Math.min(...ys), 2), { "text-anchor": "end" }));
}
const polyline = (kind, xs, ys, px, py) => drawn("polyline", { class: kind, points: xs.map((x, k) => `${px(x).toFixed(1)},${py(ys[k]).toFixed(1)}`).join(" ") });
const dot = (kind, radius) => (x, y, px, py) => drawn("circle", { class: kind, cx: px(x).toFixed(1), cy: py(y).toFixed(1), r: radius });
const list = (pairs) => html("dl", {}, ...pairs.filter(Boolean).map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value))));

function edgePlot(edge, cause, effect) {
  if (edge.curve === null || cause.grid === null) return null;
  const straight = edge.slope !== null, line = cause.grid.map((x) => edge.slope * (x - cause.mean));
  const fits = (px, py) => [polyline(straight ? "smooth" : "fitted", cause.grid, edge.curve, px, py), straight ? polyline("fitted", cause.grid, line, px, py) : null].filter(Boolean);
  const yName = `${effect.name}, other causes taken out`;
  if (edge.points !== null) {
    const [ex, ey] = edge.extremes;
    return frame([...cause.values, ...cause.grid, ...ex], [...edge.points, ...edge.curve, ...ey, ...(straight ? line : [])], cause.name, yName, (px, py) => [
      drawn("g", { class: "dots" }, ...cause.values.map((x, k) => dot("", 1.7)(x, edge.points[k], px, py))),
      drawn("g", { class: "far" }, ...ex.map((x, k) => dot("", 2.6)(x, ey[k], px, py))), ...fits(px, py)]);
  }
  const [x0, x1, y0, y1] = edge.extent, shade = [...bytes(edge.density)], n = Math.round(Math.sqrt(shade.length));
  return frame([x0, x1], [y0, y1, ...edge.curve], cause.name, yName, (px, py) => [
    drawn("g", { class: "cells" }, ...shade.flatMap((dark, k) => dark ? [drawn("rect", {
      x: px(x0 + (x1 - x0) * Math.floor(k / n) / n).toFixed(1), y: py(y0 + (y1 - y0) * (k % n + 1) / n).toFixed(1), "fill-opacity": (0.12 + 0.75 * dark / 255).toFixed(2),
      width: (px(x1) - px(x0)) / n, height: (py(y0) - py(y1)) / n })] : [])), ...fits(px, py)]);
}

function edgeCard(k) {
  const edge = edges[k], cause = nodes[edge.cause], effect = nodes[edge.effect];
  const rests = edge.influence && `${edge.influence.rows.length} of the rows; strength ${text(edge.influence.strength, 2)} without`;
  const plot = edgePlot(edge, cause, effect);
  card.replaceChildren(html("h3", {}, `${cause.name} ${joint(edge)} ${effect.name}`), list([
    edge.weight !== null && ["Weight", text(edge.weight)], ["Strength", text(edge.strength)], ["Trend", trends[edge.trend]],
    edge.total !== null && ["Total effect", totalEffect(edge.total)],
    ["Partial R²", text(edge.partial_r2)], ["p-value", pValue(edge.p_value)],
    edge.confidence !== null && ["Confidence", text(edge.confidence)], edge.connected !== null && ["In either direction", text(edge.connected)],
    ["Direction", directions[edge.direction]], rests && ["Rests on", rests]]), ...(plot ? [plot, html("p", { class: "hint" },
    `${effect.name} as it depends on ${cause.name}, its other causes taken out. ` +
    (edge.points === null ? `Darker cells hold more rows; ${edge.outside || "no"} row${edge.outside === 1 ? " lies" : "s lie"} outside. ` : edge.extremes[0].length ? "Larger points are values far out. " : "") +
    (edge.slope !== null ? "The line is the linear fit, the dashes a smooth one." : "The curve is a smooth fit."))] : []));
}

function suspicionCard(pair) {
  const [first, second] = [nodes[pair.cause].name, nodes[pair.effect].name];
  card.replaceChildren(html("h3", {}, `${first} ↔ ${second}`), list([["Probability", text(pair.probability)]]),
    html("p", { class: "hint" }, `What their known causes leave of ${first} and ${second} is still dependent: they may share a cause that is not in the data, or lack an edge. ` +
      "This is a suspicion and no edge; the probability was calibrated on simulated data."));
}

function nodeCard(index) {
  const node = nodes[index];
  const names = (found) => found.length ? found.join(", ") : "none";
  const causes = edges.filter((e, k) => e.effect === index && visible[k]).map((e) => nodes[e.cause].name);
  const effects = edges.filter((e, k) => e.cause === index && visible[k]).map((e) => nodes[e.effect].name);
  const suspected = suspicions.flatMap(({ cause, effect }) => cause === index ? [nodes[effect].name] : effect === index ? [nodes[cause].name] : []);
  const plot = node.histogram && node.range && frame(node.range, [0, ...node.histogram], node.name, "rows", (px, py, floor) => {
    const [low, high] = node.range, width = (high - low) / node.histogram.length;
    return node.histogram.map((count, k) => drawn("rect", { class: "dots", x: px(low + k * width).toFixed(1), y: py(count).toFixed(1),
      width: Math.max(0, px(low + width) - px(low) - 1).toFixed(1), height: Math.max(0, floor - py(count)).toFixed(1) }));
  });
  card.replaceChildren(html("h3", {}, node.name), list([["Place in the order", `${node.place} of ${nodes.length}`],
    ["Mean", text(node.mean)], ["Standard deviation", text(node.sd)]]),
    html("p", {}, html("strong", {}, "Causes: "), names(causes)), html("p", {}, html("strong", {}, "Effects: "), names(effects)),
    ...(suspected.length ? [html("p", {}, html("strong", {}, "May share a hidden cause with: "), names(suspected))] : []), ...(plot ? [plot] : []));
}
