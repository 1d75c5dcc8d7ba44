// Where boxes and links go: ELK's layered layout, computed by a worker so that the page never waits for it.
//
//   const arrange = elkLayout("vendor/elk-worker.min.js");
//   const { boxes, links } = await arrange(boxes, links);
//
// A box is { width, height, tier }, a link [from, to] by position. The answer has the middle of each box as { x, y }
// and the bends of each link as a list of [x, y].

import { layered } from "./graph-layers.js";

const OPTIONS = {
  "elk.algorithm": "layered", "elk.direction": "RIGHT", "elk.edgeRouting": "POLYLINE", "elk.aspectRatio": "1.6",
  "elk.spacing.nodeNode": "16", "elk.spacing.edgeNode": "10", "elk.spacing.edgeEdge": "7", "elk.spacing.componentComponent": "24",
  "elk.layered.spacing.nodeNodeBetweenLayers": "56", "elk.layered.spacing.edgeNodeBetweenLayers": "16",
  "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF", "elk.layered.nodePlacement.bk.fixedAlignment": "BALANCED",
};
const WIDE = 1.4; // width over height, at least
const MANY_BOXES = 150; // beyond, ELK takes seconds, and the small layout milliseconds
const MANY_LINKS = 250; // from here on a quicker layout is taken

export function elkLayout(workerAddress) {
  const worker = new Worker(workerAddress), waiting = new Map();
  let last = 0;
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id) ?? {};
    waiting.delete(data.id);
    if (data.error) reject?.(new Error(String(data.error.message ?? data.error)));
    else resolve?.(data.data);
  };
  const ask = (message) => new Promise((resolve, reject) => {
    const id = last++;
    waiting.set(id, { resolve, reject });
    worker.postMessage({ ...message, id });
  });
  const ready = ask({ cmd: "register", algorithms: ["layered"] });
  return async (boxes, links) => {
    if (boxes.length > MANY_BOXES) return layered(boxes, links);
    await ready;
    const tiers = boxes.some((box) => box.tier !== null && box.tier !== undefined);
    const graph = {
      id: "graph",
      layoutOptions: { ...OPTIONS, "elk.partitioning.activate": String(tiers), "elk.layered.thoroughness": links.length > MANY_LINKS ? "1" : "7" },
      children: boxes.map(({ width, height, tier }, k) => ({ id: `n${k}`, width, height,
        layoutOptions: tier === null || tier === undefined ? {} : { "elk.partitioning.partition": String(tier) } })),
      edges: links.map(([from, to], k) => ({ id: `e${k}`, sources: [`n${from}`], targets: [`n${to}`] })),
    };
    const placed = await ask({ cmd: "layout", graph, layoutOptions: {}, options: {} });
    // a screen is wider than high: columns of many boxes are set further apart
    const stretch = Math.min(3.5, Math.max(1, WIDE * placed.height / placed.width));
    return {
      boxes: placed.children.map(({ x, y, width, height }) => ({ x: stretch * (x + width / 2), y: y + height / 2 })),
      links: placed.edges.map(({ sections }) => (sections?.[0]?.bendPoints ?? []).map(({ x, y }) => [stretch * x, y])),
    };
  };
}
