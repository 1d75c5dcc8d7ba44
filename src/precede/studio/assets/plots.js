// Small histograms.
import { drawn } from "./elements.js";

export function bars(heights, labels, name, width = 116, height = 30) {
  const top = Math.max(...heights, 1), step = width / Math.max(heights.length, 1), gap = labels.length ? 2 : 0.6;
  const words = labels.length ? labels.map((label, k) => `${label} ${heights[k]}`).join(", ") : `${heights.length} bars`;
  return drawn("svg", { class: "bars", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Histogram of ${name}: ${words}` },
    heights.map((count, k) => drawn("rect", { x: (k * step + gap / 2).toFixed(1), width: Math.max(step - gap, 0.8).toFixed(1),
      y: (height - Math.max(count / top * (height - 2), count ? 1 : 0)).toFixed(1), height: Math.max(count / top * (height - 2), count ? 1 : 0).toFixed(1) },
    labels.length ? drawn("title", {}, `${labels[k]}: ${count}`) : null)));
}
