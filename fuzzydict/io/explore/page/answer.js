// The answer to one query: the verdict, the nearest keys, why, and the pooled value; and that to
// several, a table of weights.

import { byId, element, number, percent, quiet, row, score, written } from "./base.js";
import { showMapOf } from "./map.js";

const SAY = {
  probability:
    "A score is the probability that the key is the right one. " +
    "The weights are the softmax of the logarithms of the scores.",
  any:
    "A score tells how well the key matches, on a scale of the scorer. " +
    "The weights are the softmax of the scores divided by the temperature.",
};
const ROWS = 8; // of the values that are drawn
const TERMS = 3; // of the sum that is written
const LEAST = 0.0005; // of a weight that is not shown as 0

export function showAnswer(answer) {
  const [kind, word] = verdict(answer);
  byId("badge").className = `badge ${kind}`;
  byId("badge").textContent = word;
  byId("verdict").textContent = answer.verdict;
  byId("scores-say").textContent = SAY[answer.none === null ? "any" : "probability"];
  byId("why").textContent = answer.why;
  byId("pooled").replaceChildren(...pooledValue(answer));
  showKeys(answer);
  showMapOf(answer);
}

// What is said aloud once the typing rests.
export const spoken = (answer) => `${verdict(answer)[1]}: ${answer.verdict}`;

function verdict({ matches, doubtful, pools, taught }) {
  if (taught) return ["taught", "Taught"];
  if (!matches) return ["none", "No match"];
  const kind = doubtful ? "doubtful" : "match";
  return [kind, pools ? "Pooled" : doubtful ? "Doubtful" : "Match"];
}

// ---- the keys ------------------------------------------------------------------------------

const restOf = (keys) => Math.max(keys.reduce((share, { weight }) => share - weight, 1), 0);

const swatch = (color, kind = "swatch", style = {}) =>
  element("span", { class: kind, "aria-hidden": "true", style: { background: color, ...style } });

function showKeys({ keys, others }) {
  // Scores that are no probabilities have a scale of their own, which bars cannot show.
  const shares = keys.every(({ score: own }) => own !== null && own >= 0 && own <= 1);
  byId("keys").replaceChildren(...keys.map((key) => keyRow(key, shares)));
  const more = `and ${others} other ${others === 1 ? "key" : "keys"} with ${percent(restOf(keys))}`;
  byId("others").textContent = others > 0 ? more : "";
}

function keyRow({ key, value, score: own, weight, color }, shares) {
  const shown = element("td", { class: "value" }, written(value, "bdi", { title: value }));
  if (color) shown.prepend(swatch(color), " ");
  const measures = [measure(score(own), shares ? own : null, "score")];
  measures.push(measure(percent(weight), weight, "weight"));
  return row(written(key, "bdi", { title: key }), shown, ...measures);
}

// A number above a bar, if the number is a share.
function measure(text, share, kind) {
  const cell = element("td", { class: `measure ${kind}` }, element("span", {}, text));
  const filled = element("i", { style: { width: `${100 * share}%` } });
  const bar = element("span", { class: "bar", "aria-hidden": "true" }, filled);
  if (share !== null) cell.append(bar);
  return cell;
}

// ---- the pooled value ----------------------------------------------------------------------

function pooledValue(answer) {
  const { pooled, not_pooled: reason, none, keys } = answer;
  const parts = [];
  if (pooled?.color) parts.push(mixture(keys));
  if (pooled) parts.push(result(pooled));
  else if (reason) parts.push(written(`There is none: ${reason}`, "p"));
  if (pooled && pooled.number !== null) parts.push(sum(answer), plot(answer));
  if (none !== null && keys.length > 0) {
    const so = none > 0.5 ? ", so this says little" : "";
    const text = `Probability that no key is right: ${percent(none)}${so}.`;
    parts.push(element("p", { class: none > 0.5 ? "unsure" : "quiet" }, text));
  }
  return parts;
}

function result({ text, color, number: own }) {
  const shown = color ?? (own === null ? text : number(own));
  const line = element("p", { class: "result" }, written(shown));
  if (color) line.prepend(swatch(color, "swatch big"), " ");
  if (color && text !== color) line.append(" ", quiet(text));
  return line;
}

// The colours side by side, each as wide as its weight: what the pooled colour is mixed of.
function mixture(keys) {
  const shares = [...keys.filter(({ color }) => color), { key: "others", weight: restOf(keys) }];
  const shown = shares.filter(({ weight }) => weight >= 0.002);
  const parts = shown.map(({ weight, color = "" }) =>
    swatch(color, color ? "part" : "part rest", { "flex-grow": weight }),
  );
  const named = shown.map(({ key, weight }) => `${key} ${percent(weight)}`).join(", ");
  const told = { class: "mixture", role: "img", "aria-label": `Mixed of ${named}` };
  return element("div", told, ...parts);
}

// = 0.956 × 650 + 0.044 × 1,900 + 6 more
function sum({ keys, others }) {
  const weighty = keys.filter((key) => key.number !== null && key.weight >= LEAST).slice(0, TERMS);
  const terms = weighty.map((key) => `${key.weight.toFixed(3)} × ${number(key.number)}`);
  const more = keys.length + others - terms.length;
  if (more > 0) terms.push(`${more} more`);
  return element("p", { class: "sum quiet" }, `= ${terms.join(" + ")}`);
}

// A row for each key: its value on a common axis, as large as its weight; a line for the mean.
function plot({ keys, pooled: { number: mean } }) {
  const rows = keys.filter((key) => key.number !== null).slice(0, ROWS);
  const values = [...rows.map((key) => key.number), mean];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const at = (value) => `${(100 * (value - least)) / (most - least || 1)}%`;
  const on = (kind, value, text = "", style = {}) =>
    element("span", { class: kind, style: { left: at(value), ...style } }, text);
  // At the left end a label begins at its value, at the right end it ends there.
  const label = (kind, value, text) => on(kind, value, text, { translate: `-${at(value)}` });
  const drawn = rows.flatMap(({ key, number: value, weight }) => {
    const dot = on("dot", value, "", { width: `${5 + 17 * Math.sqrt(weight)}px` });
    const name = written(key, "span", { class: "row-name" });
    return [name, element("span", { class: "track" }, on("mean", mean), dot)];
  });
  const ends = [...new Set([least, most])].map((value) => label("end", value, number(value)));
  const pooled = label("pooled-label", mean, `pooled ${number(mean)}`);
  drawn.push(element("span", { class: "foot" }, on("mean", mean), ...ends, pooled));
  const named = rows.map((one) => `${one.key} ${number(one.number)}, weight ${percent(one.weight)}`);
  const told = `Values of the keys: ${named.join("; ")}. Pooled value: ${number(mean)}.`;
  return element("div", { class: "plot", role: "img", "aria-label": told }, ...drawn);
}

// ---- several queries by rows, keys by columns ----------------------------------------------

export function heatMap({ queries, keys, weights, others }) {
  const hasOthers = others.some((share) => share >= LEAST);
  const names = keys.map((key) => written(key, "span"));
  if (hasOthers) names.push(element("i", {}, "other keys"));
  const heads = names.map((name) => element("th", { scope: "col" }, name));
  const rows = queries.map((query, place) => {
    const most = Math.max(...weights[place]);
    const kind = (weight) => (weight === most ? "most" : weight < LEAST ? "nil" : "");
    const cells = weights[place].map((weight) => cell(weight, kind(weight)));
    if (hasOthers) cells.push(cell(others[place], "rest-share"));
    return row(written(query, "span"), ...cells);
  });
  const caption = element("caption", { class: "unseen" }, "Weights in percent");
  const head = element("thead", {}, element("tr", {}, element("td"), ...heads));
  return element("table", { class: "heat" }, caption, head, element("tbody", {}, ...rows));
}

function cell(weight, kind) {
  const text = weight < LEAST ? "0" : percent(weight).replace("\u202f%", "");
  return element("td", { class: kind, style: { "--share": weight } }, text);
}
