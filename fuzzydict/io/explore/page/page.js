// The page: its tabs, the queries that are typed, and the temperature.

import { heatMap, showAnswer, spoken } from "./answer.js";
import { ask, button, byId, count, element, errorsIn, number, show, task, Trouble } from "./base.js";
import { setUpColumn } from "./column.js";
import { setUpMap } from "./map.js";
import { setUpTeaching, showTeaching } from "./teach.js";

const REST = 700; // milliseconds without typing, after which an answer is said aloud
const MOST = 20; // of several queries
const VIEWS = ["one", "several", "column"];
const temperature = { own: 1, chosen: null }; // that of the dict; what was chosen instead

// ---- one query, and several ----------------------------------------------------------------

let resting = 0; // a timer

const askOne = task(async () => {
  const query = byId("query").value;
  const asked = { query, temperature: temperature.chosen };
  const answer = query.trim() === "" ? null : await ask("answer", asked);
  return () => showOne(query, answer);
}, (error) => {
  show("ask-error", error?.message ?? "");
  if (error) showOne(byId("query").value, null, true);
});

function showOne(query, answer, failed = false) {
  byId("answer").hidden = answer === null;
  byId("answer").classList.toggle("bare", answer?.keys.length === 0);
  byId("nothing").hidden = answer !== null || failed;
  if (answer) {
    showTeaching(answer);
    showAnswer(answer);
  }
  clearTimeout(resting);
  resting = setTimeout(() => {
    if (answer) byId("said").textContent = spoken(answer);
    // Browsers refuse to change the address too often.
    history.replaceState(null, "", query === "" ? "#" : `#${new URLSearchParams({ query })}`);
  }, REST);
}

const errors = errorsIn("several-error");
const askSeveral = task(async () => {
  const lines = byId("queries").value.split("\n").map((line) => line.trim());
  const given = lines.filter((line) => line !== "");
  const hasWords = given.some((query) => /[\p{L}\p{N}]/u.test(query));
  const asked = { queries: given.slice(0, MOST), temperature: temperature.chosen };
  const told = hasWords ? await ask("heat", asked) : null;
  return () => {
    byId("heat").hidden = !told;
    if (told) byId("heat-table").replaceChildren(heatMap(told));
    else if (given.length > 0) errors(new Error("No line has letters or digits yet."));
    const few = `Only the first ${MOST} queries are shown; ${given.length - MOST} more were given.`;
    if (given.length > MOST) errors(new Error(few));
  };
}, errors);

// Ask what is shown: the query, the temperature, or what was taught, is another.
function askAgain() {
  askOne();
  if (!byId("several").hidden) askSeveral();
}

// ---- tabs, and in the one that is open the temperature --------------------------------------

function open(view) {
  for (const name of VIEWS) {
    byId(name).hidden = name !== view;
    byId(`tab-${name}`).setAttribute("aria-selected", String(name === view));
    byId(`tab-${name}`).tabIndex = name === view ? 0 : -1;
  }
  byId(view === "several" ? "several-temperature" : "one-temperature").append(byId("temperature"));
  if (view !== "several") return;
  const [{ value: query }, given] = [byId("query"), byId("queries")];
  if (given.value.trim() === "" && query.trim() !== "") given.value = `${query}\n`;
  askSeveral();
}

VIEWS.forEach((name, place) => {
  byId(`tab-${name}`).onclick = () => open(name);
  byId(`tab-${name}`).onkeydown = ({ key }) => {
    const to = { Home: 0, End: -1, ArrowRight: place + 1, ArrowLeft: place - 1 }[key];
    if (to === undefined) return;
    const next = VIEWS.at(to % VIEWS.length);
    open(next);
    byId(`tab-${next}`).focus();
  };
});

function choose(chosen) {
  temperature.chosen = chosen;
  const now = chosen ?? temperature.own;
  const text = number(Number(now.toPrecision(3)));
  byId("slider").value = Math.log10(now / temperature.own);
  byId("slider").setAttribute("aria-valuetext", text);
  byId("degrees").textContent = text;
  byId("reset").disabled = chosen === null;
  askAgain();
}

byId("slider").oninput = () => choose(temperature.own * 10 ** Number(byId("slider").value));
byId("reset").onclick = () => choose(null);

// ---- the beginning -------------------------------------------------------------------------

function describe({ title, keys, scorer, embedding, cutoff, mode, licence, sample }) {
  document.title = `${title} – fuzzydict`;
  byId("title").textContent = title;
  const least = cutoff === null ? "no cutoff" : `cutoff ${number(cutoff)}`;
  const told = [count(keys, "key"), `scorer: ${scorer}`, `embedding: ${embedding}`, least];
  byId("about").textContent = [...told, `mode: ${mode}`].join(" · ");
  byId("licence").textContent = licence;
  const empty = "This dict has no keys, so nothing can match.";
  byId("nothing-text").textContent = keys === 0 ? empty : "Type a text, or try one of its keys:";
  byId("sample").replaceChildren(...sample.map(chip));
}

function chip(key) {
  const type = () => {
    byId("query").value = key;
    byId("query").focus();
    askAgain();
  };
  return element("li", {}, button(key, type, { dir: "auto" }));
}

async function begin() {
  const given = new URLSearchParams(location.hash.slice(1)).get("query");
  if (byId("query").value === "") byId("query").value = given ?? "";
  byId("query").focus();
  byId("query").oninput = askAgain;
  byId("asking").onsubmit = (event) => {
    event.preventDefault();
    askAgain();
  };
  byId("queries").oninput = askSeveral;
  setUpColumn();
  try {
    const about = await ask("about");
    describe(about);
    temperature.own = about.temperature;
    setUpTeaching(about.saves_to, askAgain);
    choose(null);
    setUpMap(await ask("map"));
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    show("gone", error.message);
  }
}

begin();
