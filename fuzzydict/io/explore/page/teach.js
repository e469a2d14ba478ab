// Teach the dict: the right key of a query, or that none is right; and undo it.

import { ask, button, byId, element, errorsIn, quiet, show, task, Trouble, written } from "./base.js";
import { keyChooser } from "./chooser.js";

const HELD =
  "Not saved: this holds until the command ends. " +
  "To keep it, start fuzzydict explore with -o FILE.";

const besideAnswer = errorsIn("teach-error");
const besideList = errorsIn("taught-error");
const first = () => answer.keys.map(({ key }) => key);
const chooser = keyChooser({ label: "The right key", first });
let answer = { query: "", keys: [], forget: null };
let changed = () => {};
let saves = HELD; // where what is taught goes

export function setUpTeaching(file, whenChanged) {
  changed = whenChanged;
  if (file) saves = `Each is saved at once to ${file}.`;
  byId("teach-choice").append(chooser.node);
  byId("teach").onsubmit = (event) => {
    event.preventDefault();
    if (chooser.key() !== "") return teach(chooser.key());
    besideAnswer(new Error("Choose the right key first."));
    return chooser.input.focus();
  };
  byId("teach-none").onclick = () => teach(null);
  byId("teach-undo").onclick = () => change(besideAnswer, "forget", { query: answer.forget });
  refresh();
}

const teach = (key) => change(besideAnswer, "teach", { query: answer.query, key });

// Show the form for another answer. What was typed for the same query stays.
export function showTeaching(given) {
  if (given.query !== answer.query) {
    chooser.clear();
    besideAnswer(null);
  }
  answer = given;
  byId("teach-undo").hidden = answer.forget === null;
  byId("teach-question").textContent = answer.forget === null ? "Not right?" : "Taught here.";
}

// Teach or forget, and tell where it was asked for what goes wrong; return whether it was done.
async function change(tell, what, given) {
  const problem = await ask(what, given).then(() => null, (error) => error);
  if (problem && !(problem instanceof Trouble)) throw problem;
  tell(problem);
  if (problem && !problem.unsaved) return false;
  chooser.clear();
  if (document.activeElement === byId("teach-undo")) byId("teach-none").focus(); // it will hide
  await afterTeaching();
  tell(problem);
  return true;
}

// Show what is taught now, and ask again what it changes.
export async function afterTeaching() {
  await refresh();
  changed();
}

const refresh = task(async () => {
  const { taught } = await ask("taught");
  return () => {
    show("saves", taught.length > 0 ? saves : `Nothing yet. ${saves}`);
    byId("taught-list").replaceChildren(...taught.map(item));
  };
}, besideList);

function item({ query, key }, place) {
  const target = key === null ? element("i", {}, "no key") : written(key, "b");
  const undo = button("Undo", () => forget(query, place), { "aria-label": `Undo: ${query}` });
  return element("li", {}, written(query), quiet(" is "), target, " ", undo);
}

async function forget(query, place) {
  if (!(await change(besideList, "forget", { query }))) return;
  const buttons = byId("taught-list").querySelectorAll("button");
  (buttons[Math.min(place, buttons.length - 1)] ?? byId("taught-title")).focus();
}
