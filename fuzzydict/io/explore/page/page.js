// The page: its tabs, and the query that is typed.

import { showAnswer, spoken } from "./answer.js";
import { errorsIn, get, inTurn, later, latest, Trouble } from "./asking.js";
import { setUpColumn } from "./column.js";
import { button, byId, count, element, number } from "./elements.js";
import { setUpMap } from "./map.js";
import { offerQuery, showSeveral } from "./several.js";
import { setUpTeaching, showTeaching } from "./teach.js";
import { setOwnTemperature, setUpTemperature, temperature } from "./temperature.js";

const WAIT = 60; // milliseconds after a keystroke in a list of queries
const REST = 700; // milliseconds after which an answer is said aloud
const VIEWS = ["one", "several", "column"];

// ---- one query -----------------------------------------------------------------------------

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
  const chosen = temperature() === null ? {} : { temperature: temperature() };
  const answer = await get("answer", { query, ...chosen }, signal);
  return () => show(answer);
}, (error) => {
  errors(error);
  if (error) show(null, true);
});

// Ask what is shown: the query, the temperature, or what was taught, is another.
const askAgain = inTurn(() => Promise.all([ask(), byId("several").hidden || showSeveral()]));

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

// ---- tabs ----------------------------------------------------------------------------------

function open(view) {
  for (const name of VIEWS) {
    byId(name).hidden = name !== view;
    byId(`tab-${name}`).setAttribute("aria-selected", String(name === view));
    byId(`tab-${name}`).tabIndex = name === view ? 0 : -1;
  }
  if (view === "several") offerQuery(byId("query").value);
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

// ---- the beginning -------------------------------------------------------------------------

function describe({ title, keys, scorer, embedding, cutoff, mode, sample }) {
  document.title = `${title} – fuzzydict`;
  byId("title").textContent = title;
  const least = cutoff === null ? "no cutoff" : `cutoff ${number(cutoff)}`;
  const told = [count(keys, "key"), `scorer: ${scorer}`, `embedding: ${embedding}`, least];
  byId("about").textContent = [...told, `mode: ${mode}`].join(" · ");
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
  if (given !== null && byId("query").value === "") byId("query").value = given;
  byId("query").focus();
  byId("query").oninput = askAgain;
  byId("asking").onsubmit = (event) => {
    event.preventDefault();
    askAgain();
  };
  byId("queries").oninput = later(WAIT, showSeveral);
  setUpTemperature([byId("temperature"), byId("several-temperature")], askAgain);
  setUpColumn();
  try {
    const about = await get("about");
    describe(about);
    setOwnTemperature(about.temperature);
    setUpTeaching(about.saves_to, askAgain);
    askAgain();
    setUpMap(await get("map"));
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    errorsIn(byId("gone"))(error);
  }
}

begin();
