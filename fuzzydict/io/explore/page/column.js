// A column of texts, given as a file or as lines: matched, decided on, and what is done with that.

import {
  ask, byId, count, element, errorsIn, number, quiet, row, score, shortened, show, task, Trouble,
  written,
} from "./base.js";
import { keyChooser } from "./chooser.js";
import { afterTeaching } from "./teach.js";

const LARGEST = 4 * 1024 * 1024; // bytes of a file
const USE_MAP = "4 MB. Use fuzzydict map for it.";
const PAGE = 50; // texts
const SHOWN = 200; // characters of a text

let source = null; // { name, file, columns }; no columns: each line is a text
let cells = []; // what was matched
let decided = new Map(); // query -> key, or null for none
let first = 0; // the place of the first text on the page

// ---- what is matched -----------------------------------------------------------------------

const busy = (text) => show("column-busy", text);

function failed(error) {
  errorsIn("column-error")(error);
  if (error) busy("");
}

// Read the columns of a chosen file. A list, one text a line, has none.
const open = task(async (signal, file) => {
  const { name } = file;
  if (file.size > LARGEST) throw new Trouble(`${name} has more than ${USE_MAP}`);
  if (/\.txt$/i.test(name)) return () => (source = { name, file });
  busy("Reading …");
  const { columns, rows, notes } = await ask("table", { name }, { file, signal });
  return () => {
    source = { name, file, columns };
    byId("which-column").replaceChildren(...columns.map((column) => new Option(column, column)));
    byId("which").hidden = false;
    const told = [count(rows, "row"), ...notes].map((note) => `${note}.`);
    busy(`${told.join(" ")} Choose the column, then Match.`);
  };
}, failed);

const match = task(async (signal) => {
  const lines = byId("lines").value;
  if (lines.trim() !== "") source = { name: "pasted.txt", file: new Blob([lines]) };
  if (source === null) throw new Trouble("Choose a file, or paste texts, one a line.");
  const { name, file, columns } = source;
  if (file.size > LARGEST) throw new Trouble(`More than ${USE_MAP}`);
  busy("Matching …");
  const column = columns ? byId("which-column").value : "";
  const told = await ask("column", { name, column }, { file, signal });
  return () => {
    busy("");
    showCells(told);
    byId("cells-title").focus();
  };
}, failed);

function forget() {
  open.stop();
  match.stop();
  source = null;
  byId("which").hidden = byId("cells").hidden = true;
  failed(null);
  busy("");
}

export function setUpColumn() {
  byId("column-form").onsubmit = (event) => {
    event.preventDefault();
    match();
  };
  byId("file").onchange = () => {
    forget();
    const [file] = byId("file").files;
    if (!file) return;
    byId("lines").value = ""; // a file takes the place of lines,
    open(file);
  };
  byId("lines").oninput = () => {
    if (byId("file").value === "" && source === null) return;
    byId("file").value = ""; // and lines that of a file
    forget();
  };
  byId("kind").onchange = () => turn(0);
  byId("back").onclick = () => turn(first - PAGE);
  byId("on").onclick = () => turn(first + PAGE);
  byId("decide-all").onclick = () => {
    for (const cell of shown()) if (!isKey(cell)) decided.set(cell.query, choiceOf(cell));
    showPage();
  };
  byId("save").onclick = save;
  byId("learn").onclick = learn;
}

// ---- the table -----------------------------------------------------------------------------

const isOf = {
  all: () => true,
  doubtful: (cell) => cell.doubtful,
  unmatched: (cell) => !cell.matches,
  decided: (cell) => decided.has(cell.query),
};
const chosen = () => cells.filter(isOf[byId("kind").value]);
const shown = () => chosen().slice(first, first + PAGE);
// A text that is a key itself always finds itself: there is nothing to decide.
const isKey = ({ query, keys }) => keys[0]?.key === query;

function choiceOf({ query, matches, keys }) {
  if (decided.has(query)) return decided.get(query);
  return matches ? keys[0].key : null;
}

function showCells({ rows, matched, unmatched, blank, cells: given }) {
  const texts = new Set(given.map(({ query }) => query));
  const kept = new Map([...decided].filter(([query]) => texts.has(query)));
  const dropped = decided.size - kept.size;
  [cells, decided, first] = [given, kept, 0];
  byId("kind").value = "all";
  const told = [count(rows, "row"), `${number(matched)} matched`];
  told.push(`${number(unmatched)} not matched`, ...(blank > 0 ? [`${number(blank)} blank`] : []));
  const doubtful = `${number(given.filter((cell) => cell.doubtful).length)} doubtful`;
  byId("counts").textContent = `${told.join(", ")}. ${count(given.length, "text")}, ${doubtful}.`;
  byId("cells").hidden = false;
  errors(null);
  showPage();
  const gone = ` ${count(dropped, "decision")} dropped, on texts that are not here.`;
  if (dropped > 0) showDecided(gone);
}

function turn(to) {
  first = to;
  showPage();
  byId("cells-table").scrollIntoView({ block: "nearest" });
}

function showPage() {
  const [rows, many] = [shown(), chosen().length];
  byId("cells-rows").replaceChildren(...rows.map(cellRow));
  byId("cells-table").hidden = byId("decide-all").hidden = many === 0;
  const span = `${number(first + 1)}–${number(first + rows.length)} of ${count(many, "text")}`;
  byId("where").textContent = many === 0 ? "No such texts." : span;
  byId("back").hidden = byId("on").hidden = many <= PAGE;
  byId("back").disabled = first === 0;
  byId("on").disabled = first + PAGE >= many;
  showDecided();
}

function showDecided(more = "") {
  byId("save").disabled = byId("learn").disabled = decided.size === 0;
  show("cells-status", `${count(decided.size, "text")} decided.${more}`);
}

function cellRow(cell) {
  const name = [written(shortened(cell.query, SHOWN))];
  if (cell.count > 1) name.push(quiet(` × ${number(cell.count)}`));
  if (isKey(cell)) return row(name, element("td", { class: "quiet" }, "is a key"), element("td"));
  const kind = cell.matches ? (cell.doubtful ? "doubtful" : "match") : "none";
  const said = { none: "not matched, the best has", doubtful: "doubtful with", match: "matched with" };
  const found = quiet(`${said[kind]} ${score(cell.keys[0]?.score ?? null)}`, kind);
  const [select, check] = decision(cell);
  return row(name, element("td", {}, select, found), element("td", {}, check));
}

// What a text is decided to be: one of its best keys, none, or another key, which a field asks for.
function decision(cell) {
  const { query } = cell;
  const check = element("input", { type: "checkbox", "aria-label": `Decided: ${query}` });
  const select = element("select", { dir: "auto", "aria-label": `Key of ${query}` });
  let chooser = null;

  function reset() {
    chooser?.node.remove();
    const keys = keysFor(cell); // of the options, by their place; one is null, for none
    const names = [...keys.map(([, text]) => text), "another key …"];
    select.replaceChildren(...names.map((text) => new Option(text)));
    select.selectedIndex = keys.findIndex(([key]) => key === choiceOf(cell));
    select.onchange = () => {
      const option = keys[select.selectedIndex];
      option ? take(option[0]) : askForAnother();
    };
    check.checked = decided.has(query);
    showDecided();
  }

  function take(key) {
    decided.set(query, key);
    reset();
  }

  function askForAnother() {
    const end = (done) => {
      done();
      select.focus();
    };
    chooser?.node.remove();
    chooser = keyChooser({ label: `Another key for ${query}`, chosen: (key) => end(() => take(key)) });
    chooser.node.addEventListener("keydown", ({ key }) => key === "Escape" && end(reset));
    select.after(chooser.node);
    chooser.input.focus();
  }

  check.onchange = () => {
    if (check.checked) return take(choiceOf(cell));
    decided.delete(query);
    reset();
  };
  reset();
  return [select, check];
}

// The keys to choose from, and how they are shown: the best ones, what is chosen, and none.
function keysFor(cell) {
  const keys = new Map(cell.keys.map(({ key, score: own }) => [key, `${key} (${score(own)})`]));
  const now = choiceOf(cell);
  if (now !== null && !keys.has(now)) keys.set(now, now);
  return [...keys, [null, "no key"]];
}

// ---- what is done with the decisions: the dict checks them first ----------------------------

const errors = errorsIn("cells-error");
const decisions = () => ({ decisions: [...decided].map(([query, target]) => ({ query, target })) });

const save = task(async () => {
  const file = await ask("decisions", decisions());
  return () => {
    const link = element("a", { href: URL.createObjectURL(file), download: "decisions.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    showDecided(" decisions.csv has them. Apply it: fuzzydict map --decisions decisions.csv.");
  };
}, errors);

const learn = task(async () => {
  const { taught, refused, unsaved } = await ask("learn", decisions());
  await afterTeaching();
  return () => {
    show("cells-status", `Taught ${count(taught, "text")}. They are listed below.`);
    const problems = unsaved ? [unsaved] : [];
    if (refused.length > 0) problems.push(`${count(refused.length, "text")} not taught, first ${refused[0]}.`);
    errors(new Error(problems.join(" ")));
  };
}, errors);
