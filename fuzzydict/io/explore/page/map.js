// The keys on a map, the query among them: lines from it to the keys, as thick as their weights.

import { byId, drawnTo, element, percent, shortened, svg, written } from "./elements.js";

const EDGE = 26; // pixels around the points
const OUTSIDE = 0.02; // how far the query may lie beyond the keys
const REACH = 28; // pixels from a point at which it is named
const LABELS = 6; // keys that are named without being pointed at
const LONGEST = 22; // characters of a label

const picture = svg("svg", { role: "listbox", tabindex: -1 });
picture.setAttribute("aria-label", "Keys on the map. Arrow keys go from key to key.");
let listed = []; // the keys that the dict gave for the map: { key, x, y, color }
let points = []; // these, and the nearest keys where the map has only some
let frame = { left: 0, right: 1, top: 1, bottom: 0 }; // the part of the plane that has keys
let answer = null;
let weights = new Map();
let size = { width: 0, height: 0 };
let current = 0; // the point that Tab comes to
let again = () => {};

export function setUpMap({ points: given, total, why }) {
  points = listed = given;
  const some = given.length < total ? `${given.length} of ${total} keys. ` : "";
  const say = `${some}Keys that mean alike are near each other, as far as two axes can show it.`;
  byId("map-say").textContent = given.length === 0 ? `There is none: ${why}.` : say;
  byId("map").hidden = byId("named").hidden = given.length === 0;
  if (given.length === 0) return;
  const [across, up] = [given.map(({ x }) => x), given.map(({ y }) => y)];
  frame = { left: Math.min(...across), right: Math.max(...across), bottom: Math.min(...up), top: Math.max(...up) };
  byId("map").append(picture);
  again = drawnTo(byId("map"), draw);
  if (answer) showMapOf(answer); // it came first
  else again();
}

export function showMapOf(given) {
  answer = given;
  weights = new Map(given.keys.map(({ key, weight }) => [key, weight]));
  const known = new Set(listed.map(({ key }) => key));
  const more = given.keys.filter(({ key, at }) => at && !known.has(key));
  points = [...listed, ...more.map(({ key, at: [x, y], color }) => ({ key, x, y, color }))];
  const best = points.findIndex(({ key }) => key === given.keys[0]?.key);
  current = Math.max(best, 0);
  name(null);
  again();
}

// Where a place of the plane is in the picture; what lies outside the frame is at its edge.
function place({ x, y }) {
  const right = between(x, frame.left, frame.right);
  const down = 1 - between(y, frame.bottom, frame.top);
  return { x: EDGE + right * (size.width - 2 * EDGE), y: EDGE + down * (size.height - 2 * EDGE) };
}

function between(value, least, most) {
  if (most === least) return 0.5;
  return Math.min(Math.max((value - least) / (most - least), -OUTSIDE), 1 + OUTSIDE);
}

const weightOf = (point) => weights.get(point.key) ?? 0;

function draw(width) {
  const focused = picture.contains(document.activeElement);
  size = { width, height: Math.round(Math.min(Math.max(width * 0.7, 220), 420)) };
  for (const [attribute, value] of Object.entries(size)) picture.setAttribute(attribute, value);
  const heavy = points.filter((point) => weightOf(point) >= 0.005).sort((a, b) => weightOf(b) - weightOf(a));
  picture.replaceChildren(
    ...(answer?.at ? heavy.map(line) : []),
    ...points.map(dot),
    ...(answer?.at ? [diamond()] : []),
  );
  addLabels(heavy.slice(0, LABELS));
  if (focused) dotAt(current).focus();
}

const queryPlace = () => place({ x: answer.at[0], y: answer.at[1] });

function line(point) {
  const [from, to] = [queryPlace(), place(point)];
  const ends = { x1: from.x, y1: from.y, x2: to.x, y2: to.y };
  return svg("line", { ...ends, class: "attention", "stroke-width": 0.5 + 5 * weightOf(point) });
}

function dot(point, index) {
  const { x, y } = place(point);
  const weight = weightOf(point);
  const circle = svg("circle", { cx: x, cy: y, r: 3.5 + 7 * Math.sqrt(weight), role: "option" });
  circle.setAttribute("aria-label", weights.has(point.key) ? `${point.key}, weight ${percent(weight)}` : point.key);
  circle.setAttribute("aria-selected", "false");
  circle.setAttribute("tabindex", index === current ? 0 : -1);
  circle.setAttribute("class", point.color ? "key own" : "key");
  if (point.color) circle.style.fill = point.color;
  return circle;
}

function diamond() {
  const { x, y } = queryPlace();
  const corners = `${x},${y - 8} ${x + 8},${y} ${x},${y + 8} ${x - 8},${y}`;
  return svg("polygon", { points: corners, class: "query", "aria-hidden": "true" });
}

// ---- labels ------------------------------------------------------------------------------

function addLabels(heavy) {
  const taken = answer?.at ? [around(queryPlace(), 9)] : [];
  for (const point of heavy) taken.push(around(place(point), 3 + 7 * Math.sqrt(weightOf(point))));
  if (answer?.at) add(answer.query, queryPlace(), "label query-label", taken);
  for (const point of heavy) add(point.key, place(point), "label", taken);
}

const around = ({ x, y }, by) => ({ left: x - by, right: x + by, top: y - by, bottom: y + by });

// Add a label to the right or left of a place, or above or below it, where no other label is.
function add(text, { x, y }, className, taken) {
  const label = svg("text", { class: className, "aria-hidden": "true" }, shortened(text, LONGEST));
  picture.append(label);
  const length = label.getComputedTextLength();
  const tries = [
    [x + 13, y + 4],
    [x - 13 - length, y + 4],
    [x - length / 2, y - 14],
    [x - length / 2, y + 22],
  ];
  for (const [left, base] of tries) {
    const box = { left, right: left + length, top: base - 12, bottom: base + 4 };
    const inside = box.left >= 0 && box.right <= size.width && box.top >= 0 && box.bottom <= size.height;
    if (!inside || taken.some((other) => overlap(box, other))) continue;
    taken.push(box);
    label.setAttribute("x", left);
    label.setAttribute("y", base);
    return;
  }
  label.remove();
}

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// ---- naming a key: by pointing, by a tap, by focus ----------------------------------------

const dotAt = (index) => picture.querySelectorAll("circle")[index];

function name(index) {
  for (const circle of picture.querySelectorAll(".named")) circle.classList.remove("named");
  const point = points[index];
  if (!point) return byId("named").replaceChildren("\u00a0");
  dotAt(index).classList.add("named");
  const share = weights.has(point.key) ? ` weight ${percent(weightOf(point))}` : "";
  byId("named").replaceChildren(written(point.key), element("span", { className: "quiet" }, share));
}

function nearest(event) {
  const box = picture.getBoundingClientRect();
  const from = { x: event.clientX - box.left, y: event.clientY - box.top };
  let [best, least] = [null, REACH];
  points.forEach((point, index) => {
    const { x, y } = place(point);
    const away = Math.hypot(x - from.x, y - from.y);
    if (away < least) [best, least] = [index, away];
  });
  return best;
}

picture.addEventListener("pointermove", (event) => name(nearest(event)));
picture.addEventListener("pointerdown", (event) => name(nearest(event)));
picture.addEventListener("pointerleave", (event) => {
  if (event.pointerType === "mouse") name(null);
});
picture.addEventListener("focusin", ({ target }) => {
  const index = [...picture.querySelectorAll("circle")].indexOf(target);
  if (index < 0) return;
  go(index);
});
picture.addEventListener("focusout", () => name(null));

const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

picture.addEventListener("keydown", (event) => {
  const direction = DIRECTIONS[event.key];
  if (!direction) return;
  event.preventDefault();
  const next = towards(...direction);
  if (next !== null) dotAt(next).focus();
});

function go(index) {
  dotAt(current)?.setAttribute("tabindex", -1);
  current = index;
  dotAt(index).setAttribute("tabindex", 0);
  name(index);
}

// The nearest point in a direction; what lies aside counts as twice as far.
function towards(right, down) {
  const from = place(points[current]);
  let [best, least] = [null, Infinity];
  points.forEach((point, index) => {
    const { x, y } = place(point);
    const ahead = (x - from.x) * right + (y - from.y) * down;
    const aside = Math.abs((x - from.x) * down) + Math.abs((y - from.y) * right);
    const away = ahead + 2 * aside;
    if (index !== current && ahead > 0 && away < least) [best, least] = [index, away];
  });
  return best;
}
