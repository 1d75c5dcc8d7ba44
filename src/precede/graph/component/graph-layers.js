// A layered layout small enough for every page: where no ELK is at hand, it places neighborhoods of some dozens of boxes.
// The same question and answer as elkLayout's: layered(boxes, links) with links as [from, to].
//
// 1. A box stands right of all that leads to it, and what leads to it close before it. 2. Long links get a bend in every
// layer on their way. 3. Sweeps order each layer by the mean place of its neighbors. 4. Places are drawn towards the
// neighbors' and pushed apart again.
const ROW = 40, BETWEEN = 44, SWEEPS = 12, PULLS = 24, BEND_ROOM = 0.5;

export async function layered(boxes, links) {
  const forward = acyclic(boxes.length, links), kept = new Set(forward), layer = layersOf(boxes.length, forward);
  const items = boxes.map((box, k) => ({ layer: layer[k], room: 1, before: [], after: [], k }));
  const chains = links.map((link) => kept.has(link) ? chain(items, ...link) : []);
  const columns = Array.from({ length: Math.max(-1, ...layer) + 1 }, (_, at) => items.filter((item) => item.layer === at));
  columns.forEach((column) => column.forEach((item, k) => { item.y = k; }));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    for (const column of down ? columns.slice(1) : columns.slice(0, -1).reverse()) {
      column.forEach((item) => { item.wish = mean(down ? item.before : item.after, item.y); });
      column.sort((a, b) => a.wish - b.wish || a.y - b.y).forEach((item) => { item.y = item.wish; });
      spread(column);
    }
  }
  for (let pull = 0; pull < PULLS; pull++) {
    for (const column of pull % 2 ? columns : [...columns].reverse()) {
      column.forEach((item) => { item.y = mean([...item.before, ...item.after], item.y); });
      spread(column);
    }
  }
  const widths = columns.map((column) => Math.max(34, ...column.filter((item) => item.k !== null).map((item) => boxes[item.k].width)));
  const rows = items.map((item) => item.y), high = (Math.max(...rows) - Math.min(...rows) || 0) * ROW, wide = widths.reduce((sum, w) => sum + w, 0);
  const gap = Math.min(190, Math.max(BETWEEN, (1.5 * high - wide) / Math.max(columns.length - 1, 1)));
  const middles = widths.map((w, at) => widths.slice(0, at).reduce((sum, other) => sum + other + gap, 0) + w / 2);
  // a long chain gets rows further apart, so that it fills a screen better
  const row = ROW * Math.min(1.7, Math.max(1, (middles.at(-1) ?? 0) / 2.2 / (high || 1)));
  const spot = (item) => ({ x: middles[item.layer], y: item.y * row });
  return { boxes: boxes.map((_, k) => spot(items[k])), links: chains.map((bends) => bends.map(spot).map(({ x, y }) => [x, y])) };
}

// the links without those that would close a circle
function acyclic(n, links) {
  const out = Array.from({ length: n }, () => []), state = new Uint8Array(n), kept = [];
  links.forEach((link) => out[link[0]].push(link));
  const visit = (at) => {
    state[at] = 1;
    out[at].forEach((link) => { if (state[link[1]] !== 1) kept.push(link); if (!state[link[1]]) visit(link[1]); });
    state[at] = 2;
  };
  for (let k = 0; k < n; k++) if (!state[k]) visit(k);
  return kept;
}
function layersOf(n, links) {
  const layer = new Array(n).fill(0);
  for (let changed = true; changed;) {
    changed = false;
    links.forEach(([from, to]) => { if (layer[to] <= layer[from]) { layer[to] = layer[from] + 1; changed = true; } });
  }
  // what nothing leads to goes next to its first effect
  for (let k = 0; k < n; k++) {
    const after = links.filter(([from]) => from === k).map(([, to]) => layer[to]);
    if (after.length && !links.some(([, to]) => to === k)) layer[k] = Math.min(...after) - 1;
  }
  return layer;
}
function chain(items, from, to) {
  const bends = [];
  let last = items[from];
  const join = (next) => { last.after.push(next); next.before.push(last); last = next; };
  for (let at = items[from].layer + 1; at < items[to].layer; at++) {
    const bend = { layer: at, room: BEND_ROOM, before: [], after: [], k: null };
    items.push(bend);
    bends.push(bend);
    join(bend);
  }
  join(items[to]);
  return bends;
}
const mean = (others, otherwise) => others.length ? others.reduce((sum, item) => sum + item.y, 0) / others.length : otherwise;
// keeps the sequence and the middle of a column, with room between neighbors
function spread(column) {
  const wished = column.map((item) => item.y);
  for (let k = 1; k < column.length; k++) column[k].y = Math.max(column[k].y, column[k - 1].y + (column[k].room + column[k - 1].room) / 2);
  const shift = column.reduce((sum, item, k) => sum + item.y - wished[k], 0) / Math.max(column.length, 1);
  column.forEach((item) => { item.y -= shift; });
}
