// Small tools of this page, beside those of the graph component.
import { el } from "./elements.js";

export const byId = (id) => document.getElementById(id);
export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

export function options(select, values, chosen) {
  select.replaceChildren(...values.map(([value, words]) => el("option", { value, selected: value === chosen }, words)));
}
