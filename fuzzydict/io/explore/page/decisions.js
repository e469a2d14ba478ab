// The matched texts of a column: a table in pages, a decision for each, and what to do with them.

import { errorsIn, post, Trouble } from "./asking.js";
import { KeyChooser } from "./chooser.js";
import { byId, count, element, number, score, shortened, written } from "./elements.js";
import { afterTeaching } from "./teach.js";

const PAGE = 50; // texts
const NONE = "none";
const OTHER = "other";
const SHOWN = 200; // characters of a text
const NAMED = 40; // characters of a text that an error names

let cells = [];
let decided = new Map(); // query -> key, or null for none
let first = 0; // the place of the first text on the page

const errors = errorsIn(byId("cells-error"));
const decidedSay = () => `${count(decided.size, "text")} decided.`;

function say(text) {
  if (byId("cells-status").textContent !== text) byId("cells-status").textContent = text;
}

export function showCells({ rows, matched, unmatched, blank, cells: given }) {
  const texts = new Set(given.map(({ query }) => query));
  const kept = new Map([...decided].filter(([query]) => texts.has(query)));
  const dropped = decided.size - kept.size;
  [cells, decided, first] = [given, kept, 0];
  byId("kind").value = "all";
  const told = [count(rows, "row"), `${number(matched)} matched`];
  told.push(`${number(unmatched)} not matched`, ...(blank > 0 ? [`${number(blank)} blank`] : []));
  const doubtful = `${number(given.filter((cell) => cell.doubtful).length)} doubtful`;
  byId("counts").textContent = `${told.join(", ")}. ${count(given.length, "text")}, ${doubtful}.`;
  errors(null);
  showPage();
  const gone = `${count(dropped, "decision")} dropped, on texts that are not here.`;
  if (dropped > 0) say(`${decidedSay()} ${gone}`);
}

// ---- the table -----------------------------------------------------------------------------

const isOf = {
  all: () => true,
  doubtful: (cell) => cell.doubtful,
  unmatched: (cell) => !cell.matches,
  decided: (cell) => decided.has(cell.query),
};
const ofKind = () => cells.filter(isOf[byId("kind").value]);

function choiceOf({ query, matches, key }) {
  if (decided.has(query)) return decided.get(query);
  return matches ? key : null;
}

function showPage() {
  const chosen = ofKind();
  const rows = chosen.slice(first, first + PAGE);
  const last = first + rows.length;
  const many = chosen.length;
  byId("cells-rows").replaceChildren(...rows.map(row));
  byId("cells-table").hidden = byId("decide-all").hidden = many === 0;
  const span = `${number(first + 1)}–${number(last)} of ${count(many, "text")}`;
  byId("where").textContent = many === 0 ? "No such texts." : span;
  byId("back").hidden = byId("on").hidden = many <= PAGE;
  byId("back").disabled = first === 0;
  byId("on").disabled = last >= many;
  showDecided();
}

function showDecided() {
  byId("save").disabled = byId("learn").disabled = decided.size === 0;
  say(decidedSay());
}

byId("kind").onchange = () => {
  first = 0;
  showPage();
};
for (const [id, step] of [["back", -PAGE], ["on", PAGE]]) {
  byId(id).onclick = () => {
    first += step;
    showPage();
    byId("cells-table").scrollIntoView({ block: "nearest" });
  };
}
byId("decide-all").onclick = () => {
  for (const cell of ofKind().slice(first, first + PAGE)) {
    if (!isKey(cell)) decided.set(cell.query, choiceOf(cell));
  }
  showPage();
};

// ---- a row ---------------------------------------------------------------------------------

// A text that is a key itself always finds itself: there is nothing to decide.
const isKey = (cell) => cell.key === cell.query;

function row(cell) {
  const text = element("th", { scope: "row" }, written(shortened(cell.query, SHOWN)));
  const times = ` × ${number(cell.count)}`;
  if (cell.count > 1) text.append(element("span", { className: "quiet" }, times));
  const cellsOf = isKey(cell)
    ? [element("td", { className: "quiet" }, "is a key"), element("td")]
    : choice(cell);
  return element("tr", {}, text, ...cellsOf);
}

// What a text is decided to be: one of its best keys, none, or another key, which a field asks for.
function choice(cell) {
  const check = element("input", {
    type: "checkbox", checked: decided.has(cell.query), "aria-label": `Decided: ${cell.query}`,
  });
  const select = element("select", { dir: "auto", "aria-label": `Key of ${cell.query}` });
  let chooser = null;

  function reset() {
    chooser?.node.remove();
    select.replaceChildren(...optionsOf(cell));
    select.value = valueOf(choiceOf(cell));
  }

  function take(key) {
    decided.set(cell.query, key);
    check.checked = true;
    showDecided();
    reset();
  }

  function askForAnother() {
    const end = (key) => {
      key === null ? reset() : take(key);
      select.focus();
    };
    chooser?.node.remove();
    chooser = new KeyChooser({ label: `Another key for ${cell.query}`, chosen: end });
    chooser.node.addEventListener("keydown", ({ key }) => key === "Escape" && end(null));
    select.after(chooser.node);
    chooser.input.focus();
  }

  check.onchange = () => {
    if (check.checked) return take(choiceOf(cell));
    decided.delete(cell.query);
    showDecided();
    reset();
  };
  select.onchange = () => {
    if (select.value === OTHER) return askForAnother();
    take(select.value === NONE ? null : select.value.slice(1));
  };
  reset();
  return [
    element("td", { className: "choice" }, select, verdict(cell)),
    element("td", { className: "check" }, check),
  ];
}

const valueOf = (key) => (key === null ? NONE : `=${key}`);

function optionsOf({ key: best, score: own, others, ...cell }) {
  const found = best === null ? others : [{ key: best, score: own }, ...others];
  const keys = new Map(found.map(({ key, score: of }) => [key, `${key} (${score(of)})`]));
  const now = choiceOf({ key: best, ...cell });
  if (now !== null && !keys.has(now)) keys.set(now, now);
  const options = [...keys].map(([key, text]) => new Option(text, valueOf(key)));
  return [...options, new Option("no key", NONE), new Option("another key …", OTHER)];
}

function verdict({ matches, doubtful, score: own }) {
  let [kind, said] = ["none", "not matched, the best has"];
  if (matches) [kind, said] = doubtful ? ["doubtful", "doubtful with"] : ["match", "matched with"];
  return element("span", { className: `quiet ${kind}` }, `${said} ${score(own)}`);
}

// ---- what is done with the decisions -------------------------------------------------------

async function carefully(act) {
  errors(null);
  byId("save").disabled = byId("learn").disabled = true;
  try {
    // The dict refuses decisions that contradict each other: if taught, the last one would hold.
    const table = [...decided].map(([query, target]) => ({ query, target }));
    await act(await post("decisions", { decisions: table }));
  } catch (problem) {
    if (!(problem instanceof Trouble)) throw problem;
    errors(problem);
  } finally {
    byId("save").disabled = byId("learn").disabled = decided.size === 0;
  }
}

byId("save").onclick = () => carefully((file) => {
  const link = element("a", { href: URL.createObjectURL(file), download: "decisions.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  const apply = "Apply it: fuzzydict map --decisions decisions.csv.";
  say(`${decidedSay()} decisions.csv has them. ${apply}`);
});

byId("learn").onclick = () => carefully(async () => {
  const { learned, unsaved, refused } = await taughtInTurn();
  say(`Taught ${count(learned, "text")}. They are listed below.`);
  await afterTeaching();
  const problems = [];
  const tell = (many, problem) => problems.push(`${count(many, "text")} ${problem}.`);
  if (unsaved.length > 0) tell(unsaved.length, `taught, but not saved: ${unsaved.at(-1)}`);
  if (refused.length > 0) tell(decided.size - learned, `not taught, first ${refused[0]}`);
  if (problems.length > 0) throw new Trouble(problems.join(" "));
});

// Teach each text. What is not saved is saved with the next that can be.
async function taughtInTurn() {
  let [learned, unsaved] = [0, []];
  const refused = [];
  for (const [query, key] of decided) {
    try {
      await post("teach", { query, key });
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
