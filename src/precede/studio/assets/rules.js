// What is known before looking at the data: edges that must or must not be there, roots, sinks, tiers.
import { byId, options } from "./dom.js";
import { el } from "./elements.js";

export class Rules {
  constructor(onChange) {
    Object.assign(this, { onChange, required: [], forbidden: [], roots: new Set(), sinks: new Set(), tier: new Map() });
    byId("add-rule").addEventListener("submit", (event) => {
      event.preventDefault();
      const [cause, effect] = [byId("rule-cause").value, byId("rule-effect").value];
      if (cause && effect && cause !== effect) this.set(byId("rule-kind").value, cause, effect);
    });
  }
  columns(names) {
    const choices = names.map((name) => [name, name]);
    for (const id of ["rule-cause", "rule-effect"]) options(byId(id), choices, byId(id).value || names[id === "rule-cause" ? 0 : 1]);
    const there = new Set(names), kept = ([cause, effect]) => there.has(cause) && there.has(effect);
    this.required = this.required.filter(kept);
    this.forbidden = this.forbidden.filter(kept);
    for (const set of [this.roots, this.sinks, this.tier]) [...set.keys()].forEach((name) => there.has(name) || set.delete(name));
    this.draw();
  }
  // an edge has one rule at most
  set(kind, cause, effect) {
    this.remove(cause, effect);
    this[kind].push([cause, effect]);
    this.changed();
  }
  remove(cause, effect) {
    for (const kind of ["required", "forbidden"]) this[kind] = this[kind].filter(([a, b]) => a !== cause || b !== effect);
  }
  of(cause, effect) {
    return ["required", "forbidden"].find((kind) => this[kind].some(([a, b]) => a === cause && b === effect)) ?? null;
  }
  toggle(set, name, on) { if (on) this[set].add(name); else this[set].delete(name); this.changed(); }
  place(name, tier) { if (tier === null) this.tier.delete(name); else this.tier.set(name, tier); this.changed(); }
  changed() { this.draw(); this.onChange(); }

  // as the server reads it
  content() {
    const levels = [...new Set(this.tier.values())].sort((a, b) => a - b);
    const tiers = levels.map((level) => [...this.tier].filter(([, own]) => own === level).map(([name]) => name));
    return { required: this.required, forbidden: this.forbidden, roots: [...this.roots], sinks: [...this.sinks], tiers: tiers.length > 1 ? tiers : [] };
  }
  take(content = {}) {
    Object.assign(this, { required: content.required ?? [], forbidden: content.forbidden ?? [], roots: new Set(content.roots), sinks: new Set(content.sinks),
      tier: new Map((content.tiers ?? []).flatMap((names, level) => names.map((name) => [name, level + 1]))) });
    this.changed();
  }
  draw() {
    const item = (words, kind, remove) => el("li", { class: kind }, el("span", {}, words),
      el("button", { type: "button", class: "drop", "aria-label": `Remove: ${words}`, title: "Remove", onclick: () => { remove(); this.changed(); } }, "×"));
    const { tiers } = this.content();
    byId("rules").replaceChildren(
      ...this.required.map(([a, b]) => item(`${a} → ${b}`, "required", () => this.remove(a, b))),
      ...this.forbidden.map(([a, b]) => item(`${a} ↛ ${b}`, "forbidden", () => this.remove(a, b))),
      ...[...this.roots].map((name) => item(`${name} has no causes`, "root", () => this.roots.delete(name))),
      ...[...this.sinks].map((name) => item(`${name} has no effects`, "sink", () => this.sinks.delete(name))),
      ...(tiers.length ? [item(tiers.map((names) => names.join(", ")).join(" before "), "tiers", () => this.tier.clear())] : []));
  }
}
