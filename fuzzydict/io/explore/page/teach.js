// Teach the dict: the right key of a query, or that none is right; and undo it.

import { errorsIn, get, latest, post, Trouble } from "./asking.js";
import { KeyChooser } from "./chooser.js";
import { button, byId, element, written } from "./elements.js";

const HELD =
  "Not saved: this holds until the command ends. " +
  "To keep it, start fuzzydict explore with -o FILE.";

const besideAnswer = errorsIn(byId("teach-error"));
const besideList = errorsIn(byId("taught-error"));
let answer = { query: "", keys: [], forget: null };
let taught = [];
let changed = () => {};
let saves = ""; // where what is taught goes

const chooser = new KeyChooser({
  label: "The right key",
  first: () => answer.keys.map(({ key }) => key),
});

export function setUpTeaching(file, whenChanged) {
  changed = whenChanged;
  saves = file ? `Each is saved at once to ${file}.` : HELD;
  byId("teach-choice").append(chooser.node);
  byId("teach").onsubmit = (event) => {
    event.preventDefault();
    if (chooser.key !== "") return change(besideAnswer, "teach", answer.query, chooser.key);
    besideAnswer(new Error("Choose the right key first."));
    return chooser.input.focus();
  };
  byId("teach-none").onclick = () => change(besideAnswer, "teach", answer.query, null);
  byId("teach-undo").onclick = () => change(besideAnswer, "forget", answer.forget);
  return refreshTaught();
}

// Show the form for another answer. What was typed for the same query stays.
export function showTeaching(given) {
  if (given.query !== answer.query) {
    chooser.clear();
    besideAnswer(null);
  }
  answer = given;
  const isHere = answer.forget !== null;
  byId("teach-undo").hidden = !isHere;
  byId("teach-question").textContent = isHere ? "Taught here." : "Not right?";
}

// Teach or forget, and tell where it was asked for what goes wrong; return whether it was done.
async function change(tell, what, query, key) {
  let problem = null;
  try {
    await post(what, what === "teach" ? { query, key } : { query });
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    problem = error;
  }
  tell(problem);
  if (problem && !problem.unsaved) return false;
  chooser.clear();
  const willHide = byId("teach-undo");
  if (document.activeElement === willHide) byId("teach-none").focus();
  await afterTeaching();
  tell(problem);
  return true;
}

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
}, besideList);

function item({ query, key }) {
  const target = key === null ? element("i", {}, "no key") : written(key, "b");
  const undo = button("Undo", () => forget(query), { "aria-label": `Undo: ${query}` });
  const is = element("span", { className: "quiet" }, " is ");
  return element("li", {}, written(query), is, target, " ", undo);
}

async function forget(query) {
  const place = taught.findIndex((one) => one.query === query);
  if (!(await change(besideList, "forget", query))) return;
  const buttons = byId("taught-list").querySelectorAll("button");
  (buttons[Math.min(place, buttons.length - 1)] ?? byId("taught-title")).focus();
}
