// The other views of a run: checks, effects and what-ifs, runs side by side, files to take away.
import { get, post } from "./api.js";
import { options, plural } from "./dom.js";
import { el, number } from "./elements.js";

const needed = (words) => [el("p", { class: "hint" }, words)];
const titles = { warning: "Warnings", note: "Notes", fine: "Passed", "not run": "Not run" };

export function checksPanel(shown) {
  if (!shown?.summary) return needed(shown ? "The checks are on their way." : "Run first: then the graph is checked against the data.");
  const { assumed, found, sure, unknown, checks, remarks } = shown.summary;
  const said = [...remarks, ...checks];
  return [
    el("h1", {}, "Can this graph be trusted?"),
    el("div", { class: "glance" }, [["What was assumed", assumed], ["What was found", found], ["How sure it is", sure], ["What the data cannot tell", unknown]].map(([title, words]) =>
      el("section", {}, el("h2", {}, title), words.map((sentence) => el("p", {}, sentence))))),
    ...["warning", "note", "fine", "not run"].flatMap((level) => {
      const of = said.filter((item) => item.level === level);
      return of.length ? [el("h2", {}, titles[level]), el("ul", { class: `checks ${level.replace(" ", "-")}` }, of.map((item) => el("li", {}, item.name === "remark" ? null : el("h3", {}, item.name), el("p", {}, `${item.sentence} ${item.remedy}`))))] : [];
    }),
  ];
}

// a table of text; on a narrow page every row is a card, with the heads as labels
function cards(heads, rows) {
  return el("table", { class: "figures cards" }, el("thead", {}, el("tr", {}, heads.map(([words, kind]) => el("th", { scope: "col", class: kind }, words)))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((words, k) => k ? el("td", { class: heads[k][1], "data-label": heads[k][0] }, words) : el("th", { scope: "row" }, words))))));
}

// what causes the outcome, and what makes a row or a period unusual
function outcomePart(run, outcome) {
  const place = el("div", { class: "answer", role: "status" }, el("p", { class: "hint" }, "Thinking…")), told = el("div", { class: "answer", role: "status" });
  get(`/api/runs/${run}/causes?outcome=${encodeURIComponent(outcome)}`).then(({ outcome: found }) => {
    const sure = (cause) => cause.confidence ?? cause.weakest, wholly = found.causes.some((cause) => cause.confidence !== null);
    const rows = found.causes.map((cause) => [`${cause.variable}${cause.certain ? "" : " (possibly)"}`, `${cause.words.size} ${cause.words.change}`, cause.words.interval, cause.words.way, cause.words.adjusted_for, sure(cause) === null ? "–" : sure(cause).toFixed(2)]);
    const others = found.correlated.map(({ variable, correlation }) => `${variable} (${correlation > 0 ? "+" : ""}${correlation.toFixed(2)})`);
    place.replaceChildren(rows.length ? cards([["Cause"], ["Total effect"], ["95% interval"], ["Acts"], ["Adjusted for"], [wholly ? "Confidence" : "Weakest edge", "number"]], rows) : el("p", {}, `The graph has no cause of ${outcome}.`),
      ...(others.length ? [el("p", { class: "hint" }, `Correlated with ${outcome}, but no cause of it in this graph: ${others.join(", ")}.`)] : []));
  }, (error) => place.replaceChildren(el("p", { class: "problem" }, error.message)));
  const row = el("input", { id: "explain-row", type: "number", min: "0", step: "1", value: "0", required: true }), since = el("select", { id: "explain-since", "aria-label": "What to explain" });
  options(since, [["", "in row"], ["since", "changed from row"]], "");
  const ask = async (event) => {
    event.preventDefault();
    told.replaceChildren(el("p", { class: "hint" }, "Thinking…"));
    try {
      const { sentences } = await post(`/api/runs/${run}/explain`, { outcome, row: Number(row.value), since: since.value !== "" });
      told.replaceChildren(el("p", { class: "said" }, sentences[0]), el("ul", { class: "reasons" }, sentences.slice(1).map((words) => el("li", {}, words))));
    } catch (error) { told.replaceChildren(el("p", { class: "problem" }, error.message)); }
  };
  return [el("h1", {}, `What causes ${outcome}`), place,
    el("form", { class: "ask", id: "explain", onsubmit: ask }, el("label", { for: "explain-row" }, `Why is ${outcome} as it is`), since, row, el("span", {}, "(from 0)?"), el("button", { type: "submit", class: "primary" }, "Ask")), told];
}

export function effectsPanel(shown, asked, outcome) {
  if (!shown) return needed("Run first: then the graph answers how large an effect is, and what if.");
  const names = shown.graph.nodes.map((node) => [node.name, node.name]), run = shown.run.id;
  const cause = el("select", { id: "effect-cause" }), effect = el("select", { id: "effect-effect" }), variable = el("select", { id: "set-variable" });
  options(cause, names, asked.cause ?? names[0][0]);
  options(effect, names, asked.effect ?? outcome ?? names[1][0]);
  options(variable, names, asked.cause ?? names[0][0]);
  const value = el("input", { id: "set-value", type: "text", value: "0", required: true, autocomplete: "off" });
  const answer = el("div", { class: "answer", role: "status" }), told = el("div", { class: "answer", role: "status" });
  const answered = (place, work) => async (event) => {
    event.preventDefault();
    place.replaceChildren(el("p", { class: "hint" }, "Thinking…"));
    try { place.replaceChildren(...await work()); } catch (error) { place.replaceChildren(el("p", { class: "problem" }, error.message)); }
  };
  const ask = answered(answer, async () => {
    const found = await get(`/api/runs/${run}/effect?cause=${encodeURIComponent(cause.value)}&effect=${encodeURIComponent(effect.value)}`);
    const sets = found.adjustment_sets.map((set) => set.length ? `{${set.join(", ")}}` : "nothing").join(", or ");
    return [...Object.values(found.answers).map((one) => el("p", { class: "said" }, one.sentence)), found.adjustment_sets.length ? el("p", { class: "hint" }, `To adjust for: ${sets}.`) : null].filter(Boolean);
  });
  const whatIf = answered(told, async () => {
    const found = await post(`/api/runs/${run}/what-if`, { settings: { [variable.value]: value.value.trim() !== "" && Number.isFinite(Number(value.value)) ? Number(value.value) : value.value } });
    const rows = found.rows.filter((row) => Math.abs(row.change) > 1e-9).sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
    return [el("p", { class: "said" }, found.sentence), ...found.remarks.map((words) => el("p", { class: "hint" }, words)),
      rows.length ? cards(["Variable", "Mean", "If set", "Change", "5 %", "95 %"].map((words, k) => [words, k ? "number" : null]), rows.map((row) => [row.index, ...["mean", "mean if set", "change", "5 %", "95 %"].map((name) => number(row[name]))])) : null].filter(Boolean);
  });
  const panel = [
    ...(names.some(([name]) => name === outcome) ? outcomePart(run, outcome) : []),
    el("h1", {}, "Ask the graph"),
    el("form", { class: "ask", onsubmit: ask }, el("label", { for: "effect-cause" }, "How large is the effect of"), cause, el("label", { for: "effect-effect" }, "on"), effect, el("button", { type: "submit", class: "primary" }, "Ask")), answer,
    el("form", { class: "ask", onsubmit: whatIf }, el("label", { for: "set-variable" }, "What if"), variable, el("label", { for: "set-value" }, "were set to"), value, el("button", { type: "submit", class: "primary" }, "Ask")), told,
  ];
  if (asked.now && asked.cause !== null) queueMicrotask(() => (asked.effect ? ask : () => value.focus())(new Event("submit")));
  return panel;
}

export async function comparePanel(runs, chosen, onChoose, drawGraph) {
  const able = runs.filter((run) => run.has_graph), label = (run) => `${Number(run.id)} ${run.request.name ?? ""}`.trim();
  const boxes = el("fieldset", { class: "chooser" }, el("legend", {}, "Runs side by side"), able.map((run) => el("label", {}, el("input", { type: "checkbox", value: run.id, checked: chosen.has(run.id), onchange: (event) => onChoose(run.id, event.target.checked) }), ` ${label(run)}`)));
  const picked = able.filter((run) => chosen.has(run.id));
  if (picked.length < 2) return [el("h1", {}, "Compare"), boxes, el("p", { class: "hint" }, able.length < 2 ? "Two runs with a graph are needed." : "Choose two runs or more.")];
  const found = await get(`/api/compare?runs=${picked.map((run) => run.id).join(",")}`);
  const graphs = found.labels.map((name, k) => { const place = el("div", { class: "mini" }); requestAnimationFrame(() => drawGraph(place, found.graphs[name], name)); return el("figure", {}, el("figcaption", {}, `Run ${name}${k ? ", beside the first" : ""}`), place); });
  const mark = { "->": "→", "<-": "←", "--": "–", "": "·" };
  const rows = found.table.filter((row) => new Set(found.labels.map((name) => row[name])).size > 1);
  return [
    el("h1", {}, "Compare"), boxes, el("p", { class: "said" }, found.sentence), el("div", { class: "minis" }, graphs),
    rows.length ? el("table", { class: "figures" }, el("caption", {}, `Where they differ: ${plural(rows.length, "pair")}`), el("thead", {}, el("tr", {}, ["", ...found.labels, "", "Consensus"].map((words) => el("th", { scope: "col" }, words)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row.first), found.labels.map((name) => el("td", { class: "mark" }, mark[row[name]])), el("th", { scope: "row" }, row.second), el("td", { class: "mark" }, mark[row.consensus]))))) : el("p", {}, "They are the same graph."),
  ];
}

export function exportPanel(shown) {
  if (!shown) return needed("Run first: then everything can be taken away.");
  const base = `/api/runs/${shown.run.id}/files`, words = { "report.html": "the report, one page for everybody", "graph.json": "the graph", "graph.dot": "for Graphviz", "graph.gml": "for networkx and others", "adjacency.csv": "the matrix", "weights.csv": "the weights",
    "order.txt": "the causal order", "pag.json": "the marks of hidden causes", "summary_graph.csv": "what causes what at any lag", "result.json": "settings, checks, versions", "confidence.json": "the resamples", "reproduce.py": "the script below" };
  const copy = el("button", { type: "button", onclick: async () => { await navigator.clipboard.writeText(shown.script); copy.textContent = "Copied"; } }, "Copy");
  return [
    el("h1", {}, "Take it with you"),
    el("p", { class: "acts" }, el("a", { class: "button primary", href: `${base}/all.zip`, download: true }, "Everything, as zip"), shown.files.includes("report.html") ? el("a", { class: "button", href: `${base}/report.html`, target: "_blank", rel: "noopener" }, "Open the report") : null),
    el("ul", { class: "files" }, shown.files.map((name) => el("li", {}, el("a", { href: `${base}/${name}?download`, download: name }, name), ` ${words[name] ?? ""}`))),
    el("p", { class: "hint" }, `The folder of this run works on the command line too: precede report, precede effect, precede compare.`),
    shown.script ? el("div", { class: "script" }, el("h2", {}, "The script that gives this again"), copy, el("pre", {}, el("code", {}, shown.script))) : null,
  ].filter(Boolean);
}
