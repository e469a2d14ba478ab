// The temperature: one number for the whole page, however many sliders show it.

import { element, newId, number } from "./elements.js";

const DECADES = 2; // to either side of the dict's own temperature
const listeners = [];
const sliders = [];
let own = 1;
let chosen = null; // null: the dict's own

export const temperature = () => chosen;

export function onTemperature(act) {
  listeners.push(act);
}

export function setOwnTemperature(value) {
  own = value;
  show();
}

export function addSlider(place) {
  const id = newId();
  const input = element("input", {
    type: "range",
    id,
    min: -DECADES,
    max: DECADES,
    step: 0.01,
    value: 0,
  });
  const output = element("output", { htmlFor: id });
  const reset = element("button", { type: "button" }, "Reset");
  reset.setAttribute("aria-label", "Reset the temperature");
  input.addEventListener("input", () => set(own * 10 ** Number(input.value)));
  reset.addEventListener("click", () => set(null));
  sliders.push({ input, output, reset });
  const label = element("label", { htmlFor: id }, "Temperature");
  const help = "Scores are divided by it before the softmax. Low: the best key takes all. High: all keys weigh alike.";
  const say = element("p", { className: "quiet", id: newId() }, help);
  input.setAttribute("aria-describedby", say.id);
  place.append(element("div", { className: "row slider" }, label, input, output, reset), say);
  show();
}

function set(value) {
  chosen = value;
  show();
  for (const act of listeners) act();
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
