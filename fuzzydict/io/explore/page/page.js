// The page: its tabs, the query that is typed, and the temperature.

import { showAnswer, spoken } from "./answer.js";
import { ask, errorsIn, show, task, Trouble } from "./asking.js";
import { setUpColumn } from "./column.js";
import { button, byId, count, element, number } from "./elements.js";
import { setUpMap } from "./map.js";
import { showSeveral } from "./several.js";
import { setUpTeaching, showTeaching } from "./teach.js";

const REST = 700; // milliseconds without typing, after which an answer is said aloud
const VIEWS = ["one", "several", "column"];
const temperature = { own: 1, chosen: null }; // that of the dict; what was chosen instead

// ---- one query -----------------------------------------------------------------------------

const errors = errorsIn("ask-error");
let resting = 0; // a timer

const askOne = task(async () => {
  const query = byId("query").value;
  const asked = { query, temperature: temperature.chosen };
  const answer = query.trim() === "" ? null : await ask("answer", asked);
  return () => showOne(query, answer);
}, (error) => {
  errors(error);
  if (error) showOne(byId("query").value, null, true);
});

// Ask what is shown: the query, the temperature, or what was taught, is another.
function askAgain() {
  askOne();
  if (!byId("several").hidden) showSeveral(temperature.chosen);
}

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

// ---- tabs ----------------------------------------------------------------------------------

function open(view) {
  for (const name of VIEWS) {
    byId(name).hidden = name !== view;
    byId(`tab-${name}`).setAttribute("aria-selected", String(name === view));
    byId(`tab-${name}`).tabIndex = name === view ? 0 : -1;
  }
  if (view !== "several") return byId("one-temperature").append(byId("temperature"));
  byId("several-temperature").append(byId("temperature"));
  const [{ value: query }, given] = [byId("query"), byId("queries")];
  if (given.value.trim() === "" && query.trim() !== "") given.value = `${query}\n`;
  showSeveral(temperature.chosen);
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

// ---- the temperature: one slider, in the tab that is open ----------------------------------

function choose(chosen) {
  temperature.chosen = chosen;
  showTemperature();
  askAgain();
}

function showTemperature() {
  const { own, chosen } = temperature;
  const text = number(Number((chosen ?? own).toPrecision(3)));
  byId("slider").value = Math.log10((chosen ?? own) / own);
  byId("slider").setAttribute("aria-valuetext", text);
  byId("degrees").textContent = text;
  byId("reset").disabled = chosen === null;
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
  if (given !== null && byId("query").value === "") byId("query").value = given;
  byId("query").focus();
  byId("query").oninput = askAgain;
  byId("asking").onsubmit = (event) => {
    event.preventDefault();
    askAgain();
  };
  byId("queries").oninput = () => showSeveral(temperature.chosen);
  setUpColumn();
  try {
    const about = await ask("about");
    describe(about);
    temperature.own = about.temperature;
    showTemperature();
    setUpTeaching(about.saves_to, askAgain);
    askAgain();
    setUpMap(await ask("map"));
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    show("gone", error.message);
  }
}

begin();
