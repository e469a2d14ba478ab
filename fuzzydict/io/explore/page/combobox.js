// A field to choose a key: type, and the keys that are meant are listed.
// The pattern is that of the ARIA Authoring Practices, "editable combobox with list autocomplete".

import { errorsIn, get, later, latest } from "./asking.js";
import { element, newId, written } from "./elements.js";

const WAIT = 60; // milliseconds after a keystroke

// Escape closes the list, then empties the field; after that it is left to what is around.
// label: its accessible name; first(): keys to list while nothing is typed; chosen(key): what to do.
export function keyChooser({ label, first = () => [], chosen = () => {} }) {
  const { node, input, place, errors } = field(label);
  const list = new KeyList(input, place);
  let key = null; // what was chosen; typing forgets it

  const find = latest(async (signal) => {
    const like = input.value;
    const given = like.trim() === "" ? first() : [];
    const found = given.length > 0 ? given : (await get("keys", { like }, signal)).keys;
    return () => list.show(found);
  }, errors);
  const soon = later(WAIT, find);

  function stop() {
    soon.stop();
    find.stop();
    list.open(false);
  }

  function choose(name) {
    stop();
    key = input.value = name;
    chosen(key);
  }

  function clear() {
    stop();
    key = null;
    input.value = "";
    errors(null);
  }

  input.addEventListener("input", () => {
    key = null;
    soon();
  });
  input.addEventListener("click", () => list.isOpen || find());
  input.addEventListener("blur", stop);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) list.isOpen ? list.move(step) : find();
    else if (event.key === "Enter" && list.marked !== undefined) choose(list.marked);
    else if (event.key === "Escape" && list.isOpen) list.open(false);
    else if (event.key === "Escape" && input.value !== "") clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  place.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
  place.addEventListener("click", ({ target }) => {
    const name = list.keyOf(target.closest("li"));
    if (name !== undefined) choose(name);
  });

  // key(): what was chosen, or only typed; the dict tells whether it is a key.
  return { node, input, clear, key: () => key ?? input.value };
}

// The elements: an input, the place of its list, and that of its errors.
function field(label) {
  const error = element("span", { className: "error", role: "alert", id: newId() });
  const place = element("ul", { id: newId(), role: "listbox", className: "options", hidden: true });
  place.setAttribute("aria-label", "Keys");
  const input = element("input", { type: "text", role: "combobox", autocomplete: "off", dir: "auto" });
  const told = {
    "aria-label": label,
    "aria-autocomplete": "list",
    "aria-controls": place.id,
    "aria-describedby": error.id,
    "aria-expanded": "false",
    autocapitalize: "off",
    maxlength: "500",
    placeholder: "the right key",
    spellcheck: "false",
  };
  for (const [name, value] of Object.entries(told)) input.setAttribute(name, value);
  const node = element("span", { className: "chooser" }, input, place, error);
  return { node, input, place, errors: errorsIn(error) };
}

// The keys that are listed below a field; the arrow keys mark one of them.
class KeyList {
  constructor(input, place) {
    Object.assign(this, { input, place, keys: [], active: -1 });
  }

  get isOpen() {
    return !this.place.hidden;
  }

  get marked() {
    return this.isOpen ? this.keys[this.active] : undefined;
  }

  keyOf(option) {
    return this.keys[[...this.place.children].indexOf(option)];
  }

  show(keys) {
    this.keys = keys;
    this.place.replaceChildren(...keys.map((name) => written(name, "li", { role: "option", id: newId() })));
    this.open(keys.length > 0 && document.activeElement === this.input);
    this.mark(keys.indexOf(this.input.value));
  }

  open(isOpen) {
    this.place.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) this.mark(-1);
  }

  move(step) {
    const from = Math.max(this.active, step > 0 ? -1 : 0);
    this.mark((from + step + this.keys.length) % this.keys.length);
  }

  mark(at) {
    this.place.children[this.active]?.removeAttribute("aria-selected");
    this.active = at;
    const option = this.place.children[at];
    if (!option) return this.input.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", option.id);
  }
}
