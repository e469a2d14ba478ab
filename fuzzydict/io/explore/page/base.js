// What all parts of the page share: elements, numbers, questions to the dict, and errors.

const SHAPES = new Set(["svg", "line", "text", "circle", "polygon"]);
const GONE = "The dict does not answer. Is fuzzydict explore still running?";
const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
let made = 0;

// ---- elements: texts go in as text, never as HTML -------------------------------------------

export const byId = (id) => document.getElementById(id);

// An id that no other element has, for what refers to another by id.
export const newId = () => `made-${(made += 1)}`;

// element("td", { class: "number" }, "0.98"): an element with attributes, listeners and styles.
export function element(name, { style = {}, ...attributes } = {}, ...children) {
  const space = SHAPES.has(name) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const node = document.createElementNS(space, name);
  for (const [property, value] of Object.entries(style)) node.style.setProperty(property, value);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (typeof value === "function") node[attribute] = value;
    else if (typeof value === "boolean") node.toggleAttribute(attribute, value);
    else node.setAttribute(attribute, value);
  }
  node.append(...children);
  return node;
}

// A text of the dict or of a person, in its own direction.
export const written = (text, name = "bdi", attributes = {}) =>
  element(name, { dir: "auto", ...attributes }, text);

export const quiet = (text, kind = "") => element("span", { class: `quiet ${kind}` }, text);

export const button = (text, onclick, attributes = {}) =>
  element("button", { type: "button", onclick, ...attributes }, text);

// A row of a table, named by its first cell.
export const row = (name, ...cells) =>
  element("tr", {}, element("th", { scope: "row" }, ...[name].flat()), ...cells);

// Set a text, if it is another: a screen reader says again what is set again.
export function show(place, text) {
  const node = typeof place === "string" ? byId(place) : place;
  if (node.textContent !== text) node.textContent = text;
}

// Show errors in an element, as text.
export const errorsIn = (place) => (error) => show(place, error?.message ?? "");

// ---- numbers and texts ----------------------------------------------------------------------

// 12.3 %; very small shares are not told to the last digit.
export function percent(share) {
  const few = share > 0 && share < 0.0005;
  return `${few ? "<0.1" : (100 * share).toFixed(share === 0 || share >= 0.9995 ? 0 : 1)}\u202f%`;
}

export const number = (value) => digits.format(value);

export const count = (many, name) => `${number(many)} ${name}${many === 1 ? "" : "s"}`;

export function score(value) {
  if (value === null) return "–";
  return Math.abs(value) < 1000 ? value.toFixed(3) : value.toPrecision(4);
}

// At most so many characters, of which none is cut in two.
export function shortened(text, length) {
  const characters = [...text];
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : text;
}

// ---- questions to the dict ------------------------------------------------------------------

// An error that a person can read. `unsaved`: the dict did it, and only could not save it.
export class Trouble extends Error {
  unsaved = false;
}

// Return what the dict answers: an object, or a file.
export async function ask(name, given = {}, { signal, file } = {}) {
  const [address, type, body] = file
    ? [`${name}?${new URLSearchParams(given)}`, "application/octet-stream", file]
    : [name, "application/json", JSON.stringify(given)];
  const options = { method: "POST", headers: { "Content-Type": type }, body, signal };
  const response = await fetch(address, options).catch((error) => {
    throw error.name === "AbortError" ? error : new Trouble(GONE);
  });
  const isFile = response.headers.get("Content-Type").startsWith("text/csv");
  if (response.ok) return isFile ? response.blob() : response.json();
  const { error, saved } = await response.json().catch(() => ({}));
  const problem = new Trouble(error ?? `The dict refused this (${response.status}).`);
  throw Object.assign(problem, { unsaved: saved === null });
}

// Return what calls act(signal, ...) once at a time; of the calls that come meanwhile, the last one
// follows. act returns what shows its answer. What goes wrong is shown by tell(error), and
// tell(null) says that nothing does. stop() ends what runs, and shows nothing of it.
export function task(act, tell) {
  let [running, waiting] = [null, null];
  const run = async (...given) => {
    waiting = given;
    while (waiting && !running) {
      const [now, { signal }] = [waiting, (running = new AbortController())];
      waiting = null;
      try {
        const show = await act(signal, ...now);
        if (signal.aborted) continue;
        tell(null);
        show?.();
      } catch (error) {
        if (signal.aborted) continue;
        if (!(error instanceof Trouble)) throw error;
        tell(error);
      } finally {
        running = null;
      }
    }
  };
  run.stop = () => {
    waiting = null;
    running?.abort();
  };
  return run;
}
