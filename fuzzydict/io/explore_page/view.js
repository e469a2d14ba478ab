// What is typed and chosen, and where the answers are shown.

const SHOWN = 12; // keys in the list
const SCALE = [0.05, 20]; // temperatures of the slider, unless the dict has one beyond

const element = (id) => document.getElementById(id);

class View {
  constructor(data) {
    this.data = data;
    this.matching = new Matching(data);
    this.exact = new Map([
      ...data.exact,
      ...data.keys.map((key, slot) => [key, data.values[slot]]),
    ]);
    this.chosen = 0;
    this.temperature = data.temperature;
    this.query = element("query");
    this.slider = element("temperature");
    const [least, most] = SCALE;
    this.slider.min = Math.log(Math.min(least, data.temperature));
    this.slider.max = Math.log(Math.max(most, data.temperature));
    this.slider.value = Math.log(data.temperature);
    element("about").textContent = aboutTold(data);
    element("notes").replaceChildren(...notesTold(data));
    this.listen();
    this.recall();
    this.query.focus();
  }

  listen() {
    this.query.addEventListener("input", () => this.ask());
    this.query.addEventListener("keydown", (event) => this.onKey(event));
    this.slider.addEventListener("input", () => this.heat(Math.exp(Number(this.slider.value))));
    element("reset").addEventListener("click", () => {
      this.slider.value = Math.log(this.data.temperature);
      this.heat(this.data.temperature);
    });
    window.addEventListener("hashchange", () => this.recall());
    element("keys").addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) this.choose(Number(row.dataset.place));
      this.query.focus();
    });
  }

  onKey(event) {
    const last = Math.min(this.order.length, SHOWN) - 1;
    const moves = {
      ArrowDown: this.chosen + 1,
      ArrowUp: this.chosen - 1,
      PageDown: last,
      PageUp: 0,
    };
    if (event.key in moves && last >= 0)
      this.choose(Math.min(Math.max(moves[event.key], 0), last), { seen: true });
    else if (event.key === "Enter" && this.order.length)
      this.replace(this.matching.names[this.order[this.chosen]]);
    else if (event.key === "Escape") this.replace("");
    else return;
    event.preventDefault();
  }

  replace(query) {
    this.query.value = query;
    this.ask();
  }

  ask() {
    const query = this.query.value;
    this.judged = this.matching.judge(query);
    this.order = this.judged ? this.judged.order : Array.from(this.data.keys.keys());
    const equal = this.data.keys.indexOf(query); // it wins, even of keys that tie with it
    if (equal >= 0) this.order = [equal, ...this.order.filter((slot) => slot !== equal)];
    this.chosen = 0;
    this.remember(query);
    element("answer").replaceChildren(...answerTold(this, query));
    const words = this.matching.vocabulary.tokens(query).slice(0, NUMBERS);
    element("words").replaceChildren(...words.map((word) => wordTold(this.matching, word)));
    this.attention();
  }

  // The query is a part of the page's address, which can be kept and given to others.
  remember(query) {
    const whole = query.replace(/\p{Cs}/gu, "\ufffd"); // half a character has no address
    try {
      history.replaceState(null, "", `#${encodeURIComponent(whole)}`);
    } catch {
      // A frame that is walled off has no address to change.
    }
  }

  recall() {
    try {
      this.replace(decodeURIComponent(location.hash.slice(1)));
    } catch {
      this.replace(""); // what follows the # was not written by this page
    }
  }

  heat(temperature) {
    this.temperature = temperature;
    this.attention();
  }

  attention() {
    this.weights = this.judged ? attend(this.judged, this.temperature) : null;
    element("shown").value = this.temperature.toPrecision(3);
    this.slider.setAttribute("aria-valuetext", this.temperature.toPrecision(3));
    element("pooled").replaceChildren(...poolTold(this.data.pooling, this.weights));
    const slots = this.order.slice(0, SHOWN);
    element("keys").replaceChildren(...slots.map((slot, place) => this.row(slot, place)));
    element("rest").textContent = restTold(this, SHOWN);
    this.choose(this.chosen);
  }

  row(slot, place) {
    const [name, value] = [this.matching.names[slot], this.data.values[slot]];
    const row = made("li", "row", made("span", "name", name), made("span", "value", value));
    row.id = `key${place}`;
    row.dataset.place = place;
    row.title = value;
    row.setAttribute("role", "option");
    if (!this.judged) return row;
    const { parts } = this.matching.parts(this.judged, slot);
    const [probability, weight] = [sum(parts), this.weights[slot]];
    row.append(this.measure(probability, REASONS, parts));
    row.append(this.measure(weight, ["weight"], [weight]));
    const told = `probability ${percent(probability)}, weight ${percent(weight)}`;
    row.setAttribute("aria-label", `${name}: ${value}; ${told}`);
    return row;
  }

  // A share as a number, and its parts as bars side by side.
  measure(share, names, parts) {
    const bars = names.map((name, i) => {
      const bar = made("i", name);
      bar.style.width = `${100 * parts[i]}%`;
      return bar;
    });
    return made("span", "measure", made("span", "", percent(share)), made("span", "bar", ...bars));
  }

  // It is scrolled to if it was chosen by hand, not while one types.
  choose(place, { seen = false } = {}) {
    this.chosen = place;
    for (const row of element("keys").children) {
      const chosen = Number(row.dataset.place) === place;
      row.setAttribute("aria-selected", String(chosen));
      if (chosen && seen) row.scrollIntoView({ block: "nearest" });
    }
    if (this.order.length) this.query.setAttribute("aria-activedescendant", `key${place}`);
    element("why").replaceChildren(...(this.judged ? reasonsTold(this, this.order[place]) : []));
  }
}

const view = new View(JSON.parse(element("data").textContent));
