// Teach the dict: the right key of a query, or that none is right; and undo it.

import { errorsIn, get, latest, post, Trouble } from "./asking.js";
import { keyChooser } from "./combobox.js";
import { byId, element, written } from "./elements.js";

const errors = errorsIn(byId("teach-error"));
let answer = { query: "", keys: [], forget: null };
let taught = [];
let changed = () => {};
let saves = ""; // where what is taught goes

const chooser = keyChooser({
  label: "The right key",
  first: () => answer.keys.map(({ key }) => key),
});

export function setUpTeaching({ saves_to: file }, whenChanged) {
  changed = whenChanged;
  saves = file
    ? `Each is saved at once to ${file}.`
    : "Not saved: this holds until the command ends. To keep it, start fuzzydict explore with -o FILE.";
  byId("teach-choice").append(chooser.node);
  byId("teach").addEventListener("submit", (event) => {
    event.preventDefault();
    if (chooser.key() === "") {
      errors(new Error("Choose the right key first."));
      return chooser.input.focus();
    }
    act("teach", answer.query, chooser.key());
  });
  byId("teach-none").addEventListener("click", () => act("teach", answer.query, null));
  byId("teach-undo").addEventListener("click", () => act("forget", answer.forget));
  return refreshTaught();
}

// Show the form for another answer. What was typed for the same query stays.
export function showTeaching(given) {
  if (given.query !== answer.query) {
    chooser.clear();
    errors(null);
  }
  answer = given;
  const here = answer.forget !== null;
  byId("teach-undo").hidden = !here;
  byId("teach-question").textContent = here ? "Taught here." : "Not right?";
}

async function act(what, query, key) {
  errors(null);
  try {
    await (what === "teach" ? post("teach", { query, key }) : post("forget", { query }));
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    errors(error);
    if (!error.unsaved) return;
  }
  chooser.clear();
  if (document.activeElement === byId("teach-undo")) byId("teach-none").focus(); // it will be hidden
  await afterTeaching();
}

export const teach = (query, key) => post("teach", { query, key });

// Show what is taught now, and ask again what it changes.
export async function afterTeaching() {
  await refreshTaught();
  changed();
}

const refreshTaught = latest(async (signal) => {
  const found = await get("taught", {}, signal);
  return () => {
    taught = found.taught;
    byId("saves").textContent = taught.length > 0 ? saves : `Nothing yet. ${saves}`;
    byId("taught-list").replaceChildren(...taught.map(item));
  };
}, errorsIn(byId("taught-error")));

function item({ query, key }) {
  const undo = element("button", { type: "button" }, "Undo");
  undo.setAttribute("aria-label", `Undo: ${query}`);
  undo.addEventListener("click", () => forget(query));
  const target = key === null ? element("i", {}, "no key") : written(key, "b");
  return element("li", {}, written(query), element("span", { className: "quiet" }, " is "), target, " ", undo);
}

async function forget(query) {
  const place = taught.findIndex((one) => one.query === query);
  const tell = errorsIn(byId("taught-error"));
  let problem = null;
  try {
    await post("forget", { query });
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    if (!error.unsaved) return tell(error);
    problem = error;
  }
  await afterTeaching();
  tell(problem);
  const buttons = byId("taught-list").querySelectorAll("button");
  (buttons[Math.min(place, buttons.length - 1)] ?? byId("taught-title")).focus();
}
