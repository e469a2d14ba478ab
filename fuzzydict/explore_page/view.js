// What is typed, and what is shown of the answers.

const SHOWN = 12; // keys in the list
const NUMBERS = 12; // of a pooled value
const SCALE = [0.05, 20]; // temperatures of the slider, unless the dict has one beyond

const element = (id) => document.getElementById(id);
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const number = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(5))));
const several = (count, one, more = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;

// Every text goes into the page as text, never as HTML.
function made(tag, className, ...parts) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...parts);
  return node;
}

class View {
  constructor(data) {
    this.data = data;
    this.matching = new Matching(data);
    this.exact = new Map([...data.exact, ...data.keys.map((key, slot) => [key, data.values[slot]])]);
    this.chosen = 0;
    this.temperature = data.temperature;
    this.query = element("query");
    this.slider = element("temperature");
    const [least, most] = SCALE;
    this.slider.min = Math.log(Math.min(least, data.temperature));
    this.slider.max = Math.log(Math.max(most, data.temperature));
    this.slider.value = Math.log(data.temperature);
    this.describe();
    this.listen();
    try {
      this.query.value = decodeURIComponent(location.hash.slice(1));
    } catch {
      this.query.value = ""; // what follows the # was not written by this page
    }
    this.query.focus();
    this.ask();
  }

  listen() {
    this.query.addEventListener("input", () => this.ask());
    this.query.addEventListener("keydown", (event) => this.onKey(event));
    this.slider.addEventListener("input", () => this.heat(Math.exp(Number(this.slider.value))));
    element("reset").addEventListener("click", () => {
      this.slider.value = Math.log(this.data.temperature);
      this.heat(this.data.temperature);
    });
    element("keys").addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) this.choose(Number(row.dataset.place));
      this.query.focus();
    });
  }

  onKey(event) {
    const last = Math.min(this.order.length, SHOWN) - 1;
    const moves = { ArrowDown: this.chosen + 1, ArrowUp: this.chosen - 1, PageDown: last, PageUp: 0 };
    if (event.key in moves) this.choose(Math.min(Math.max(moves[event.key], 0), last));
    else if (event.key === "Enter" && this.order.length) this.replace(this.matching.names[this.order[this.chosen]]);
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
    history.replaceState(null, "", `#${encodeURIComponent(query.toWellFormed?.() ?? query)}`);
    this.answer(query);
    this.tellWords(query);
    this.attention();
  }

  heat(temperature) {
    this.temperature = temperature;
    this.attention();
  }

  // ---- what is found ----------------------------------------------------------------------

  answer(query) {
    const line = element("answer");
    if (!query) line.replaceChildren("Type a query: the nearest keys are shown at once.");
    else if (this.exact.has(query)) line.replaceChildren(...this.finds(query, this.exact.get(query), "an equal key"));
    else if (!this.judged) line.replaceChildren("No key matches: there are no letters or digits to compare.");
    else this.answerBest(line);
  }

  answerBest(line) {
    const slot = this.order[0];
    const probability = Math.exp(this.judged.logs[slot]);
    const [key, value] = [this.matching.names[slot], this.data.values[slot]];
    if (probability >= this.data.cutoff) {
      line.replaceChildren(...this.finds(key, value, `with a probability of ${percent(probability)}`));
      return;
    }
    const why = `with ${percent(probability)}, below the cutoff of ${percent(this.data.cutoff)}.`;
    line.replaceChildren("No key matches: the nearest is ", made("b", "", key), ` ${why}`);
  }

  finds(key, value, how) {
    return ["Finds ", made("b", "", key), ", ", how, ": ", made("b", "", value)];
  }

  tellWords(query) {
    const words = this.matching.vocabulary.tokens(query).slice(0, NUMBERS);
    element("words").replaceChildren(...words.map((word) => this.toldWord(word)));
  }

  toldWord(word) {
    const { vocabulary, vectors } = this.matching;
    if (vocabulary.rows.has(word)) return made("li", "", made("b", "", word), " known");
    const left = vocabulary.omitted.has(word);
    const told = left ? " known to the dict, but left out of this page: taken for a word never seen" : " never seen";
    if (vectors.strangers.has(word)) return made("li", "", made("b", "", word), " never seen, a word of a key");
    const { rows, weights, trust } = vocabulary.standIns(word);
    const names = rows.map((row, i) => `${vocabulary.words[row]} ${weights[i].toFixed(2)}`);
    const lent = trust ? `; for it ${names.filter((_, i) => weights[i] >= 0.005).join(", ")} (trust ${trust.toFixed(2)})` : "";
    return made("li", "", made("b", "", word), told + lent);
  }

  // ---- attention --------------------------------------------------------------------------

  attention() {
    this.weights = this.judged ? attend(this.judged, this.temperature) : null;
    element("shown").value = this.temperature.toPrecision(3);
    this.slider.setAttribute("aria-valuetext", this.temperature.toPrecision(3));
    element("pooled").replaceChildren(...this.pooledValue());
    const slots = this.order.slice(0, SHOWN);
    element("keys").replaceChildren(...slots.map((slot, place) => this.row(slot, place)));
    element("rest").textContent = this.rest(this.order.slice(SHOWN));
    this.choose(this.chosen);
  }

  pooledValue() {
    const { pooling } = this.data;
    if (pooling.why_not) return [made("span", "quiet", `Nothing to pool: ${pooling.why_not}.`)];
    if (!this.weights) return [];
    const numbers = Array.from(pool(this.weights, pooling), number);
    const shown = numbers.slice(0, NUMBERS).join(", ") + (numbers.length > NUMBERS ? ", …" : "");
    const shape = pooling.shape.length > 1 ? made("span", "quiet", ` (${pooling.shape.join(" × ")} numbers)`) : "";
    return ["Pooled value ", made("b", "", pooling.shape.length ? `(${shown})` : shown), shape];
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
    const probability = parts.reduce((a, b) => a + b, 0);
    row.append(this.measure(probability, REASONS.map((reason, i) => [reason, parts[i]])));
    row.append(this.measure(this.weights[slot], [["weight", this.weights[slot]]]));
    const told = `probability ${percent(probability)}, weight ${percent(this.weights[slot])}`;
    row.setAttribute("aria-label", `${name}: ${value}; ${told}`);
    return row;
  }

  measure(share, parts) {
    const bar = made("span", "bar");
    for (const [className, part] of parts) bar.append(made("i", className));
    parts.forEach(([, part], i) => (bar.children[i].style.width = `${100 * part}%`));
    return made("span", "measure", made("span", "", percent(share)), bar);
  }

  rest(slots) {
    if (!this.judged) return slots.length ? `and ${several(slots.length, "more key")}` : "";
    const sum = (shares) => percent(shares.reduce((a, b) => a + b, 0));
    const probabilities = Array.from(this.judged.logs, Math.exp);
    const none = `None of the keys: probability ${percent(Math.max(0, 1 - probabilities.reduce((a, b) => a + b, 0)))}.`;
    if (!slots.length) return none;
    const shares = [probabilities, this.weights].map((all) => sum(slots.map((slot) => all[slot])));
    return `${several(slots.length, "more key")}: probability ${shares[0]}, weight ${shares[1]}. ${none}`;
  }

  // ---- the chosen key ---------------------------------------------------------------------

  choose(place) {
    this.chosen = place;
    for (const row of element("keys").children) {
      const chosen = Number(row.dataset.place) === place;
      row.setAttribute("aria-selected", String(chosen));
      if (chosen) row.scrollIntoView({ block: "nearest" });
    }
    if (this.order.length) this.query.setAttribute("aria-activedescendant", `key${place}`);
    element("why").replaceChildren(...(this.judged ? this.why(this.order[place]) : []));
  }

  why(slot) {
    const { parts, likeness, words } = this.matching.parts(this.judged, slot);
    const near = `nearness ${number(Math.round(10 * this.judged.near[slot]) / 10 || 0)} standard deviations`;
    const compared = (name, one) => `${name} ${one === null ? "not compared" : one.toFixed(2)}`;
    const told = [
      ["spelling", "the query is the key misspelled", compared("likeness", likeness)],
      ["meaning", "it means the same", near],
      ["words", "most of its words are the same", compared("coverage", words)],
    ];
    const lines = told.map(([reason, what, from], i) =>
      made("li", "", made("i", reason), `${what}: ${percent(parts[i])} `, made("span", "quiet", `(${from})`)),
    );
    return ["Why ", made("b", "", this.matching.names[slot]), " may be right", made("ul", "", ...lines)];
  }

  // ---- what the page is -------------------------------------------------------------------

  describe() {
    const { keys, exact, others, vocabulary, strangers } = this.data;
    const inside = several(vocabulary.words.length, "word");
    element("about").textContent = `${several(keys.length + exact.length, "key")}; the vectors of ${inside}. All is computed in this page.`;
    const notes = ["The weights are the softmax of the logarithms of the probabilities, divided by the temperature."];
    const left = vocabulary.omitted.length;
    if (left) notes.push(`${several(left, "rarer word")} that the dict knows ${left === 1 ? "is" : "are"} left out, and taken for words never seen, which are compared by their spelling.`);
    if (exact.length) notes.push(`${several(exact.length, "key")} without letters or digits can only be found exactly.`);
    if (others) notes.push(`${several(others, "key")} that ${others === 1 ? "is" : "are"} no text cannot be typed, and ${others === 1 ? "is" : "are"} left out.`);
    element("notes").replaceChildren(...notes.map((note) => made("p", "", note)));
  }
}

const view = new View(JSON.parse(element("data").textContent));
