// A column of texts: given as a file or as lines, matched, and shown for decisions.

import { errorsIn, LARGEST, latest, upload } from "./asking.js";
import { showCells } from "./decisions.js";
import { byId } from "./elements.js";

const PASTED = "pasted.txt";

const errors = errorsIn(byId("column-error"));
let source = null; // { name, body, columns }; no columns: each line is a text

// Read the columns of a chosen file. A list, one text a line, has none.
const open = latest(async (signal, file) => {
  clear();
  byId("lines").value = "";
  if (file.size > LARGEST) return () => refuse(`${file.name} has more than 4 MB. Use fuzzydict map for it.`);
  if (/\.txt$/i.test(file.name)) return () => (source = { name: file.name, body: file });
  busy("Reading …");
  const { columns, rows, notes } = await upload("table", { name: file.name }, file, signal);
  return () => {
    source = { name: file.name, body: file, columns };
    byId("which-column").replaceChildren(...columns.map((name) => new Option(name, name)));
    byId("which").hidden = false;
    const told = [`${rows} ${rows === 1 ? "row" : "rows"}.`, ...notes.map((note) => `${note}.`)];
    busy(`${told.join(" ")} Choose the column, then Match.`);
  };
}, failed);

const match = latest(async (signal) => {
  const { name, body, columns } = source;
  busy("Matching …");
  const asked = columns ? { name, column: byId("which-column").value } : { name };
  const told = await upload("column", asked, body, signal);
  return () => {
    busy("");
    showCells(told);
    byId("cells").hidden = false;
    byId("cells-title").focus();
  };
}, failed);

export function setUpColumn() {
  byId("file").addEventListener("change", () => {
    const [file] = byId("file").files;
    if (file) open(file);
    else forget();
  });
  byId("lines").addEventListener("input", () => {
    if (byId("file").value === "" && source === null) return;
    byId("file").value = ""; // lines take the place of a file
    forget();
  });
  byId("column-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const lines = byId("lines").value;
    if (lines.trim() !== "") source = { name: PASTED, body: new Blob([lines]) };
    if (source === null) return refuse("Choose a file, or paste texts, one a line.");
    if (source.body.size > LARGEST) return refuse("More than 4 MB. Use fuzzydict map for it.");
    match();
  });
}

function forget() {
  open.stop();
  clear();
}

function clear() {
  match.stop();
  source = null;
  byId("which").hidden = true;
  byId("cells").hidden = true;
  errors(null);
  busy("");
}

const refuse = (message) => errors(new Error(message));
const busy = (text) => (byId("column-busy").textContent = text);

function failed(error) {
  errors(error);
  if (error) busy("");
}
