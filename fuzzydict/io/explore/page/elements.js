// Make what is shown. Texts go in as text, never as HTML.

let made = 0;

export const byId = (id) => document.getElementById(id);

// An id that no other element has, for what refers to another by id.
export const newId = () => `made-${(made += 1)}`;

// element("td", { className: "number" }, "0.98"): properties where there are such, else attributes.
export function element(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [property, value] of Object.entries(properties)) {
    if (property in node) node[property] = value;
    else node.setAttribute(property, value);
  }
  node.append(...children);
  return node;
}

export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) node.setAttribute(attribute, value);
  node.append(...children);
  return node;
}

// A text of the dict or of a person, in its own direction.
export const written = (text, name = "bdi", properties = {}) =>
  element(name, { dir: "auto", ...properties }, text);

export const button = (text, onclick, properties = {}) =>
  element("button", { type: "button", onclick, ...properties }, text);

export function swatch(color, className = "swatch") {
  const node = element("span", { className, "aria-hidden": "true" });
  node.style.backgroundColor = color;
  return node;
}

// 12.3 %; very small shares are not told to the last digit.
export function percent(share) {
  const few = share > 0 && share < 0.0005;
  return `${few ? "<0.1" : (100 * share).toFixed(share === 0 || share >= 0.9995 ? 0 : 1)}\u202f%`;
}

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

export const number = (value) => plain.format(value);

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

// Call draw with the width of a box, now and whenever the width changes.
export function drawnTo(box, draw) {
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width > 0) draw(Math.round(contentRect.width));
  }).observe(box);
}
