// Small pictures: histograms, and an effect as it depends on a cause.
import { drawn, number } from "./dom.js";

export function bars(heights, labels, name, width = 116, height = 30) {
  const top = Math.max(...heights, 1), step = width / Math.max(heights.length, 1), gap = labels.length ? 2 : 0.6;
  const words = labels.length ? labels.map((label, k) => `${label} ${heights[k]}`).join(", ") : `${heights.length} bars`;
  return drawn("svg", { class: "bars", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Histogram of ${name}: ${words}` },
    heights.map((count, k) => drawn("rect", { x: (k * step + gap / 2).toFixed(1), width: Math.max(step - gap, 0.8).toFixed(1),
      y: (height - Math.max(count / top * (height - 2), count ? 1 : 0)).toFixed(1), height: Math.max(count / top * (height - 2), count ? 1 : 0).toFixed(1) },
    labels.length ? drawn("title", {}, `${labels[k]}: ${count}`) : null)));
}

function frame(xs, ys, xName, yName, contents) {
  const [w, h, l, b] = [290, 214, 46, 36];
  const range = (v) => { const lo = Math.min(...v), hi = Math.max(...v), pad = (hi - lo || 1) * 0.04; return [lo - pad, hi + pad]; };
  const [x0, x1] = range(xs), [y0, y1] = range(ys);
  const px = (x) => l + (x - x0) / (x1 - x0) * (w - l - 6), py = (y) => 6 + (y1 - y) / (y1 - y0) * (h - b - 6);
  const label = (x, y, words, extra = {}) => drawn("text", { x, y, ...extra }, words);
  const short = (words) => words.length > 36 ? words.slice(0, 35) + "…" : words;
  return drawn("svg", { class: "plot", viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `${yName} against ${xName}` },
    contents(px, py, h - b),
    drawn("path", { class: "axis", d: `M${l} 6V${h - b}H${w - 6}` }),
    label(l, h - b + 13, number(Math.min(...xs))), label(w - 6, h - b + 13, number(Math.max(...xs)), { "text-anchor": "end" }),
    label((l + w) / 2, h - 5, short(xName), { "text-anchor": "middle", class: "axis-name" }),
    label(0, 0, short(yName), { "text-anchor": "middle", class: "axis-name", transform: `translate(10 ${(h - b) / 2}) rotate(-90)` }),
    label(l - 4, 14, number(Math.max(...ys), 2), { "text-anchor": "end" }), label(l - 4, h - b, number(Math.min(...ys), 2), { "text-anchor": "end" }));
}
const line = (kind, xs, ys, px, py) => drawn("polyline", { class: kind, points: xs.map((x, k) => `${px(x).toFixed(1)},${py(ys[k]).toFixed(1)}`).join(" ") });

// what is left of the effect once its other causes are taken out, against the cause
export function mechanism(edge, cause, effect) {
  if (!edge.curve || !cause.grid || !edge.density || !edge.extent) return null;
  const [x0, x1, y0, y1] = edge.extent, n = edge.density.length, most = Math.max(...edge.density.flat(), 1);
  const straight = edge.slope !== null, fitted = cause.grid.map((x) => edge.slope * (x - cause.mean));
  return frame([x0, x1], [y0, y1, ...edge.curve], cause.name, `${effect.name}, other causes taken out`, (px, py) => [
    drawn("g", { class: "cells" }, edge.density.flatMap((row, i) => row.map((count, j) => count ? drawn("rect", {
      x: px(x0 + (x1 - x0) * i / n).toFixed(1), y: py(y0 + (y1 - y0) * (j + 1) / n).toFixed(1), width: ((px(x1) - px(x0)) / n).toFixed(1),
      height: ((py(y0) - py(y1)) / n).toFixed(1), "fill-opacity": (0.1 + 0.75 * count / most).toFixed(2) }) : null).filter(Boolean))),
    line(straight ? "smooth" : "fitted", cause.grid, edge.curve, px, py), straight ? line("fitted", cause.grid, fitted, px, py) : null].filter(Boolean));
}

export function distribution(node) {
  if (!node.histogram || !node.range) return null;
  const [low, high] = node.range, width = (high - low) / node.histogram.length;
  return frame(node.range, [0, ...node.histogram], node.name, "rows", (px, py, floor) => [drawn("g", { class: "columns" }, node.histogram.map((count, k) => drawn("rect", {
    x: px(low + k * width).toFixed(1), y: py(count).toFixed(1), width: Math.max(0, px(low + width) - px(low) - 1).toFixed(1), height: Math.max(0, floor - py(count)).toFixed(1) })))]);
}
