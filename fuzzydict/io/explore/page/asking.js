// Ask the dict on this machine, and show errors where they belong.

import { byId } from "./elements.js";

const GONE = "The dict does not answer. Is fuzzydict explore still running?";

// An error that a person can read. `gone`: it came from no server. `unsaved`: the dict did what was
// asked, and only could not save it.
export class Trouble extends Error {
  constructor(message, { gone = false, unsaved = false } = {}) {
    super(message);
    Object.assign(this, { gone, unsaved });
  }
}

// Return what the dict answers: an object, or a file.
export async function ask(name, given = {}, { signal, file } = {}) {
  const [address, type, body] = file
    ? [`${name}?${new URLSearchParams(given)}`, "application/octet-stream", file]
    : [name, "application/json", JSON.stringify(given)];
  const options = { method: "POST", headers: { "Content-Type": type }, body, signal };
  const response = await fetch(address, options).catch((error) => {
    throw error.name === "AbortError" ? error : new Trouble(GONE, { gone: true });
  });
  const isFile = response.headers.get("Content-Type").startsWith("text/csv");
  if (response.ok) return isFile ? response.blob() : response.json();
  const { error, saved } = await response.json().catch(() => ({}));
  const message = error ?? `The dict refused this (${response.status}).`;
  throw new Trouble(message, { unsaved: saved === null });
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

// Show errors in an element, as text.
export const errorsIn = (place) => (error) => show(place, error?.message ?? "");

// Set a text, if it is another: a screen reader says again what is set again.
export function show(place, text) {
  const node = typeof place === "string" ? byId(place) : place;
  if (node.textContent !== text) node.textContent = text;
}
