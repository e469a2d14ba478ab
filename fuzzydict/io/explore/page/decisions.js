// The matched texts of a column: a table in pages, a decision for each text, and what to do with them.

import { download, errorsIn, Trouble } from "./asking.js";
import { keyChooser } from "./combobox.js";
import { byId, element, number, score, shortened, written } from "./elements.js";
import { afterTeaching, teach } from "./teach.js";

const PAGE = 50; // texts
const NONE = "none";
const OTHER = "other";
const SHOWN = 200; // characters of a text
const NAMED = 40; // characters of a text that an error names
const KINDS = { all: "All", doubtful: "Doubtful", unmatched: "Not matched", decided: "Decided" };

let cells = [];
let decided = new Map(); // query -> key, or null for none
let kind = "all";
let first = 0;

export function showCells({ rows, matched, unmatched, blank, cells: given }) {
  const before = decided.size;
  const texts = new Set(given.map(({ query }) => query));
  decided = new Map([...decided].filter(([query]) => texts.has(query)));
  [cells, kind, first] = [given, "all", 0];
  const doubtful = given.filter((cell) => cell.doubtful).length;
  const told = [`${count(rows, "row")}`, `${number(matched)} matched`, `${number(unmatched)} not matched`];
  if (blank > 0) told.push(`${number(blank)} blank`);
  byId("counts").textContent = `${told.join(", ")}. ${count(given.length, "text")}, ${number(doubtful)} doubtful.`;
  byId("cells-table").replaceChildren(filters(), table, pager, actions, status, error);
  errors(null);
  showPage();
  const dropped = before - decided.size;
  if (dropped > 0) say(`${decidedSay()} ${count(dropped, "decision")} dropped, on texts that are not here.`);
}

const count = (many, name) => `${number(many)} ${name}${many === 1 ? "" : "s"}`;

// ---- what stands around the table ---------------------------------------------------------

const body = element("tbody");
const heads = ["Text", "Key", "Decided"].map((name) => element("th", { scope: "col" }, name));
const table = element("table", { className: "cells", "aria-labelledby": "cells-title" });
table.append(element("thead", {}, element("tr", {}, ...heads)), body);

const back = element("button", { type: "button" }, "Previous");
const on = element("button", { type: "button" }, "Next");
const where = element("span", { className: "quiet" });
const all = element("button", { type: "button" }, "Decide all shown");
const pager = element("div", { className: "row" }, back, on, where, all);

const save = element("button", { type: "button", className: "main" }, "Download decisions");
const learn = element("button", { type: "button" }, "Teach these");
const status = element("p", { role: "status" });
const error = element("p", { className: "error", role: "alert" });
const actions = element("div", { className: "row" }, save, learn);
const errors = errorsIn(error);

function say(text) {
  if (status.textContent !== text) status.textContent = text;
}

back.addEventListener("click", () => turn(-PAGE));
on.addEventListener("click", () => turn(PAGE));
all.addEventListener("click", () => {
  for (const cell of shown()) if (!isKey(cell)) decide(cell, choiceOf(cell));
  showPage();
});
save.addEventListener("click", () => carefully(saveDecisions));
learn.addEventListener("click", () => carefully(teachAll));

function filters() {
  const select = element("select", {}, ...Object.entries(KINDS).map(([value, name]) => new Option(name, value)));
  select.addEventListener("change", () => {
    [kind, first] = [select.value, 0];
    showPage();
  });
  return element("label", { className: "row" }, "Show ", select);
}

function turn(by) {
  first += by;
  showPage();
  table.scrollIntoView({ block: "nearest" });
}

// ---- the rows -----------------------------------------------------------------------------

const isOf = {
  all: () => true,
  doubtful: (cell) => cell.doubtful,
  unmatched: (cell) => !cell.matches,
  decided: (cell) => decided.has(cell.query),
};
const chosen = () => cells.filter(isOf[kind]);
const shown = () => chosen().slice(first, first + PAGE);
const choiceOf = (cell) => (decided.has(cell.query) ? decided.get(cell.query) : cell.matches ? cell.key : null);

function showPage() {
  const many = chosen().length;
  const rows = shown();
  body.replaceChildren(...rows.map(row));
  table.hidden = many === 0;
  const last = first + rows.length;
  where.textContent = many === 0 ? "No such texts." : `${number(first + 1)}–${number(last)} of ${count(many, "text")}`;
  back.hidden = on.hidden = many <= PAGE;
  back.disabled = first === 0;
  on.disabled = last >= many;
  all.hidden = many === 0;
  showDecided();
}

function showDecided() {
  save.disabled = learn.disabled = decided.size === 0;
  say(decidedSay());
}

const decidedSay = () => `${count(decided.size, "text")} decided.`;

function decide(cell, key) {
  decided.set(cell.query, key);
  showDecided();
}

function row(cell) {
  const text = element("th", { scope: "row" }, written(shortened(cell.query, SHOWN)));
  if (cell.count > 1) text.append(element("span", { className: "quiet" }, ` × ${number(cell.count)}`));
  if (isKey(cell)) return element("tr", {}, text, element("td", { className: "quiet" }, "is a key"), element("td"));
  const check = element("input", { type: "checkbox", checked: decided.has(cell.query) });
  check.setAttribute("aria-label", `Decided: ${cell.query}`);
  const { node, reset } = choice(cell, check);
  check.addEventListener("change", () => {
    if (check.checked) return decide(cell, choiceOf(cell));
    decided.delete(cell.query);
    reset();
    showDecided();
  });
  return element("tr", {}, text, node, element("td", { className: "check" }, check));
}

// A text that is a key itself always finds itself: there is nothing to decide.
const isKey = (cell) => cell.key === cell.query;

const kindOf = ({ matches, doubtful }) => (!matches ? "none" : doubtful ? "doubtful" : "match");
const WORDS = { none: "not matched, the best has", doubtful: "doubtful with", match: "matched with" };

const valueOf = (key) => (key === null ? NONE : `=${key}`);

function optionsOf(cell) {
  const best = cell.others.some(({ key }) => key === cell.key) ? [] : [{ key: cell.key, score: cell.score }];
  const keys = [...best, ...cell.others].filter(({ key }) => key !== null);
  const options = keys.map(({ key, score: own }) => new Option(`${key} (${score(own)})`, valueOf(key)));
  const now = choiceOf(cell);
  if (now !== null && !keys.some(({ key }) => key === now)) options.push(new Option(now, valueOf(now)));
  return [...options, new Option("no key", NONE), new Option("another key …", OTHER)];
}

// A field for another key. It ends with that key, or with null, by Escape.
function anotherKey(cell, end) {
  const chooser = keyChooser({ label: `Another key for ${cell.query}`, chosen: end });
  chooser.node.addEventListener("keydown", ({ key }) => key === "Escape" && end(null));
  return chooser;
}

// What a text is decided to be: one of its best keys, none, or another key, which a field asks for.
function choice(cell, check) {
  const select = element("select", { dir: "auto" });
  select.setAttribute("aria-label", `Key of ${cell.query}`);
  const found = kindOf(cell);
  const told = element("span", { className: `quiet ${found}` }, `${WORDS[found]} ${score(cell.score)}`);
  let chooser = null;

  function reset() {
    chooser?.node.remove();
    chooser = null;
    select.replaceChildren(...optionsOf(cell));
    select.value = valueOf(choiceOf(cell));
  }

  function take(key) {
    decide(cell, key);
    check.checked = true;
    reset();
  }

  select.addEventListener("change", () => {
    if (select.value !== OTHER) return take(select.value === NONE ? null : select.value.slice(1));
    chooser?.node.remove();
    chooser = anotherKey(cell, (key) => {
      key === null ? reset() : take(key);
      select.focus();
    });
    select.after(chooser.node);
    chooser.input.focus();
  });
  reset();
  return { node: element("td", { className: "choice" }, select, told), reset };
}

// ---- what is done with the decisions ------------------------------------------------------

async function carefully(act) {
  errors(null);
  save.disabled = learn.disabled = true;
  try {
    await act();
  } catch (problem) {
    if (!(problem instanceof Trouble)) throw problem;
    errors(problem);
  } finally {
    save.disabled = learn.disabled = decided.size === 0;
  }
}

// The decisions as a file. The dict refuses those that contradict each other.
const decisionsFile = () =>
  download("decisions", { decisions: [...decided].map(([query, target]) => ({ query, target })) });

async function saveDecisions() {
  const file = await decisionsFile();
  const link = element("a", { href: URL.createObjectURL(file), download: "decisions.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  say(`${decidedSay()} decisions.csv has them. Apply it: fuzzydict map --decisions decisions.csv.`);
}

async function teachAll() {
  await decisionsFile(); // of texts that contradict each other, the last one would hold
  const { learned, unsaved, refused } = await taughtInTurn();
  say(`Taught ${count(learned, "text")}. They are listed below.`);
  await afterTeaching();
  const problems = [];
  if (unsaved.length > 0) problems.push(`${count(unsaved.length, "text")} taught, but not saved: ${unsaved.at(-1)}.`);
  if (refused.length > 0) problems.push(`${count(decided.size - learned, "text")} not taught, first ${refused[0]}.`);
  if (problems.length > 0) throw new Trouble(problems.join(" "));
}

// Teach each text. What is not saved is saved with the next that can be.
async function taughtInTurn() {
  let [learned, unsaved] = [0, []];
  const refused = [];
  for (const [query, key] of decided) {
    try {
      await teach(query, key);
      [learned, unsaved] = [learned + 1, []];
    } catch (problem) {
      if (!(problem instanceof Trouble)) throw problem;
      if (problem.unsaved) [learned, unsaved] = [learned + 1, [...unsaved, problem.message]];
      else refused.push(`${shortened(query, NAMED)}: ${problem.message}`);
      if (problem.gone) break;
    }
    say(`Taught ${learned} of ${decided.size} …`);
  }
  return { learned, unsaved, refused };
}
