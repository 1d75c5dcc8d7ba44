// The card beside the graph: what is known of an edge or a variable, with its plot.
const card = byId("card"), hint = [...card.childNodes].map((child) => child.cloneNode(true));

function edgeCard(k) {
  const edge = edges[k], cause = nodes[edge.cause], effect = nodes[edge.effect];
  const rests = edge.influence && `${edge.influence.rows.length} of the rows; strength ${number(edge.influence.strength, 2)} without`;
  const plot = mechanism(edge, cause, effect);
  card.replaceChildren(el("h3", {}, `${cause.name} ${joint(edge)} ${effect.name}`), facts([
    edge.weight !== null && ["Weight", number(edge.weight)], ["Strength", number(edge.strength)], ["Trend", TRENDS[edge.trend]],
    edge.total !== null && ["Total effect", totalEffect(edge.total)],
    ["Partial R²", number(edge.partial_r2)],
    edge.policy_probability !== null && ["Policy probability", number(edge.policy_probability)],
    edge.confidence !== null && ["Confidence", number(edge.confidence)], edge.connected !== null && ["In either direction", number(edge.connected)],
    ["Direction from", edge.direction], ["Believe it?", edge.belief], rests && ["Rests on", rests]]), ...(plot ? [plot, el("p", { class: "hint" },
    `${effect.name} as it depends on ${cause.name}, its other causes taken out. ` +
    (edge.points === null ? `Darker cells hold more rows; ${edge.outside || "no"} row${edge.outside === 1 ? " lies" : "s lie"} outside. ` : edge.extremes[0].length ? "Larger points are values far out. " : "") +
    (cause.mean === null ? "" : edge.slope !== null ? "The line is the linear fit, the thin curve a smooth one." : "The curve is a smooth fit."))] : []));
}

function sharedCard(pair) {
  const [first, second] = [nodes[pair.cause].name, nodes[pair.effect].name];
  card.replaceChildren(el("h3", {}, `${first} ↔ ${second}`),
    el("p", { class: "hint" }, `${first} and ${second} share an unmeasured cause, as far as the independences tell; neither causes the other.`));
}

function nodeCard(index) {
  const node = nodes[index];
  const names = (found) => found.length ? found.join(", ") : "none";
  const causes = edges.filter((e, k) => e.effect === index && visible[k]).map((e) => nodes[e.cause].name);
  const effects = edges.filter((e, k) => e.cause === index && visible[k]).map((e) => nodes[e.effect].name);
  const shared = sharedCauses.flatMap(({ cause, effect }) => cause === index ? [nodes[effect].name] : effect === index ? [nodes[cause].name] : []);
  const plot = distribution(node);
  card.replaceChildren(el("h3", {}, node.name), facts([["Place in the order", `${node.place} of ${nodes.length}`],
    node.mean !== null && ["Mean", number(node.mean)], node.sd !== null && ["Standard deviation", number(node.sd)]]),
    el("p", {}, el("strong", {}, "Causes: "), names(causes)), el("p", {}, el("strong", {}, "Effects: "), names(effects)),
    ...(shared.length ? [el("p", {}, el("strong", {}, "Shares an unmeasured cause with: "), names(shared))] : []), ...(plot ? [plot] : []));
}
