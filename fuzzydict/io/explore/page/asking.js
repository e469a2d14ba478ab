// Ask the dict on this machine, so that no stale answer is shown.

const GONE = "The dict does not answer. Is fuzzydict explore still running?";
export const LARGEST = 4 * 1024 * 1024; // bytes of a file

// An error that a person can read. `gone`: it came from no server. `unsaved`: the dict did what was
// asked, and only could not save it.
export class Trouble extends Error {
  constructor(message, { gone = false, unsaved = false } = {}) {
    super(message);
    Object.assign(this, { gone, unsaved });
  }
}

export const get = (name, parameters, signal) => request(name, parameters, { signal });

export const post = (name, told) =>
  request(name, {}, sending("application/json", JSON.stringify(told)));

export const upload = (name, parameters, file, signal) =>
  request(name, parameters, { ...sending("application/octet-stream", file), signal });

const sending = (type, body) => ({ method: "POST", headers: { "Content-Type": type }, body });

// Return what the dict tells: an object, or a file.
async function request(name, parameters, options) {
  let response;
  try {
    response = await fetch(`${name}?${new URLSearchParams(parameters)}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble(GONE, { gone: true });
  }
  const isFile = response.headers.get("Content-Type").startsWith("text/csv");
  if (response.ok) return isFile ? response.blob() : response.json();
  const told = await response.json().catch(() => ({}));
  const message = told.error ?? `The dict refused this (${response.status}).`;
  throw new Trouble(message, { unsaved: told.saved === null });
}

// act(signal, ...) for the latest call alone: the call before it is ended, and does nothing more.
// What goes wrong is told by show(error); show(null) says that nothing does.
export function latest(act, show) {
  let running = new AbortController();
  const run = async (...given) => {
    running.abort();
    const { signal } = (running = new AbortController());
    try {
      const after = await act(signal, ...given);
      if (signal.aborted) return;
      show(null);
      after?.();
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Trouble)) throw error;
      show(error);
    }
  };
  run.stop = () => running.abort();
  return run;
}

// Call act once at a time. Of the calls that come meanwhile, the last one follows.
export function inTurn(act) {
  let [busy, again] = [false, false];
  return async () => {
    again = true;
    if (busy) return;
    busy = true;
    try {
      while (again) {
        again = false;
        await act();
      }
    } finally {
      busy = false;
    }
  };
}

// Call act when nothing came for so many milliseconds.
export function later(wait, act) {
  let timer = 0;
  const run = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(act, wait, ...given);
  };
  run.stop = () => clearTimeout(timer);
  return run;
}

// Show errors in an element, as text.
export const errorsIn = (place) => (error) => {
  const text = error?.message ?? "";
  if (place.textContent !== text) place.textContent = text;
};
