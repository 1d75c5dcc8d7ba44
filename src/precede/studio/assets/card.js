// The card beside the graph: what is known of an edge or a variable, and what can be done about it.
import { get } from "./api.js";
import { byId } from "./dom.js";
import { TRENDS, distribution, mechanism } from "./edge-plots.js";
import { el, facts, number } from "./elements.js";

const HINT = ["Choose an edge to see how it works, and to veto or require it.", "Choose a variable to see its causes and effects.", "Double-click a variable, or press Enter on it, to highlight ancestors and descendants."];

export function drawCard(item, shown, rules, actions) {
  const place = byId("card");
  if (!shown) { place.replaceChildren(); return; }
  if (item === null && shown.target !== null && shown.target !== undefined) { outcomeCard(place, shown, actions); return; }
  if (item === null) { place.replaceChildren(el("h2", {}, "Nothing is chosen"), ...HINT.map((words) => el("p", { class: "hint" }, words))); return; }
  place.replaceChildren(...(item.kind === "node" ? variable(item.index, shown, actions) : edgeCard(shown.graph.edges[item.index], shown, rules, actions)).filter(Boolean));
}

// the causes of the outcome, while nothing is chosen
async function outcomeCard(place, shown, actions) {
  const name = shown.graph.nodes[shown.target].name;
  place.replaceChildren(el("h2", {}, `What causes ${name}`), el("p", { class: "hint" }, "Thinking…"));
  if (!shown.summary) return; // the checks are on their way, and it is drawn again
  const content = await get(`/api/runs/${shown.run.id}/causes?outcome=${encodeURIComponent(name)}`).then(({ outcome }) => outcome.causes.length
    ? [el("ol", { class: "causes" }, outcome.causes.map((cause) => el("li", {}, el("button", { type: "button", class: "link", onclick: () => actions.focus(shown.graph.nodes.findIndex((node) => node.name === cause.variable)) }, cause.variable), cause.certain ? null : " possibly", el("br"), `${cause.words.size} ${cause.words.change}`, el("br"), el("span", { class: "hint" }, `${cause.words.interval}; ${cause.words.way}`)))),
      el("p", {}, el("button", { type: "button", class: "link", onclick: () => actions.ask(null, name) }, "More about them"))]
    : [el("p", {}, `The graph has no cause of ${name}.`)], (error) => [el("p", { class: "problem" }, error.message)]);
  if (place.firstElementChild?.textContent === `What causes ${name}`) place.replaceChildren(place.firstElementChild, ...content, el("p", { class: "hint" }, HINT[0]));
}

function edgeCard(edge, shown, rules, actions) {
  const [cause, effect] = [edge.cause, edge.effect].map((index) => shown.graph.nodes[index].name), rule = rules.of(cause, effect);
  if (edge.mark === "shared") return [el("h2", {}, `${cause} and ${effect}`), el("p", {}, "They share an unmeasured cause, as far as the independences tell; neither causes the other.")];
  const known = shown.summary?.edges.find((other) => other.cause === edge.cause && other.effect === edge.effect);
  const plot = known && mechanism(known, shown.summary.nodes[edge.cause], shown.summary.nodes[edge.effect]);
  const button = (words, kind, title) => el("button", { type: "button", "data-rule": kind, title, "aria-pressed": String(rule === kind), onclick: () => actions.rule(kind, cause, effect) }, words);
  return [
    el("h2", {}, `${cause} ${{ line: "–", half: "o→", open: "o–o" }[edge.mark] ?? "→"} ${effect}`),
    edge.change === "removed" ? el("p", { class: "hint" }, "It was in the run before and is gone.") : null,
    el("p", { class: "acts" }, button("Veto", "forbidden", `${cause} does not cause ${effect}: run again without it`), button("Require", "required", `${cause} causes ${effect}: run again with it`),
      rule === null && edge.change !== "removed" ? el("button", { type: "button", "data-rule": "turn", title: `It is the other way round: run again with ${effect} → ${cause}`, onclick: () => actions.turn(cause, effect) }, "Turn") : null),
    facts([known && known.weight !== null && ["Weight", number(known.weight)], known && ["Strength", number(known.strength)],
      edge.probability !== null && ["Confidence", number(edge.probability, 2)], known && known.policy_probability !== null && ["Policy probability", number(known.policy_probability, 2)], known && ["Effect", TRENDS[known.trend]], known && ["Partial R²", number(known.partial_r2)],
      known && ["Direction from", known.direction], known && ["Believe it?", known.belief]]),
    plot, plot ? el("p", { class: "hint" }, `${effect} as it depends on ${cause}, its other causes taken out; darker cells hold more rows.`) : null,
    edge.change === "removed" ? null : el("p", {}, el("button", { type: "button", class: "link", onclick: () => actions.ask(cause, effect) }, `How large is the effect of ${cause} on ${effect}?`)),
  ];
}

function variable(index, shown, actions) {
  const { nodes, edges } = shown.graph, { name } = nodes[index], known = shown.summary?.nodes[index];
  const linked = (from, to) => edges.filter((edge) => edge.change !== "removed" && edge.mark !== "shared" && edge[from] === index).map((edge) => edge[to]);
  const names = (title, found) => [el("h3", {}, title), found.length ? el("ul", { class: "names" }, found.map((other) => el("li", {}, el("button", { type: "button", class: "link", onclick: () => actions.focus(other) }, nodes[other].name)))) : el("p", { class: "hint" }, "none")];
  return [
    el("h2", {}, name), facts([["Place in the order", `${shown.graph.order.indexOf(index) + 1} of ${nodes.length}`], known && known.mean !== null && ["Mean", number(known.mean)], known && known.sd !== null && ["Standard deviation", number(known.sd)]]),
    ...names("Causes", linked("effect", "cause")), ...names("Effects", linked("cause", "effect")), known && distribution(known),
    el("p", {}, el("button", { type: "button", class: "link", onclick: () => actions.ask(name, null) }, `What if ${name} were set?`)),
  ];
}
