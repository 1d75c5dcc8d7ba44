// Small tools for building elements. Text is always set as text, never as markup.
function build(element, attributes, children) {
  Object.entries(attributes).forEach(([name, value]) => {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  });
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
export const el = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);
export const drawn = (tag, attributes = {}, ...children) => build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
export const facts = (pairs) => el("dl", {}, pairs.filter(Boolean).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));

export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(digits - 1) : Number(value.toPrecision(digits)).toLocaleString("en");
}
export const pValue = (value) => value === null || value === undefined ? "–" : value < 1e-10 ? "< 1e-10" : String(Number(value.toPrecision(2)));
