// The pooled value: how it is made of the values of the keys, and how sure it is.

import { byId, drawnTo, element, number, percent, shortened, svg, swatch, written } from "./elements.js";

const ROW = 26; // pixels
const ROWS = 8;
const TERMS = 3;
const FOOT = 42; // pixels below the rows: the axis, and the pooled value

export function showPooled(answer) {
  const parts = [];
  const { pooled, not_pooled: reason, none } = answer;
  if (pooled) {
    if (pooled.color) parts.push(mixture(answer));
    parts.push(result(pooled));
    if (pooled.number !== null) parts.push(written(sum(answer), "p", { className: "sum quiet" }), plot(answer));
  } else if (reason) {
    parts.push(written(`There is none: ${reason}`, "p"));
  }
  if (none !== null && answer.keys.length > 0) parts.push(sureness(none));
  byId("pooled").replaceChildren(...parts);
}

function result({ text, color, number: value }) {
  const line = element("p", { className: "result" }, written(color ?? (value === null ? text : number(value))));
  if (color) line.prepend(swatch(color, "swatch big"), " ");
  if (color && text !== color) line.append(" ", written(text, "span", { className: "quiet" }));
  return line;
}

function sureness(none) {
  const so = none > 0.5 ? ", so this says little" : "";
  const text = `Probability that no key is right: ${percent(none)}${so}.`;
  return element("p", { className: none > 0.5 ? "unsure" : "quiet" }, text);
}

// The colours side by side, each as wide as its weight: what the pooled colour is mixed of.
function mixture({ keys }) {
  const strip = element("div", { className: "mixture", role: "img" });
  const named = [];
  for (const { key, weight, color } of keys) {
    if (weight < 0.002 || !color) continue;
    const part = swatch(color, "part");
    part.style.flexGrow = weight;
    strip.append(part);
    named.push(`${key} ${percent(weight)}`);
  }
  const rest = keys.reduce((share, { weight }) => share - weight, 1);
  if (rest > 0.002) {
    const part = element("span", { className: "part rest" });
    part.style.flexGrow = rest;
    strip.append(part);
    named.push(`others ${percent(rest)}`);
  }
  strip.setAttribute("aria-label", `Mixed of ${named.join(", ")}`);
  return strip;
}

// = 0.956 × 650 + 0.044 × 1,900 + 6 more
function sum({ keys, others }) {
  const weighty = keys.filter((key) => key.number !== null && key.weight >= 0.0005);
  const terms = weighty.slice(0, TERMS).map((key) => `${key.weight.toFixed(3)} × ${number(key.number)}`);
  const more = keys.length + others - terms.length;
  if (more > 0) terms.push(`${more} more`);
  return `= ${terms.join(" + ")}`;
}

// A row for each key: its value on a common axis, as large as its weight; a line for the pooled value.
function plot({ keys, pooled }) {
  const rows = keys.filter((key) => key.number !== null).slice(0, ROWS);
  const box = element("div", { className: "plot" });
  if (rows.length === 0) return box;
  drawnTo(box, (width) => box.replaceChildren(drawn(rows, pooled.number, width)));
  return box;
}

function drawn(rows, mean, width) {
  const left = Math.round(Math.min(width * 0.36, 180));
  const values = [...rows.map((row) => row.number), mean];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const span = most - least || 1;
  const x = (value) => left + 14 + ((width - left - 28) * (value - least)) / span;
  const foot = rows.length * ROW;
  const shown = rows.map((row, place) => numberRow(row, place, x, left, width));
  const label = svg("text", { y: foot + 36, class: "pooled-label" }, `pooled ${number(mean)}`);
  const half = 4 * `pooled ${number(mean)}`.length;
  label.setAttribute("x", Math.min(Math.max(x(mean), half), width - half));
  const named = rows.map((row) => `${row.key} ${number(row.number)}, weight ${percent(row.weight)}`);
  const told = `Values of the keys: ${named.join("; ")}. Pooled value: ${number(mean)}.`;
  const picture = svg("svg", { width, height: foot + FOOT, role: "img", "aria-label": told });
  picture.append(
    svg("line", { x1: left + 4, x2: width - 4, y1: foot + 2, y2: foot + 2, class: "axis" }),
    svg("line", { x1: x(mean), x2: x(mean), y1: 2, y2: foot + 22, class: "mean" }),
    ...shown,
    ...ends(least, most, x, foot),
    label,
  );
  return picture;
}

function numberRow({ key, number: value, weight }, place, x, left, width) {
  const y = place * ROW + ROW / 2;
  const name = svg("text", { x: left, y: y + 4, class: "row-name" }, shortened(key, Math.floor(left / 7.5)));
  const track = svg("line", { x1: left + 4, x2: width - 4, y1: y, y2: y, class: "track" });
  const dot = svg("circle", { cx: x(value), cy: y, r: 2.5 + 8.5 * Math.sqrt(weight), class: "dot" });
  dot.append(svg("title", {}, `${key}: ${number(value)}`));
  return svg("g", {}, track, name, dot);
}

// The least and the greatest value below the axis.
function ends(least, most, x, foot) {
  const texts = [svg("text", { x: x(least), y: foot + 18, class: "end" }, number(least))];
  if (most > least) texts.push(svg("text", { x: x(most), y: foot + 18, class: "end" }, number(most)));
  return texts;
}
