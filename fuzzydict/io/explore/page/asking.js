// Ask the dict on this machine. What is newer ends what is older, so no stale answer is shown.

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

export async function get(name, parameters = {}, signal = undefined) {
  return (await request(name, parameters, { signal })).json();
}

export async function post(name, told, signal = undefined) {
  return (await sent(name, told, signal)).json();
}

// What the dict makes of this, as a file.
export async function download(name, told) {
  return (await sent(name, told)).blob();
}

export async function upload(name, parameters, body, signal) {
  const headers = { "Content-Type": "application/octet-stream" };
  return (await request(name, parameters, { method: "POST", headers, body, signal })).json();
}

function sent(name, told, signal) {
  const headers = { "Content-Type": "application/json" };
  return request(name, {}, { method: "POST", headers, body: JSON.stringify(told), signal });
}

async function request(name, parameters, options) {
  const asked = new URLSearchParams(parameters).toString();
  let response;
  try {
    response = await fetch(asked ? `${name}?${asked}` : name, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble(GONE, { gone: true });
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  const unsaved = told.saved === null;
  throw new Trouble(told.error ?? `The dict refused this (${response.status}).`, { unsaved });
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

// Call act at once, but not again within so many milliseconds: the last of such calls waits for them.
export function paced(pause, act) {
  let [timer, last] = [0, -Infinity];
  const run = () => {
    clearTimeout(timer);
    const left = last + pause - performance.now();
    if (left > 0) return (timer = setTimeout(run, left));
    last = performance.now();
    act();
  };
  run.stop = () => clearTimeout(timer);
  return run;
}

// Show errors in an element, as text.
export const errorsIn = (place) => (error) => {
  const text = error?.message ?? "";
  if (place.textContent !== text) place.textContent = text;
};
