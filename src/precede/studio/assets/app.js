// The page: what is shown, what happens on a click, what the server says.
import { get, listen, post, remove, upload } from "./api.js";
import { drawCard } from "./card.js";
import { columnsPanel, emptyData } from "./columns.js";
import { byId, options, plural } from "./dom.js";
import { el, number } from "./elements.js";
import { elkLayout } from "./graph-layout.js";
import { GraphView, startingStrength } from "./graph-view.js";
import { checksPanel, comparePanel, effectsPanel, exportPanel } from "./results.js";
import { Rules } from "./rules.js";

const arrange = elkLayout("/assets/vendor/elk-worker.min.js");
const state = { data: null, outcome: null, runs: [], methods: [], running: null, shown: null, asked: {}, compared: new Set(), started: 0 };
const rules = new Rules(() => state.view?.chosen && drawCard(state.view.chosen, state.shown, rules, actions));
const views = [];

// -- small matters ------------------------------------------------------------------------------------------------------

function say(words) {
  byId("notice").hidden = !words;
  byId("notice").replaceChildren(words, el("button", { type: "button", class: "drop", "aria-label": "Close", onclick: () => say("") }, "×"));
}
const user_errors = (work) => async (...given) => { try { say(""); return await work(...given); } catch (error) { say(error.message); return null; } };
function paint(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = dark ? "Light" : "Dark";
  for (const view of [state.view, ...views]) view?.repaint();
}

// -- tabs ---------------------------------------------------------------------------------------------------------------

const tabs = [...document.querySelectorAll("[role=tab]")];
function open(name, focus = false) {
  for (const tab of tabs) {
    const on = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !on;
    if (on && focus) tab.focus();
  }
  state.tab = name;
  drawPanel();
}
async function drawPanel() {
  const { tab, shown } = state, place = byId(`panel-${tab}`);
  if (tab === "data") place.replaceChildren(...(state.data ? columnsPanel(state.data, rules, state.outcome, { onColumns, onFile, onOutcome }) : [emptyData(onFile)]));
  if (tab === "checks") place.replaceChildren(...checksPanel(shown));
  if (tab === "effects") { place.replaceChildren(...effectsPanel(shown, state.asked, state.outcome)); state.asked = { ...state.asked, now: false }; }
  if (tab === "export") place.replaceChildren(...exportPanel(shown));
  if (tab === "compare") await drawCompare();
}
const drawCompare = user_errors(async () => {
  views.splice(0);
  const panel = await comparePanel(state.runs, state.compared, (id, on) => { if (on) state.compared.add(id); else state.compared.delete(id); drawCompare(); }, (place, graph, title) => {
    const view = new GraphView(place, { arrange, title, bar: false });
    views.push(view);
    view.show(graph);
  });
  byId("panel-compare").replaceChildren(...panel);
});

// -- data ---------------------------------------------------------------------------------------------------------------

function takeData(data) {
  state.data = data;
  if (data && !data.variables.includes(state.outcome)) state.outcome = null;
  byId("about-data").textContent = data ? `${data.name} · ${plural(data.rows, "row")} · ${plural(data.columns.filter((column) => column.used).length, "variable")}` : "";
  byId("run").disabled = !data || Boolean(data.problem);
  rules.columns(data ? data.columns.filter((column) => column.used).map((column) => column.name) : []);
  if (state.tab === "data") {
    const label = document.activeElement?.getAttribute("aria-label");
    drawPanel();
    if (label) document.querySelector(`[aria-label="${CSS.escape(label)}"]`)?.focus();
  }
}
const onOutcome = (name) => { state.outcome = name; if (state.shown) drawGraph(state.shown); };
const onColumns = user_errors(async (choice) => takeData(await post("/api/columns", choice)));
const onFile = user_errors(async (file) => { byId("about-data").textContent = `Reading ${file.name}…`; takeState(await upload(file)); open("data"); });

// -- runs ---------------------------------------------------------------------------------------------------------------

const wanted = () => ({
  method: byId("method").value, seed: Number(byId("seed").value), resamples: Number(byId("resamples").value), name: byId("run-name").value,
  options: byId("method").value === "corl" ? { score: byId("score").value, search: byId("search").value, hidden: byId("hidden").value, max_time: byId("max-time").value } : {}, knowledge: rules.content(), outcome: state.outcome,
});
const start = user_errors(async (from = null) => {
  const run = await post("/api/runs", { ...wanted(), start: from });
  state.newest = run.id;
  byId("run-name").value = "";
  open("graph");
});
// the run whose order a second one starts from: the one that is shown, where it has the same columns
function base() {
  const names = (list) => [...list].sort().join("\n");
  const same = state.shown && state.data && names(state.shown.graph.nodes.map((node) => node.name)) === names(state.data.variables);
  return same && byId("method")?.value === "corl" ? state.shown.run.id : null;
}

function drawRuns() {
  const words = { waiting: "waits", running: "running…", failed: "no graph", stopped: "stopped early" };
  byId("no-runs").hidden = state.runs.length > 0;
  byId("again").hidden = base() === null;
  byId("runs").replaceChildren(...[...state.runs].reverse().map((run) => {
    const rule = Object.values(run.request.knowledge ?? {}).reduce((sum, list) => sum + list.length, 0);
    return el("li", {}, el("button", { type: "button", class: `entry ${run.state}`, "data-run": run.id, "aria-current": String(state.shown?.run.id === run.id), disabled: !run.has_graph && run.state !== "failed",
      onclick: () => run.has_graph ? showRun(run.id).then(() => ["data", undefined].includes(state.tab) && open("graph")) : say(`Run ${Number(run.id)}: ${run.error}`) },
    el("span", { class: "title" }, `Run ${Number(run.id)}`, run.request.name ? ` · ${run.request.name}` : ""),
    el("span", { class: "detail" }, [run.request.adopted ? "opened" : run.request.method, rule ? plural(rule, "rule") : null, run.parent ? `from run ${Number(run.parent)}` : null, words[run.state] ?? (run.seconds === null ? null : `${number(run.seconds, 2)} s`)].filter(Boolean).join(" · "))),
    ["waiting", "running"].includes(run.state) ? null : el("button", { type: "button", class: "drop", "data-delete": run.id, "aria-label": `Delete run ${Number(run.id)}`, title: "Delete", onclick: () => confirm(`Delete run ${Number(run.id)} and its files?`) && deleteRun(run.id) }, "×"));
  }));
}
const deleteRun = user_errors(async (id) => {
  state.runs = (await remove(`/api/runs/${id}`)).runs;
  state.compared.delete(id);
  drawRuns();
  if (state.tab === "compare") drawPanel();
});
const showRun = user_errors(async (id) => {
  const shown = await get(`/api/runs/${id}`);
  state.compared = new Set([shown.against ?? state.runs.filter((run) => run.has_graph && run.id !== id).at(-1)?.id, id].filter(Boolean));
  await drawGraph(shown);
  drawRuns();
  if (state.tab !== "graph") drawPanel();
});
async function drawGraph(shown) {
  state.shown = shown;
  const at = shown.graph.nodes.findIndex((node) => node.name === state.outcome);
  shown.target = at < 0 ? null : at;
  byId("tab-graph").disabled = false;
  state.view ??= new GraphView(byId("graph"), { arrange, onSelect: (item) => drawCard(item, state.shown, rules, actions) });
  shown.graph.nodes.forEach((node) => { node.tier = rules.content().tiers.length ? rules.tier.get(node.name) ?? null : null; });
  await state.view.show(shown.graph, shown.target);
  if (state.view.chosen === null) drawCard(null, shown, rules, actions);
  drawChanges(shown);
  drawLegend(shown);
}
function drawChanges({ changes, against }) {
  const place = byId("changes"), count = (kind) => changes.filter((change) => change.kind === kind).length;
  place.hidden = against === null || against === undefined;
  const parts = [["added", "new"], ["removed", "gone"], ["turned", "turned round"]].filter(([kind]) => count(kind)).map(([kind, words]) => el("span", { class: `change ${kind}` }, `${count(kind)} ${words}`));
  place.replaceChildren(el("span", {}, parts.length ? `Since run ${Number(against)}:` : `The same edges as in run ${Number(against)}.`), ...parts, changes.length ? el("details", {}, el("summary", {}, "Which?"), el("ul", {}, changes.map((change) => el("li", {}, change.sentence)))) : "");
}
function drawLegend(shown) {
  const has = (test) => shown.graph.edges.some(test);
  const entry = (kind, words) => el("span", { class: `key ${kind}` }, words);
  const sure = shown.graph.edges.some((edge) => edge.probability !== null && edge.probability !== undefined && edge.mark !== "shared");
  const largest = Math.max(...shown.graph.edges.map((edge) => edge.strength ?? 0), 0), first = shown.target === null ? startingStrength(shown.graph.edges, shown.graph.nodes.length) : 0;
  const filter = () => {
    const weakest = Number(strong.value) / 100 * largest, least = Number(slider.value);
    byId("strong-value") && (byId("strong-value").textContent = weakest.toFixed(2));
    byId("least-value") && (byId("least-value").textContent = least.toFixed(2));
    state.view.filter((edge) => edge.mark === "shared" || edge.change === "removed" || ((edge.strength ?? largest) >= weakest - 1e-9 && (edge.probability ?? 1) >= least - 1e-9));
  };
  const slider = el("input", { type: "range", id: "least", min: "0", max: "1", step: "0.05", value: "0", oninput: filter });
  const strong = el("input", { type: "range", id: "strong", min: "0", max: "100", step: "1", value: String(first), oninput: filter });
  byId("legend").replaceChildren(...[entry("rising", "rises"), entry("falling", "falls"), has((e) => e.mark === "line") && entry("either", "direction unknown"), has((e) => e.doubtful) && entry("doubtful", "confidence below ½"), has((e) => ["half", "open"].includes(e.mark)) && entry("circle", "circle: perhaps an unmeasured common cause"), has((e) => e.mark === "shared") && entry("shared", "unmeasured common cause")].filter(Boolean),
    el("span", { class: "sliders" }, largest > 0 && el("span", { class: "least", title: "Standardized: of a thick line." }, el("label", { for: "strong" }, "Strength at least ", el("output", { id: "strong-value", for: "strong" }, "0.00")), strong),
      sure && el("span", { class: "least", title: "Share of the fits to resampled rows that have the edge." }, el("label", { for: "least" }, "Confidence at least ", el("output", { id: "least-value", for: "least" }, "0.00")), slider)));
  filter();
}
const actions = {
  rule: (kind, cause, effect) => { if (rules.of(cause, effect) === kind) { rules.remove(cause, effect); rules.changed(); } else { rules.set(kind, cause, effect); } start(base()); },
  turn: (cause, effect) => { rules.set("forbidden", cause, effect); rules.set("required", effect, cause); start(base()); },
  focus: (index) => state.view.focus(index),
  ask: (cause, effect) => { state.asked = { cause, effect, now: true }; open("effects", true); },
};

// -- news ---------------------------------------------------------------------------------------------------------------

function hear(news) {
  if (news.listed) state.runs = [...state.runs.filter((run) => run.id !== news.run), news.listed].sort((a, b) => a.id.localeCompare(b.id));
  if (news.kind === "started") { state.running = news.run; state.started = performance.now(); working("Looking at the data", null); state.runs.forEach((run) => { if (run.id === news.run) run.state = "running"; }); }
  if (news.kind === "progress") working(`${news.label}${news.figures.best_score === undefined ? "" : `, best score ${number(news.figures.best_score, 6)}`}`, news.total ? news.done / news.total : null);
  if (news.kind === "graph") {
    working("Checking the graph against the data", null);
    state.lastDrawn = news.run;
    drawGraph({ run: { id: news.run }, graph: news.graph, changes: news.changes, against: news.against, summary: null, files: [], script: null }).then(() => { document.documentElement.dataset.drawn = news.run; });
  }
  if (news.kind === "ended") {
    state.running = null;
    byId("work").hidden = true;
    if (news.listed.has_graph) showRun(news.run).then(() => { document.documentElement.dataset.complete = news.run; }); else say(`Run ${Number(news.run)}: ${news.error}`);
  }
  drawRuns();
}
function working(words, share) {
  byId("work").hidden = false;
  byId("work-words").textContent = words;
  byId("track").classList.toggle("unknown", share === null);
  if (share === null) byId("track").removeAttribute("aria-valuenow"); else byId("track").setAttribute("aria-valuenow", String(Math.round(100 * share)));
  byId("filled").style.width = share === null ? "" : `${100 * share}%`;
}

// -- to begin with ------------------------------------------------------------------------------------------------------

function takeState(found) {
  Object.assign(state, { runs: found.runs, methods: found.methods, running: found.running });
  takeData(found.data);
  drawRuns();
}
function drawSettings() {
  const field = (label, input) => el("p", {}, el("label", { for: input.id }, label), input);
  const method = el("select", { id: "method" }), score = el("select", { id: "score" }), search = el("select", { id: "search" }), hidden = el("select", { id: "hidden" });
  options(search, [["auto", "auto"], ["policy", "policy: train it"], ["local", "local"], ["exact", "exact: few variables"]], "auto");
  options(hidden, [["none", "all are in the table"], ["allowed", "some may be missing"]], "none");
  options(method, state.methods.map(({ name, obeys }) => [name, obeys ? name : `${name} (no rules)`]), "corl");
  options(score, ["auto", "policy", "linear", "nongaussian", "quadratic", "gp", "sparse-linear", "sparse-gp", "sparse-gp-additive", "discrete-bic", "bdeu", "degenerate-gaussian", "conditional-gaussian"].map((name) => [name, name]), "auto");
  byId("settings").replaceChildren(field("Name of the run", el("input", { id: "run-name", type: "text", maxlength: "80", autocomplete: "off" })), field("Method", method), field("Score", score), field("Search", search), field("Common causes", hidden),
    field("Seconds at most", el("input", { id: "max-time", type: "number", min: "1", placeholder: "no limit" })), field("Resamples, for confidence", el("input", { id: "resamples", type: "number", min: "0", max: "1000", value: "0" })), field("Seed", el("input", { id: "seed", type: "number", min: "0", value: "0" })));
  method.addEventListener("change", () => { for (const own of [score, search, hidden, byId("max-time")]) own.disabled = method.value !== "corl"; });
}
for (const [k, tab] of tabs.entries()) {
  tab.addEventListener("click", () => open(tab.id.slice(4)));
  tab.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (move) { event.preventDefault(); open(tabs[(k + move + tabs.length) % tabs.length].id.slice(4), true); }
  });
}
byId("run").addEventListener("click", () => start());
byId("again").addEventListener("click", () => start(base()));
byId("stop").addEventListener("click", user_errors(() => post(`/api/runs/${state.running}/stop`)));
byId("theme").addEventListener("click", () => paint(document.documentElement.dataset.theme !== "dark"));
paint(matchMedia("(prefers-color-scheme: dark)").matches);
const found = await get("/api/state"), last = found.runs.filter((run) => run.has_graph).at(-1);
state.outcome = last?.request.outcome ?? null;
takeState(found);
drawSettings();
open(last && !state.data ? "graph" : "data");
if (last) await showRun(last.id);
rules.take(last?.request.knowledge);
listen(hear, (gone) => { if (gone) { state.gone = true; say("The server does not answer: is it still running?"); } else if (state.gone) location.reload(); });
document.documentElement.dataset.ready = "yes";
