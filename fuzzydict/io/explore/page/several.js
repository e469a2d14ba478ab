// The attention of several queries as a table: queries by rows, keys by columns.

import { errorsIn, latest, post } from "./asking.js";
import { byId, element, percent, written } from "./elements.js";
import { temperature } from "./temperature.js";

const MOST = 20; // queries

const errors = errorsIn(byId("several-error"));

export const showSeveral = latest(async () => {
  const lines = byId("queries").value.split("\n").map((line) => line.trim());
  const queries = lines.filter((line) => line !== "");
  if (queries.length === 0) return () => (byId("heat").hidden = true);
  const asked = { queries: queries.slice(0, MOST), temperature: temperature() };
  const told = await post("heat", asked);
  return () => {
    byId("heat").hidden = false;
    byId("heat-table").replaceChildren(table(told));
    const left = queries.length - MOST;
    const few = `Only the first ${MOST} queries are shown; ${left} more were given.`;
    if (left > 0) errors(new Error(few));
  };
}, errors);

// Begin with a query, where none was written yet.
export function offerQuery(query) {
  const given = byId("queries");
  if (given.value.trim() === "" && query.trim() !== "") given.value = `${query}\n`;
  showSeveral();
}

function table({ queries, keys, weights, others }) {
  const hasOthers = others.some((share) => share >= 0.0005);
  const names = keys.map((key) => written(key, "span"));
  if (hasOthers) names.push(element("i", {}, "other keys"));
  const heads = names.map((name) => element("th", { scope: "col" }, name));
  const rows = queries.map((query, place) => {
    const most = Math.max(...weights[place]);
    const kind = (weight) => (weight === most ? "most" : weight < 0.0005 ? "nil" : "");
    const cells = weights[place].map((weight) => cell(weight, kind(weight)));
    if (hasOthers) cells.push(cell(others[place], "rest-share"));
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

function cell(weight, className) {
  const text = weight < 0.0005 ? "0" : percent(weight).replace("\u202f%", "");
  const node = element("td", { className }, text);
  node.style.setProperty("--share", weight);
  return node;
}
