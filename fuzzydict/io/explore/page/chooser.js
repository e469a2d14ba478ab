// A field to choose a key: type, and the keys that are meant are listed.
// The pattern is that of the ARIA Authoring Practices, "editable combobox with list autocomplete".

import { ask, element, errorsIn, newId, task, written } from "./base.js";

// label: the accessible name; first(): keys to list while nothing is typed; chosen(key): what to do
// with what is chosen. Returns the element, the field in it, key() and clear().
export function keyChooser({ label, first = () => [], chosen = () => {} }) {
  let keys = []; // that are listed
  let marked = -1; // the place of the one that the arrow keys lead to
  let taken = null; // the key that was chosen; typing forgets it

  const error = element("span", { class: "error", role: "alert", id: newId() });
  const list = element("ul", {
    id: newId(), role: "listbox", class: "options", hidden: true, "aria-label": "Keys",
    onpointerdown: (event) => event.preventDefault(), // the field keeps the focus
    onclick: ({ target }) => choose([...list.children].indexOf(target.closest("li"))),
  });
  const input = element("input", {
    type: "text", role: "combobox", dir: "auto", placeholder: "the right key", maxlength: 500,
    autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-label": label,
    "aria-autocomplete": "list", "aria-controls": list.id, "aria-describedby": error.id,
    "aria-expanded": "false",
    oninput: () => {
      taken = null;
      mark(-1);
      find();
    },
    onclick: () => list.hidden && find(),
    onblur: stop,
    onkeydown: press,
  });

  const find = task(async (signal) => {
    const like = input.value;
    const given = like.trim() === "" ? first() : [];
    const found = given.length > 0 ? given : (await ask("keys", { like }, { signal })).keys;
    return () => {
      const markedKey = keys[marked] ?? like; // one that was marked while the answer was on its way
      keys = found;
      const options = keys.map((key) => written(key, "li", { role: "option", id: newId() }));
      list.replaceChildren(...options);
      open(keys.length > 0 && document.activeElement === input);
      mark(keys.indexOf(markedKey));
    };
  }, errorsIn(error));

  // Escape closes the list, then empties the field; after that it is left to what is around.
  function press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && list.hidden) find();
    else if (step) mark((Math.max(marked, step > 0 ? -1 : 0) + step + keys.length) % keys.length);
    else if (event.key === "Enter" && marked >= 0) choose(marked);
    else if (event.key === "Escape" && !list.hidden) stop();
    else if (event.key === "Escape" && input.value !== "") clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function choose(place) {
    if (place < 0) return;
    stop();
    taken = input.value = keys[place];
    chosen(taken);
  }

  function stop() {
    find.stop();
    open(false);
  }

  function clear() {
    stop();
    taken = null;
    input.value = error.textContent = "";
  }

  function open(isOpen) {
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) mark(-1);
  }

  function mark(place) {
    list.children[marked]?.removeAttribute("aria-selected");
    const option = list.children[place];
    marked = option ? place : -1;
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", option?.id ?? "");
  }

  const node = element("span", { class: "chooser" }, input, list, error);
  // What was chosen, or only typed; the dict tells whether it is a key.
  return { node, input, clear, key: () => taken ?? input.value };
}
