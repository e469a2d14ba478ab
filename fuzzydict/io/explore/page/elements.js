// Make what is shown. Texts go in as text, never as HTML.

const SHAPES = new Set(["svg", "g", "line", "text", "circle", "polygon"]);
let made = 0;

export const byId = (id) => document.getElementById(id);

// An id that no other element has, for what refers to another by id.
export const newId = () => `made-${(made += 1)}`;

// element("td", { class: "number" }, "0.98"): an element with attributes, listeners and styles.
export function element(name, attributes = {}, ...children) {
  const space = SHAPES.has(name) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const node = document.createElementNS(space, name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (attribute === "style") {
      for (const [property, part] of Object.entries(value)) node.style.setProperty(property, part);
    } else if (typeof value === "function") node[attribute] = value;
    else if (typeof value === "boolean") node.toggleAttribute(attribute, value);
    else node.setAttribute(attribute, value);
  }
  node.append(...children);
  return node;
}

// A text of the dict or of a person, in its own direction.
export const written = (text, name = "bdi", attributes = {}) =>
  element(name, { dir: "auto", ...attributes }, text);

export const quiet = (text, kind = "") => element("span", { class: `quiet ${kind}` }, text);

export const button = (text, onclick, attributes = {}) =>
  element("button", { type: "button", onclick, ...attributes }, text);

export const swatch = (color, kind = "swatch", style = {}) =>
  element("span", { class: kind, "aria-hidden": "true", style: { background: color, ...style } });

// A row of a table, named by its first cell.
export const row = (name, ...cells) =>
  element("tr", {}, element("th", { scope: "row" }, ...[name].flat()), ...cells);

// 12.3 %; very small shares are not told to the last digit.
export function percent(share) {
  const few = share > 0 && share < 0.0005;
  return `${few ? "<0.1" : (100 * share).toFixed(share === 0 || share >= 0.9995 ? 0 : 1)}\u202f%`;
}

const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

export const number = (value) => digits.format(value);

export const count = (many, name) => `${number(many)} ${name}${many === 1 ? "" : "s"}`;

export function score(value) {
  if (value === null) return "–";
  return Math.abs(value) < 1000 ? value.toFixed(3) : value.toPrecision(4);
}

// At most so many characters, of which none is cut in two.
export function shortened(text, length) {
  const characters = [...text];
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : text;
}
