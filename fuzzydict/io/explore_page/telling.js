// What the page says, and how: numbers, words of a query, reasons, and what is left out.

const NUMBERS = 12; // of a pooled value, and words of a query
const LEAST = 0.005; // weight of a stand-in that is told

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const number = (value) =>
  Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(5)));
const several = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
const are = (count) => (count === 1 ? "is" : "are");
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

// Every text goes into the page as text, never as HTML.
function made(tag, className, ...parts) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...parts);
  return node;
}

const bold = (text) => made("b", "", text);
const quiet = (text) => made("span", "quiet", text);

function answerTold({ data, exact, matching, judged, order }, query) {
  const finds = (key, value, how) => ["Finds ", bold(key), `, ${how}: `, bold(value)];
  if (!query) return ["Type a query: the nearest keys are shown at once."];
  if (exact.has(query)) return finds(query, exact.get(query), "an equal key");
  if (!matching.names.length) return ["No key matches: none has letters or digits to compare."];
  if (!judged) return ["No key matches: the query has no letters or digits to compare."];
  const probability = Math.exp(judged.logs[order[0]]);
  const key = matching.names[order[0]];
  const likely = `with a probability of ${percent(probability)}`;
  if (probability >= data.cutoff) return finds(key, data.values[order[0]], likely);
  const below = `below the cutoff of ${percent(data.cutoff)}.`;
  return ["No key matches: the nearest is ", bold(key), ` ${likely}, ${below}`];
}

function wordTold({ vocabulary, vectors }, word) {
  const item = (told) => made("li", "", bold(word), ` ${told}`);
  if (vocabulary.rows.has(word)) return item("known");
  if (vectors.strangers.has(word)) return item("never seen, a word of a key");
  const { rows, weights, trust } = vocabulary.standIns(word);
  const told = rows.map((row, i) => `${vocabulary.words[row]} ${weights[i].toFixed(2)}`);
  const lent = told.filter((_, i) => weights[i] >= LEAST).join(", ");
  const instead = trust ? `; for it ${lent} (trust ${trust.toFixed(2)})` : "";
  if (!vocabulary.omitted.has(word)) return item(`never seen${instead}`);
  return item(`left out of this page, and taken for a word never seen${instead}`);
}

function poolTold(pooling, weights) {
  if (pooling.why_not) return [quiet(`Nothing to pool: ${pooling.why_not}.`)];
  if (!weights) return [];
  const pooled = pool(weights, pooling);
  const shown = Array.from(pooled.slice(0, NUMBERS), number).join(", ");
  if (!pooling.shape.length) return ["Pooled value ", bold(shown)];
  const more = pooled.length > NUMBERS ? ", …" : "";
  const shape = pooling.shape.length > 1 ? quiet(` (${pooling.shape.join(" × ")} numbers)`) : "";
  return ["Pooled value ", bold(`(${shown}${more})`), shape];
}

function restTold({ judged, order, weights }, shown) {
  const slots = order.slice(shown);
  if (!judged) return slots.length ? `and ${several(slots.length, "more key")}` : "";
  const probabilities = Array.from(judged.logs, Math.exp);
  const none = `None of the keys: probability ${percent(Math.max(0, 1 - sum(probabilities)))}.`;
  if (!slots.length) return none;
  const share = (all) => percent(sum(slots.map((slot) => all[slot])));
  const both = `probability ${share(probabilities)}, weight ${share(weights)}`;
  return `${several(slots.length, "more key")}: ${both}. ${none}`;
}

function reasonsTold({ matching, judged }, slot) {
  const { parts, likeness, words } = matching.parts(judged, slot);
  const near = Math.round(10 * judged.near[slot]) / 10 || 0; // never "-0"
  const compared = (one) => (one === null ? "not compared" : one.toFixed(2));
  const told = [
    ["the query is the key misspelled or cut short", `likeness ${compared(likeness)}`],
    ["it means the same", `nearness ${near} standard deviations`],
    ["most of its words are the same", `coverage ${compared(words)}`],
  ];
  const lines = told.map(([what, from], i) => {
    const share = `${what}: ${percent(parts[i])} `;
    return made("li", "", made("i", REASONS[i]), share, quiet(`(${from})`));
  });
  return ["Why ", bold(matching.names[slot]), " may be right", made("ul", "", ...lines)];
}

function aboutTold({ keys, exact, vocabulary }) {
  const [all, words] = [keys.length + exact.length, vocabulary.words.length];
  const inside = `${several(all, "key")}; the vectors of ${several(words, "word")}`;
  return `${inside}. All is computed in this page.`;
}

function notesTold({ exact, others, vocabulary, credits }) {
  const left = vocabulary.omitted.length;
  const notes = [
    "The weights are the softmax of the logarithms of the probabilities, over the temperature.",
    left &&
      `${several(left, "rarer word")} that the dict knows ${are(left)} left out, and taken for ` +
        "words never seen, which are compared by their spelling.",
    exact.length &&
      `${several(exact.length, "key")} without letters or digits can only be found exactly.`,
    others && `${several(others, "key")} that ${are(others)} no text ${are(others)} left out.`,
    ...credits,
  ];
  return notes.filter(Boolean).map((note) => made("p", "", note));
}
