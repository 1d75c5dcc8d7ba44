// The table of columns: what each holds, how it is taken, and what is known of it.
import { plural } from "./dom.js";
import { el, number } from "./elements.js";
import { bars } from "./plots.js";

const KINDS = ["number", "count", "ordinal", "binary", "categorical"];
const TIERS = 9;

export function emptyData(onFile) {
  const input = el("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.gz,.xlsx,.parquet", class: "hidden", onchange: () => input.files[0] && onFile(input.files[0]) });
  const zone = el("div", { class: "welcome" }, el("h1", {}, "Which table shall we look at?"),
    el("p", { class: "lead" }, "A CSV, Excel or Parquet file with a row for each case and a column for each variable. It stays on this machine."),
    el("p", {}, input, el("label", { for: "file", class: "button primary" }, "Open a table")), el("p", { class: "hint" }, "Or drop it here."));
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files[0]) onFile(event.dataTransfer.files[0]); });
  return zone;
}

export function columnsPanel(data, rules, outcome, { onColumns, onFile, onOutcome }) {
  const types = Object.fromEntries(data.columns.filter((column) => column.set).map((column) => [column.name, column.set]));
  const left = new Set(data.columns.filter((column) => column.left_out).map((column) => column.name));
  const send = (more = {}) => onColumns({ ...data.reading, ...more, types, leave_out: [...left] });
  const input = el("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.gz,.xlsx,.parquet", class: "hidden", onchange: () => input.files[0] && onFile(input.files[0]) });
  const notes = data.findings.filter((finding) => finding.column === null || finding.remedy !== "none");
  const body = el("tbody", {}, data.columns.map((column) => row(column, rules, types, left, send, data)));
  return [
    el("div", { class: "above" }, el("div", {}, el("h1", {}, data.name), el("p", { class: "lead" }, `${plural(data.rows, "row")}, ${plural(data.columns.length, "column")}, ${data.columns.filter((column) => column.used).length} of them used.`)),
      el("p", {}, input, el("label", { for: "file", class: "button" }, "Another table"))),
    data.problem ? el("p", { class: "problem", role: "alert" }, data.problem) : null,
    outcomeField(data, outcome, onOutcome),
    readingFields(data, send),
    notes.length ? el("details", { class: "findings" }, el("summary", {}, plural(notes.length, "remark")), el("ul", {}, notes.map((finding) => el("li", {}, finding.sentence)))) : null,
    el("div", { class: "scroll" }, el("table", { class: "columns-table cards" }, el("caption", { class: "hidden" }, "The columns of the table"),
      el("thead", {}, el("tr", {}, ["Use", "Column", "Taken as", "Values", "Missing", "Distinct", "Known", "Tier"].map((words) => el("th", { scope: "col", class: ["Missing", "Distinct"].includes(words) ? "number" : null }, words)))), body)),
  ].filter(Boolean);
}

const select = (label, values, chosen, onChange, more = {}) => {
  const input = el("select", { "aria-label": label, ...more, onchange: () => onChange(input.value) }, values.map(([value, words]) => el("option", { value, selected: value === chosen }, words)));
  return input;
};

function outcomeField(data, outcome, onOutcome) {
  const names = data.columns.filter((column) => data.variables.includes(column.name)).map((column) => [column.name, column.name]);
  return el("p", { class: "outcome-field" }, el("label", { for: "outcome" }, "What do you want to explain? "), select("Outcome", [["", "nothing in particular"], ...names], outcome ?? "", (name) => onOutcome(name || null), { id: "outcome" }),
    el("span", { class: "hint" }, " Its causes come first; the graph opens with what leads to it."));
}

// how the file is read; what is set stands in the summary
function readingFields(data, send) {
  const { reading } = data, columns = [["", "none"], ...data.columns.map((column) => [column.name, column.name])];
  const na = el("input", { type: "text", "aria-label": "Texts that stand for a missing value", placeholder: "999, unknown", value: (reading.na ?? []).join(", "), onchange: () => send({ na: na.value.split(",").map((text) => text.trim()).filter(Boolean) }) });
  const field = (words, input) => el("p", {}, el("label", {}, el("span", {}, words), input));
  const told = [reading.na && `missing: ${reading.na.join(", ")}`, reading.missing && `missing values: ${reading.missing}`, reading.lags && `lags: ${reading.lags}`, reading.group && `by ${reading.group}`, reading.interventions && `interventions: ${reading.interventions}`, reading.decimal && `decimal mark: ${reading.decimal}`].filter(Boolean);
  return el("details", { class: "reading", open: told.length > 0 }, el("summary", {}, told.length ? `How it is read · ${told.join(" · ")}` : "How it is read: missing values, rows in time, experiments"), el("div", { class: "fields" },
    field("Also missing", na),
    field("Missing values", select("What to do with missing values", [["em", "are imputed"], ["pairwise", "pairwise covariances"], ["drop", "cost their row"], ["impute", "become the mean"], ["refuse", "are refused"]], reading.missing ?? "em", (missing) => send({ missing }))),
    field("Rows in time: earlier steps", select("Earlier steps that may be causes", [["0", "none"], ["auto", "as many as help"], ...["1", "2", "3", "4", "5"].map((k) => [k, k])], String(reading.lags ?? 0), (lags) => send({ lags: lags === "auto" ? lags : Number(lags) }))),
    field("Whose rows", select("Column that says whose row it is", columns, reading.group ?? "", (group) => send({ group }))),
    field("Experiments: names what was set", select("Column that names what was set", columns, reading.interventions ?? "", (interventions) => send({ interventions }))),
    field("1,234 in a cell is", select("What 1,234 in a cell is", [["", "as other cells show"], [".", "1234"], [",", "1.234, with decimal commas"]], reading.decimal ?? "", (decimal) => send({ decimal: decimal || undefined })))));
}

function row(column, rules, types, left, send, data) {
  const { name } = column, note = data.findings.find((finding) => finding.column === name && finding.remedy === "leave out");
  const use = el("input", { type: "checkbox", "aria-label": `Use ${name}`, checked: !column.left_out, onchange: () => { if (use.checked) left.delete(name); else left.add(name); send(); } });
  const kind = el("select", { "aria-label": `Kind of ${name}`, disabled: column.kind === "text" || column.left_out, onchange: () => {
    if (kind.value === "ordinal" && column.words) { sorter.hidden = false; return; } // its order is asked for first
    types[name] = kind.value; send();
  } },
    (column.kind === "text" ? ["text"] : column.words ? KINDS.slice(2) : KINDS).map((value) => el("option", { value, selected: value === column.kind }, value)));
  const sorter = column.words ? levelSorter(name, column.levels, column.kind !== "ordinal", (order) => { types[name] = order; send(); }) : null;
  const known = (set, words, label) => {
    const button = el("button", { type: "button", class: "pill", "aria-pressed": String(rules[set].has(name)), "aria-label": label, title: label, disabled: !column.used,
      onclick: () => { const on = !rules[set].has(name); rules.toggle(set, name, on); button.setAttribute("aria-pressed", String(on)); } }, words);
    return button;
  };
  const tier = el("select", { "aria-label": `Tier of ${name}`, disabled: !column.used, onchange: () => rules.place(name, tier.value ? Number(tier.value) : null) },
    el("option", { value: "" }, "–"), Array.from({ length: TIERS }, (_, k) => el("option", { value: k + 1, selected: rules.tier.get(name) === k + 1 }, String(k + 1))));
  return el("tr", { class: column.used ? null : "unused", title: note?.sentence },
    el("td", {}, use), el("th", { scope: "row" }, name, column.used || column.left_out ? null : el("span", { class: "why" }, data.reading.group === name ? " whose row" : data.reading.interventions === name ? " what was set" : " labels rows")), el("td", { "data-label": "Taken as" }, kind, sorter),
    el("td", { class: "values", "data-label": "Values" }, column.bars.length ? bars(column.bars, column.labels, name) : "–", column.range && !column.labels.length ? el("span", { class: "ends" }, `${number(column.range[0])} to ${number(column.range[1])}`) : null),
    el("td", { class: "number", "data-label": "Missing" }, column.missing ? column.missing.toLocaleString("en") : "–"), el("td", { class: "number", "data-label": "Distinct" }, column.distinct.toLocaleString("en")),
    el("td", { class: "known", "data-label": "Known" }, known("roots", "root", `${name} has no causes`), known("sinks", "sink", `${name} has no effects`)), el("td", { "data-label": "Tier" }, tier));
}

// levels put from low to high by hand: two buttons for each, or Alt with the arrow keys
function levelSorter(name, levels, hidden, onOrder) {
  const order = [...levels], list = el("ol", { class: "levels", "aria-label": `Levels of ${name}, from low to high` });
  const move = (k, by) => {
    if (!(k + by in order)) return;
    [order[k], order[k + by]] = [order[k + by], order[k]];
    draw(order[k + by], by);
  };
  const draw = (moved, by) => {
    list.replaceChildren(...order.map((level, k) => {
      const button = (words, step) => el("button", { type: "button", class: "quiet", "aria-label": `Move ${level} ${step < 0 ? "down the scale" : "up the scale"}`, disabled: !(k + step in order), onclick: () => move(k, step) }, words);
      return el("li", { onkeydown: (event) => { const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]; if (step && event.altKey) { event.preventDefault(); move(k, step); } } }, button("↑", -1), button("↓", 1), ` ${level}`);
    }));
    if (moved !== undefined) { const [up, down] = list.children[order.indexOf(moved)].querySelectorAll("button"); (by < 0 && !up.disabled || down.disabled ? up : down).focus(); }
  };
  draw();
  return el("div", { class: "sorter", hidden }, el("p", { class: "hint" }, "Lowest first:"), list, el("button", { type: "button", "aria-label": `Use this order of ${name}`, onclick: () => onOrder(order) }, "Use this order"));
}
