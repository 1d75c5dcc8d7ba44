// What is known of an edge or a variable in pictures and words: the same on every page.
import { drawn, number } from "./elements.js";

export const TRENDS = { rising: "rises with the cause", falling: "falls as the cause rises", mixed: "no single direction" };

// names of levels stand under their places, slanted where they are long
function levelNames({ labels, values }, px, floor) {
  const room = Math.abs(px(values[1] ?? values[0] + 1) - px(values[0])), slanted = Math.max(...labels.map((label) => label.length)) * 5.6 > room;
  const cut = (label) => label.length > 14 ? label.slice(0, 13) + "…" : label;
  return labels.map((label, k) => drawn("text", { x: px(values[k]).toFixed(1), y: floor + 12, class: "level-name", ...(slanted ? { "text-anchor": "end", transform: `rotate(-28 ${px(values[k]).toFixed(1)} ${floor + 8})` } : { "text-anchor": "middle" }) }, drawn("title", {}, label), cut(label)));
}

function frame(xs, ys, xName, yName, contents, fromZero = false, levels = null) {
  const [w, h, l, b] = [300, levels ? 250 : 228, 54, levels ? 58 : 36];
  const range = (v) => { const lo = Math.min(...v), hi = Math.max(...v), pad = (hi - lo || 1) * 0.04; return [lo - pad, hi + pad]; };
  const [x0, x1] = range(xs), [y0, y1] = fromZero ? [0, range(ys)[1]] : range(ys);
  const px = (x) => l + (x - x0) / (x1 - x0) * (w - l - 6), py = (y) => 6 + (y1 - y) / (y1 - y0) * (h - b - 6);
  const label = (x, y, words, extra = {}) => drawn("text", { x, y, ...extra }, words);
  const short = (words) => words.length > 34 ? words.slice(0, 33) + "…" : words;
  return drawn("svg", { class: "plot", viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `${yName} against ${xName}` },
    contents(px, py, h - b),
    drawn("path", { class: "axis", d: `M${l} 6V${h - b}H${w - 6}` }),
    levels ? levelNames(levels, px, h - b) : [label(l, h - b + 13, number(Math.min(...xs))), label(w - 6, h - b + 13, number(Math.max(...xs)), { "text-anchor": "end" })],
    label((l + w) / 2, h - 5, short(xName), { "text-anchor": "middle", class: "axis-name" }),
    label(0, 0, short(yName), { "text-anchor": "middle", class: "axis-name", transform: `translate(11 ${(h - b) / 2}) rotate(-90)` }),
    label(l - 4, 14, number(Math.max(...ys), 2), { "text-anchor": "end" }), label(l - 4, h - b, number(Math.min(...ys), 2), { "text-anchor": "end" }));
}
const polyline = (kind, xs, ys, px, py) => drawn("polyline", { class: kind, points: xs.map((x, k) => `${px(x).toFixed(1)},${py(ys[k]).toFixed(1)}`).join(" ") });
const dots = (kind, radius, xs, ys, px, py) => drawn("g", { class: kind }, xs.map((x, k) => drawn("circle", { cx: px(x).toFixed(1), cy: py(ys[k]).toFixed(1), r: radius })));

// what is left of the effect once its other causes are taken out, against the cause: points of rows, or their density;
// a category has no mean: none is drawn as an effect, and no line leads over its levels as a cause
export function mechanism(edge, cause, effect) {
  if (!edge.curve || !cause.grid || effect.mean === null || !(edge.points || (edge.density && edge.extent))) return null;
  const straight = edge.slope !== null, line = cause.grid.map((x) => edge.slope * (x - cause.mean));
  const fits = (px, py) => cause.mean === null ? [] : [polyline(straight ? "smooth" : "fitted", cause.grid, edge.curve, px, py), straight && polyline("fitted", cause.grid, line, px, py)];
  const yName = `${effect.name}, other causes taken out`;
  const at = cause.levels?.values ?? [], half = (at[1] - at[0]) / 2, ends = at.length > 1 ? [at[0] - half, at.at(-1) + half] : [];  // room for names
  if (edge.points) {
    const [ex, ey] = edge.extremes ?? [[], []];
    return frame([...cause.values, ...cause.grid, ...ex, ...ends], [...edge.points, ...edge.curve, ...ey, ...(straight ? line : [])], cause.name, yName,
      (px, py) => [dots("dots", 1.7, cause.values, edge.points, px, py), dots("far", 2.6, ex, ey, px, py), ...fits(px, py)], false, cause.levels);
  }
  const [x0, x1, y0, y1] = edge.extent, n = edge.density.length, most = Math.max(...edge.density.flat(), 1);
  return frame([x0, x1, ...ends], [y0, y1, ...edge.curve], cause.name, yName, (px, py) => [
    drawn("g", { class: "cells" }, edge.density.flatMap((row, i) => row.map((count, j) => count > 0 && drawn("rect", {
      x: px(x0 + (x1 - x0) * i / n).toFixed(1), y: py(y0 + (y1 - y0) * (j + 1) / n).toFixed(1), width: ((px(x1) - px(x0)) / n).toFixed(1),
      height: ((py(y0) - py(y1)) / n).toFixed(1), "fill-opacity": (0.12 + 0.75 * count / most).toFixed(2) })))), ...fits(px, py)], false, cause.levels);
}

export function distribution(node) {
  if (node.levels) {
    const { counts, values } = node.levels, half = 0.4 * Math.min(1, ...values.slice(1).map((value, k) => value - values[k]));
    return frame([values[0] - half, values.at(-1) + half], [0, ...counts], node.name, "rows", (px, py, floor) => drawn("g", { class: "columns" }, counts.map((count, k) => drawn("rect", {
      x: px(values[k] - half).toFixed(1), y: py(count).toFixed(1), width: (px(values[k] + half) - px(values[k] - half)).toFixed(1), height: Math.max(0, floor - py(count)).toFixed(1) }, drawn("title", {}, `${node.levels.labels[k]}: ${count}`)))), true, node.levels);
  }
  if (!node.histogram || !node.range) return null;
  const [low, high] = node.range, width = (high - low) / node.histogram.length;
  return frame(node.range, [0, ...node.histogram], node.name, "rows", (px, py, floor) => drawn("g", { class: "columns" }, node.histogram.map((count, k) => drawn("rect", {
    x: px(low + k * width).toFixed(1), y: py(count).toFixed(1), width: Math.max(0, px(low + width) - px(low) - 1).toFixed(1), height: Math.max(0, floor - py(count)).toFixed(1) }))), true);
}
