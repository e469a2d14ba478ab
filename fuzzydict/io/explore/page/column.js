// A column of texts: given as a file or as lines, and matched. What it is decided to be is next.

import { errorsIn, LARGEST, latest, upload } from "./asking.js";
import { showCells } from "./decisions.js";
import { byId, count } from "./elements.js";

const errors = errorsIn(byId("column-error"));
let source = null; // { name, body, columns }; no columns: each line is a text

// Read the columns of a chosen file. A list, one text a line, has none.
const open = latest(async (signal, file) => {
  clear();
  byId("lines").value = "";
  const { name } = file;
  if (file.size > LARGEST) return () => refuseLarge(`${name} has more`);
  if (/\.txt$/i.test(name)) return () => (source = { name, body: file });
  busy("Reading …");
  const { columns, rows, notes } = await upload("table", { name }, file, signal);
  return () => {
    source = { name, body: file, columns };
    byId("which-column").replaceChildren(...columns.map((column) => new Option(column, column)));
    byId("which").hidden = false;
    const told = [count(rows, "row"), ...notes].map((note) => `${note}.`);
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
  byId("file").onchange = () => {
    const [file] = byId("file").files;
    if (file) open(file);
    else forget();
  };
  byId("lines").oninput = () => {
    if (byId("file").value === "" && source === null) return;
    byId("file").value = ""; // lines take the place of a file
    forget();
  };
  byId("column-form").onsubmit = (event) => {
    event.preventDefault();
    const lines = byId("lines").value;
    if (lines.trim() !== "") source = { name: "pasted.txt", body: new Blob([lines]) };
    if (source === null) return refuse("Choose a file, or paste texts, one a line.");
    if (source.body.size > LARGEST) return refuseLarge("More");
    match();
  };
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
  failed(null);
  busy("");
}

const refuse = (message) => errors(new Error(message));
const refuseLarge = (what) => refuse(`${what} than 4 MB. Use fuzzydict map for it.`);
const busy = (text) => (byId("column-busy").textContent = text);

function failed(error) {
  errors(error);
  if (error) busy("");
}
