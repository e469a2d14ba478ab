// The answer to one query: the verdict, the nearest keys with scores and weights, and why.

import { byId, element, percent, score, swatch, written } from "./elements.js";
import { showMapOf } from "./map.js";
import { showPooled } from "./pooled.js";

const SAY = {
  probability:
    "A score is the probability that the key is the right one. " +
    "The weights are the softmax of the logarithms of the scores.",
  any:
    "A score tells how well the key matches, on a scale of the scorer. " +
    "The weights are the softmax of the scores.",
};

export function showAnswer(answer) {
  const [kind, word] = verdict(answer);
  byId("badge").className = `badge ${kind}`;
  byId("badge").textContent = word;
  byId("verdict").textContent = answer.verdict;
  byId("scores-say").textContent = SAY[answer.none === null ? "any" : "probability"];
  showKeys(answer);
  showPooled(answer);
  const why = answer.why.split("\n").filter((line) => line !== "");
  byId("why").replaceChildren(...why.map((line) => written(line, "p")));
  showMapOf(answer);
}

// What is said aloud once the typing rests.
export const spoken = (answer) => `${verdict(answer)[1]}: ${answer.verdict}`;

function verdict({ matches, doubtful, pools, taught }) {
  if (taught) return ["taught", "Taught"];
  if (pools) return [matches && !doubtful ? "match" : "doubtful", "Pooled"];
  if (!matches) return ["none", "No match"];
  return doubtful ? ["doubtful", "Doubtful"] : ["match", "Match"];
}

function showKeys({ keys, others }) {
  // Scores that are no probabilities have a scale of their own, which bars cannot show.
  const shares = keys.every(({ score: own }) => own !== null && own >= 0 && own <= 1);
  byId("keys").replaceChildren(...keys.map((key) => row(key, shares)));
  const rest = Math.max(keys.reduce((share, { weight }) => share - weight, 1), 0);
  const more = `and ${others} other ${others === 1 ? "key" : "keys"} with ${percent(rest)}`;
  byId("others").textContent = others > 0 ? more : "";
}

function row({ key, value, score: own, weight, color }, shares) {
  const shown = element("td", { className: "value" }, written(value, "bdi", { title: value }));
  if (color) shown.prepend(swatch(color), " ");
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, written(key, "bdi", { title: key })),
    shown,
    measure(score(own), shares ? own : null, "score"),
    measure(percent(weight), weight, "weight"),
  );
}

// A number above a bar, if the number is a share.
function measure(text, share, kind) {
  const cell = element("td", { className: `measure ${kind}` }, element("span", {}, text));
  if (share === null) return cell;
  const filled = element("i");
  filled.style.width = `${100 * share}%`;
  cell.append(element("span", { className: "bar", "aria-hidden": "true" }, filled));
  return cell;
}
