// Ask the dict what is typed, and show what it answers. Texts go in as text, never as HTML.
"use strict";

const WAIT = 120; // milliseconds after a keystroke
const at = (id) => document.getElementById(id);
let own = 1; // the dict's temperature
let chosen = null; // another one, if the slider was moved
let asking = new AbortController();
let timer = 0;

async function load(path, signal) {
  const response = await fetch(path, { signal });
  const told = await response.json();
  if (!response.ok) throw new Error(told.error);
  return told;
}

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

// A cell with a number, and a bar if the number is a share.
function measure(text, share, className = "") {
  const cell = element("td", "", className);
  const number = element("div", "", "number");
  number.append(element("span", text));
  if (share >= 0 && share <= 1) {
    const bar = element("div", "", "bar");
    const filled = element("i", "");
    filled.style.width = `${100 * share}%`;
    bar.append(filled);
    number.append(bar);
  }
  cell.append(number);
  return cell;
}

function row({ key, value, score, weight }) {
  const made = document.createElement("tr");
  const cells = [element("td", key), element("td", value)];
  cells[0].title = key;
  cells[1].title = value;
  const written = score === null ? "–" : score.toFixed(3);
  made.append(...cells, measure(written, score ?? -1));
  made.append(measure(`${(100 * weight).toFixed(1)}%`, weight, "weight"));
  return made;
}

function show(told) {
  at("verdict").textContent = told.verdict;
  at("why").textContent = told.why.replace(/^ {2}/gm, "");
  at("keys").replaceChildren(...told.keys.map(row));
  const rest = told.keys.reduce((share, { weight }) => share - weight, 1);
  const share = `${(100 * Math.max(rest, 0)).toFixed(1)}%`;
  at("others").textContent = told.others > 0 ? `and ${told.others} other keys: ${share}` : "";
  at("pooled").textContent = pooled(told);
}

function pooled(told) {
  if (told.pooled) return `Pooled value: ${told.pooled}`;
  return told.not_pooled ? `No pooled value: ${told.not_pooled}` : "";
}

async function ask() {
  clearTimeout(timer);
  asking.abort();
  asking = new AbortController();
  const query = at("query").value;
  history.replaceState(null, "", `#${new URLSearchParams({ query })}`);
  document.body.classList.toggle("empty", query.trim() === "");
  if (query.trim() === "") return show({ verdict: "", why: "", keys: [] });
  const asked = new URLSearchParams({ query });
  if (chosen !== null) asked.set("temperature", chosen);
  try {
    show(await load(`answer?${asked}`, asking.signal));
  } catch (error) {
    if (error.name === "AbortError") return; // a newer query is on its way
    const gone = error instanceof TypeError; // what fetch throws where nobody answers
    const verdict = gone ? "The dict does not answer: is fuzzydict still running?" : error.message;
    show({ verdict, why: "", keys: [] });
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT);
}

function showTemperature() {
  const temperature = chosen ?? own;
  at("temperature").value = Math.log10(temperature);
  at("shown").textContent = String(Number(temperature.toPrecision(2)));
}

at("query").addEventListener("input", later);
at("temperature").addEventListener("input", () => {
  chosen = 10 ** at("temperature").value;
  showTemperature();
  later();
});
at("reset").addEventListener("click", () => {
  chosen = null;
  showTemperature();
  ask();
});

async function start() {
  const about = await load("about");
  document.title = at("title").textContent = about.title;
  at("about").textContent = `${about.keys} keys; what you type is asked on this machine alone.`;
  own = about.temperature;
  showTemperature();
  at("query").value ||= new URLSearchParams(location.hash.slice(1)).get("query") ?? "";
  ask();
}

start();
