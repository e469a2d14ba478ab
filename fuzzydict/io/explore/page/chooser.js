// A field to choose a key: type, and the keys that are meant are listed.
// The pattern is that of the ARIA Authoring Practices, "editable combobox with list autocomplete".

import { errorsIn, get, later, latest } from "./asking.js";
import { element, newId, written } from "./elements.js";

const WAIT = 60; // milliseconds after a keystroke

export class KeyChooser {
  #keys = []; // that are listed
  #marked = -1; // the place of the one that the arrow keys lead to
  #chosen = null; // typing forgets it
  #first;
  #whenChosen;
  #errors;
  #find;
  #soon;

  // label: the accessible name; first(): keys to list while nothing is typed; chosen(key): what
  // to do with what is chosen.
  constructor({ label, first = () => [], chosen = () => {} }) {
    const error = element("span", { className: "error", role: "alert", id: newId() });
    this.list = element("ul", {
      id: newId(), role: "listbox", className: "options", hidden: true, "aria-label": "Keys",
      onpointerdown: (event) => event.preventDefault(), // the field keeps the focus
      onclick: ({ target }) => this.#choose([...this.list.children].indexOf(target.closest("li"))),
    });
    this.input = element("input", {
      type: "text", role: "combobox", dir: "auto", placeholder: "the right key", maxLength: 500,
      autocomplete: "off", autocapitalize: "off", spellcheck: false, "aria-label": label,
      "aria-autocomplete": "list", "aria-controls": this.list.id, "aria-describedby": error.id,
      "aria-expanded": "false",
      oninput: () => {
        this.#chosen = null;
        this.#soon();
      },
      onclick: () => {
        if (this.list.hidden) this.#find();
      },
      onblur: () => this.#stop(),
      onkeydown: (event) => this.#press(event),
    });
    this.node = element("span", { className: "chooser" }, this.input, this.list, error);
    [this.#first, this.#whenChosen, this.#errors] = [first, chosen, errorsIn(error)];
    this.#find = latest(async (signal) => {
      const like = this.input.value;
      const given = like.trim() === "" ? this.#first() : [];
      const keys = given.length > 0 ? given : (await get("keys", { like }, signal)).keys;
      return () => this.#show(keys);
    }, this.#errors);
    this.#soon = later(WAIT, this.#find);
  }

  // What was chosen, or only typed; the dict tells whether it is a key.
  get key() {
    return this.#chosen ?? this.input.value;
  }

  clear() {
    this.#stop();
    this.#chosen = null;
    this.input.value = "";
    this.#errors(null);
  }

  // Escape closes the list, then empties the field; after that it is left to what is around.
  #press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isOpen = !this.list.hidden;
    if (step) isOpen ? this.#move(step) : this.#find();
    else if (event.key === "Enter" && isOpen && this.#marked >= 0) this.#choose(this.#marked);
    else if (event.key === "Escape" && isOpen) this.#open(false);
    else if (event.key === "Escape" && this.input.value !== "") this.clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #choose(place) {
    if (place < 0) return;
    this.#stop();
    this.#chosen = this.input.value = this.#keys[place];
    this.#whenChosen(this.#chosen);
  }

  #stop() {
    this.#soon.stop();
    this.#find.stop();
    this.#open(false);
  }

  #show(keys) {
    const option = (name) => written(name, "li", { role: "option", id: newId() });
    this.#keys = keys;
    this.list.replaceChildren(...keys.map(option));
    this.#open(keys.length > 0 && document.activeElement === this.input);
    this.#mark(keys.indexOf(this.input.value));
  }

  #open(isOpen) {
    this.list.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) this.#mark(-1);
  }

  #move(step) {
    const from = Math.max(this.#marked, step > 0 ? -1 : 0);
    this.#mark((from + step + this.#keys.length) % this.#keys.length);
  }

  #mark(place) {
    this.list.children[this.#marked]?.removeAttribute("aria-selected");
    this.#marked = place;
    const option = this.list.children[place];
    if (!option) return this.input.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", option.id);
  }
}
