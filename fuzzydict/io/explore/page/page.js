// The page: its tabs, and the query that is typed.

import { showAnswer, spoken } from "./answer.js";
import { errorsIn, get, inTurn, later, latest, paced, Trouble } from "./asking.js";
import { setUpColumn } from "./column.js";
import { byId, element, number, written } from "./elements.js";
import { offerQuery, refreshHeat, setUpHeat } from "./heat.js";
import { setUpMap } from "./map.js";
import { showTeaching, setUpTeaching } from "./teach.js";
import { addSlider, onTemperature, setOwnTemperature, temperature } from "./temperature.js";

const PAUSE = 40; // milliseconds between queries
const REST = 700; // milliseconds after which an answer is said aloud
const VIEWS = ["one", "several", "column"];

// ---- one query ---------------------------------------------------------------------------

const errors = errorsIn(byId("ask-error"));
const say = later(REST, (answer) => (byId("said").textContent = spoken(answer)));
// Browsers refuse to change the address too often.
const keepInAddress = later(REST, (query) => {
  history.replaceState(null, "", query === "" ? "#" : `#${new URLSearchParams({ query })}`);
});

const ask = latest(async (signal) => {
  const query = byId("query").value;
  keepInAddress(query);
  if (query.trim() === "") return () => show(null);
  const asked = { query };
  if (temperature() !== null) asked.temperature = temperature();
  const answer = await get("answer", asked, signal);
  return () => show(answer);
}, (error) => {
  errors(error);
  if (error) show(null, true);
});

const soon = paced(PAUSE, ask);

function show(answer, failed = false) {
  byId("answer").hidden = answer === null;
  byId("answer").classList.toggle("bare", answer?.keys.length === 0);
  byId("nothing").hidden = answer !== null || failed;
  say.stop();
  if (answer === null) return;
  showTeaching(answer);
  showAnswer(answer);
  say(answer);
}

// Ask again, for the temperature, or what was taught, is another.
function askAgain() {
  soon.stop();
  return Promise.all([ask(), byId("several").hidden ? null : refreshHeat()]);
}

byId("query").addEventListener("input", soon);
byId("asking").addEventListener("submit", (event) => {
  event.preventDefault();
  soon.stop();
  ask();
});

function type(query) {
  byId("query").value = query;
  byId("query").focus();
  ask();
}

// ---- tabs --------------------------------------------------------------------------------

function open(view) {
  for (const name of VIEWS) {
    byId(name).hidden = name !== view;
    byId(`tab-${name}`).setAttribute("aria-selected", String(name === view));
    byId(`tab-${name}`).tabIndex = name === view ? 0 : -1;
  }
  if (view === "several") offerQuery(byId("query").value);
}

VIEWS.forEach((name, place) => {
  byId(`tab-${name}`).addEventListener("click", () => open(name));
  byId(`tab-${name}`).addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    const to = { Home: 0, End: VIEWS.length - 1 }[key] ?? place + step;
    if (Number.isNaN(to)) return;
    const next = VIEWS[(to + VIEWS.length) % VIEWS.length];
    open(next);
    byId(`tab-${next}`).focus();
  });
});

// ---- the beginning -----------------------------------------------------------------------

function describe(about) {
  const { title, keys, scorer, embedding, cutoff, mode } = about;
  document.title = `${title} – fuzzydict`;
  byId("title").textContent = title;
  const told = [`${number(keys)} ${keys === 1 ? "key" : "keys"}`, `scorer: ${scorer}`, `embedding: ${embedding}`];
  told.push(cutoff === null ? "no cutoff" : `cutoff ${number(cutoff)}`, `mode: ${mode}`);
  byId("about").textContent = told.join(" · ");
  byId("nothing-text").textContent =
    keys === 0 ? "This dict has no keys, so nothing can match." : "Type a text, or try one of its keys:";
  byId("sample").replaceChildren(...about.sample.map(chip));
}

function chip(key) {
  const button = written(key, "button", { type: "button" });
  button.addEventListener("click", () => type(key));
  return element("li", {}, button);
}

async function begin() {
  const given = new URLSearchParams(location.hash.slice(1)).get("query");
  if (given !== null && byId("query").value === "") byId("query").value = given;
  byId("query").focus();
  addSlider(byId("temperature"));
  addSlider(byId("several-temperature"));
  onTemperature(inTurn(askAgain));
  setUpHeat();
  setUpColumn();
  try {
    const about = await get("about");
    describe(about);
    setOwnTemperature(about.temperature);
    setUpTeaching(about, askAgain);
    ask();
    setUpMap(await get("map"));
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    errorsIn(byId("gone"))(error);
  }
}

begin();
