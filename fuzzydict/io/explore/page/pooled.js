// The pooled value: how it is made of the values of the keys, and how sure it is.

import { byId, drawnTo, element, number, percent, shortened, svg } from "./elements.js";
import { swatch, written } from "./elements.js";

const ROW = 26; // pixels
const ROWS = 8;
const TERMS = 3;
const FOOT = 42; // pixels below the rows: the axis, and the pooled value

export function showPooled(answer) {
  const { pooled, not_pooled: reason, none } = answer;
  const parts = [];
  if (pooled?.color) parts.push(mixture(answer));
  if (pooled) parts.push(result(pooled));
  else if (reason) parts.push(written(`There is none: ${reason}`, "p"));
  if (pooled && pooled.number !== null) {
    parts.push(written(sum(answer), "p", { className: "sum quiet" }), plot(answer));
  }
  if (none !== null && answer.keys.length > 0) parts.push(sureness(none));
  byId("pooled").replaceChildren(...parts);
}

function result({ text, color, number: own }) {
  const shown = color ?? (own === null ? text : number(own));
  const line = element("p", { className: "result" }, written(shown));
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
  const rest = keys.reduce((share, { weight }) => share - weight, 1);
  const shares = [...keys.filter(({ color }) => color), { key: "others", weight: rest }];
  const shown = shares.filter(({ weight }) => weight >= 0.002);
  const parts = shown.map(({ weight, color = "" }) => {
    const part = swatch(color, color ? "part" : "part rest");
    part.style.flexGrow = weight;
    return part;
  });
  const named = shown.map(({ key, weight }) => `${key} ${percent(weight)}`).join(", ");
  const told = { className: "mixture", role: "img", "aria-label": `Mixed of ${named}` };
  return element("div", told, ...parts);
}

// = 0.956 × 650 + 0.044 × 1,900 + 6 more
function sum({ keys, others }) {
  const weighty = keys.filter((key) => key.number !== null && key.weight >= 0.0005);
  const terms = weighty
    .slice(0, TERMS)
    .map((key) => `${key.weight.toFixed(3)} × ${number(key.number)}`);
  const more = keys.length + others - terms.length;
  return `= ${[...terms, ...(more > 0 ? [`${more} more`] : [])].join(" + ")}`;
}

// A row for each key: its value on a common axis, as large as its weight; a line for the mean.
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
  const x = (value) => left + 14 + ((width - left - 28) * (value - least)) / (most - least || 1);
  const foot = rows.length * ROW;
  const across = { x1: left + 4, x2: width - 4 };

  const drawnRow = ({ key, number: value, weight }, place) => {
    const y = place * ROW + ROW / 2;
    const name = shortened(key, Math.floor(left / 7.5));
    const title = svg("title", {}, `${key}: ${number(value)}`);
    const r = 2.5 + 8.5 * Math.sqrt(weight);
    return svg(
      "g",
      {},
      svg("line", { ...across, y1: y, y2: y, class: "track" }),
      svg("text", { x: left, y: y + 4, class: "row-name" }, name),
      svg("circle", { cx: x(value), cy: y, r, class: "dot" }, title),
    );
  };
  const end = (value) => svg("text", { x: x(value), y: foot + 18, class: "end" }, number(value));

  const said = `pooled ${number(mean)}`;
  const half = 4 * said.length;
  const middle = Math.min(Math.max(x(mean), half), width - half);
  const named = rows.map(
    ({ key, number: value, weight }) => `${key} ${number(value)}, weight ${percent(weight)}`,
  );
  const told = `Values of the keys: ${named.join("; ")}. Pooled value: ${number(mean)}.`;
  return svg(
    "svg",
    { width, height: foot + FOOT, role: "img", "aria-label": told },
    svg("line", { ...across, y1: foot + 2, y2: foot + 2, class: "axis" }),
    svg("line", { x1: x(mean), x2: x(mean), y1: 2, y2: foot + 22, class: "mean" }),
    ...rows.map(drawnRow),
    ...[...new Set([least, most])].map(end),
    svg("text", { x: middle, y: foot + 36, class: "pooled-label" }, said),
  );
}
