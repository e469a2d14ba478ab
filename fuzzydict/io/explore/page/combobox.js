// A field to choose a key: type, and the keys that are meant are listed.
// The pattern is that of the ARIA Authoring Practices, "editable combobox with list autocomplete".

import { errorsIn, get, later, latest } from "./asking.js";
import { element, newId, written } from "./elements.js";

const WAIT = 60; // milliseconds after a keystroke

// label: its accessible name; first(): keys to list while nothing is typed; chosen(key): what to do.
export function keyChooser({ label, first = () => [], chosen = () => {} }) {
  const error = element("span", { className: "error", role: "alert", id: newId() });
  const list = element("ul", { id: newId(), role: "listbox", className: "options", hidden: true });
  list.setAttribute("aria-label", "Keys");
  const input = element("input", { type: "text", role: "combobox", autocomplete: "off", dir: "auto" });
  const told = {
    "aria-label": label,
    "aria-autocomplete": "list",
    "aria-controls": list.id,
    "aria-describedby": error.id,
    "aria-expanded": "false",
    autocapitalize: "off",
    maxlength: "500",
    placeholder: "the right key",
    spellcheck: "false",
  };
  for (const [name, value] of Object.entries(told)) input.setAttribute(name, value);
  const node = element("span", { className: "chooser" }, input, list, error);

  let keys = [];
  let active = -1;
  let key = null; // what was chosen; typing forgets it

  const find = latest(async (signal) => {
    const like = input.value;
    const given = like.trim() === "" ? first() : [];
    const found = given.length > 0 ? given : (await get("keys", { like }, signal)).keys;
    return () => show(found);
  }, errorsIn(error));
  const soon = later(WAIT, find);

  function show(found) {
    keys = found;
    list.replaceChildren(...keys.map((name) => written(name, "li", { role: "option", id: newId() })));
    open(keys.length > 0 && document.activeElement === input);
    mark(keys.indexOf(input.value));
  }

  function open(isOpen) {
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) mark(-1);
  }

  function mark(place) {
    list.children[active]?.removeAttribute("aria-selected");
    active = place;
    const option = list.children[place];
    if (!option) return input.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", option.id);
  }

  function choose(place) {
    stop();
    key = input.value = keys[place];
    open(false);
    chosen(key);
  }

  function stop() {
    soon.stop();
    find.stop();
  }

  function move(step) {
    if (list.hidden) return find();
    mark((Math.max(active, step > 0 ? -1 : 0) + step + keys.length) % keys.length);
  }

  input.addEventListener("input", () => {
    key = null;
    soon();
  });
  input.addEventListener("click", () => list.hidden && find());
  input.addEventListener("keydown", (event) => {
    const { key: pressed } = event;
    if (pressed === "ArrowDown") move(1);
    else if (pressed === "ArrowUp") move(-1);
    else if (pressed === "Enter" && !list.hidden && active >= 0) choose(active);
    else if (pressed === "Escape" && !list.hidden) open(false);
    else if (pressed === "Escape") clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  input.addEventListener("blur", () => {
    stop();
    open(false);
  });
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
  list.addEventListener("click", (event) => {
    const place = [...list.children].indexOf(event.target.closest("li"));
    if (place >= 0) choose(place);
  });

  function clear() {
    stop();
    key = null;
    input.value = "";
    open(false);
    errorsIn(error)(null);
  }

  return {
    node,
    input,
    clear,
    key: () => key ?? input.value, // what was chosen, or only typed: the dict tells whether it is a key
    refuse: (message) => errorsIn(error)(new Error(message)),
  };
}
