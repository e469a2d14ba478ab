// The attention of several queries as a table: queries by rows, keys by columns.

import { ask, errorsIn, task } from "./asking.js";
import { byId, element, percent, row, written } from "./elements.js";

const MOST = 20; // queries
const LEAST = 0.0005; // of a weight that is not shown as 0

const errors = errorsIn("several-error");

export const showSeveral = task(async (_signal, temperature) => {
  const lines = byId("queries").value.split("\n").map((line) => line.trim());
  const queries = lines.filter((line) => line !== "");
  if (!queries.some((query) => /[\p{L}\p{N}]/u.test(query))) {
    const none = queries.length > 0 ? new Error("No line has letters or digits yet.") : null;
    return () => {
      byId("heat").hidden = true;
      errors(none);
    };
  }
  const told = await ask("heat", { queries: queries.slice(0, MOST), temperature });
  return () => {
    byId("heat").hidden = false;
    byId("heat-table").replaceChildren(table(told));
    const left = queries.length - MOST;
    const few = `Only the first ${MOST} queries are shown; ${left} more were given.`;
    if (left > 0) errors(new Error(few));
  };
}, errors);

function table({ queries, keys, weights, others }) {
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
