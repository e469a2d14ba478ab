// The attention of several queries as a table: queries by rows, keys by columns.

import { errorsIn, later, latest, post } from "./asking.js";
import { byId, element, percent, written } from "./elements.js";
import { temperature } from "./temperature.js";

const WAIT = 60; // milliseconds after a keystroke
const MOST = 20; // queries

const errors = errorsIn(byId("several-error"));
// It stays while tables come and go, so that it keeps the focus and its place.
const scroll = element("div", { className: "scroll", tabIndex: 0, role: "group", "aria-label": "Heat map" });

const show = latest(async (signal) => {
  const lines = byId("queries").value.split("\n").map((line) => line.trim());
  const queries = lines.filter((line) => line !== "");
  if (queries.length === 0) return () => (byId("heat").hidden = true);
  const asked = { queries: queries.slice(0, MOST), temperature: temperature() };
  const told = await post("heat", asked, signal);
  return () => {
    byId("heat").hidden = false;
    scroll.replaceChildren(table(told));
    const left = queries.length - MOST;
    if (left > 0) errors(new Error(`Only the first ${MOST} queries are shown; ${left} more were given.`));
  };
}, errors);

const soon = later(WAIT, show);

export function setUpHeat() {
  byId("heat-table").append(scroll);
  byId("queries").addEventListener("input", soon);
}

// Ask again: the temperature, or what was taught, is another.
export const refreshHeat = show;

// Begin with a query, where none was written yet.
export function offerQuery(query) {
  if (byId("queries").value.trim() === "" && query.trim() !== "") byId("queries").value = `${query}\n`;
  show();
}

function table({ queries, keys, weights, others }) {
  const hasOthers = others.some((share) => share >= 0.0005);
  const heads = keys.map((key) => element("th", { scope: "col" }, written(key, "span")));
  if (hasOthers) heads.push(element("th", { scope: "col" }, element("i", {}, "other keys")));
  const rows = queries.map((query, place) => {
    const cells = weights[place].map((weight) => cell(weight, Math.max(...weights[place])));
    if (hasOthers) {
      cells.push(cell(others[place], Infinity));
      cells.at(-1).className = "rest-share";
    }
    return element("tr", {}, element("th", { scope: "row" }, written(query, "span")), ...cells);
  });
  return element(
    "table",
    { className: "heat" },
    element("caption", { className: "unseen" }, "Weights in percent"),
    element("thead", {}, element("tr", {}, element("td"), ...heads)),
    element("tbody", {}, ...rows),
  );
}

function cell(weight, most) {
  const text = weight < 0.0005 ? "0" : percent(weight).replace("\u202f%", "");
  const node = element("td", { className: weight === most ? "most" : text === "0" ? "nil" : "" }, text);
  node.style.setProperty("--share", weight);
  return node;
}
