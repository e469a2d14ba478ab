// The temperature: one number for the whole page, however many sliders show it.

import { button, element, newId, number } from "./elements.js";

const DECADES = 2; // to either side of the dict's own temperature
const HELP =
  "Scores are divided by it before the softmax. Low: the best key takes all. " +
  "High: all keys weigh alike.";

const sliders = [];
let own = 1;
let chosen = null; // null: the dict's own
let changed = () => {};

export const temperature = () => chosen;

export function setOwnTemperature(value) {
  own = value;
  show();
}

export function setUpTemperature(places, whenChanged) {
  changed = whenChanged;
  sliders.push(...places.map(slider));
  show();
}

function slider(place) {
  const [id, help] = [newId(), newId()];
  const input = element("input", {
    type: "range", id, min: -DECADES, max: DECADES, step: 0.01, "aria-describedby": help,
    oninput: () => choose(own * 10 ** Number(input.value)),
  });
  const output = element("output", { htmlFor: id });
  const reset = button("Reset", () => choose(null), { "aria-label": "Reset the temperature" });
  const label = element("label", { htmlFor: id }, "Temperature");
  const row = element("div", { className: "row slider" }, label, input, output, reset);
  place.append(row, element("p", { className: "quiet", id: help }, HELP));
  return { input, output, reset };
}

function choose(value) {
  chosen = value;
  show();
  changed();
}

function show() {
  const value = chosen ?? own;
  const text = number(Number(value.toPrecision(3)));
  for (const { input, output, reset } of sliders) {
    input.value = Math.log10(value / own);
    input.setAttribute("aria-valuetext", text);
    output.textContent = text;
    reset.disabled = chosen === null;
  }
}
