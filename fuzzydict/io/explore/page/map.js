// The keys on a map, the query among them: lines from it to the keys, as thick as their weights.

import { byId, element, percent, quiet, shortened, written } from "./base.js";

const EDGE = 26; // pixels around the points
const REACH = 28; // pixels from a point at which it is named
const LABELS = 6; // keys that are named without being pointed at
const LONGEST = 22; // characters of a label

const picture = element("svg", {
  role: "listbox", tabindex: -1,
  "aria-label": "Keys on the map. Arrow keys go from key to key.",
});
let listed = []; // the keys that the dict gave for the map: { key, at, color }
let points = []; // these, and the nearest keys where the map has only some
let answer = { keys: [], at: null };
let weights = new Map();
let [width, height] = [0, 0];
let current = 0; // the point that Tab comes to

export function setUpMap({ points: given, total, why }) {
  points = listed = given;
  const near = "Keys that mean alike are near each other, as far as two axes can show it.";
  const some = given.length < total ? `${given.length} of ${total} keys. ${near}` : near;
  byId("map-say").textContent = given.length === 0 ? `There is none: ${why}.` : some;
  byId("map").hidden = byId("named").hidden = given.length === 0;
  if (given.length === 0) return;
  byId("map").append(picture);
  showMapOf(answer); // which may have come first
  new ResizeObserver(([{ contentRect }]) => {
    width = Math.round(contentRect.width);
    height = Math.round(Math.min(Math.max(width * 0.7, 220), 420));
    draw();
  }).observe(byId("map"));
}

export function showMapOf(given) {
  answer = given;
  weights = new Map(given.keys.map(({ key, weight }) => [key, weight]));
  const known = new Set(listed.map(({ key }) => key));
  points = [...listed, ...given.keys.filter(({ key, at }) => at && !known.has(key))];
  current = Math.max(points.findIndex(({ key }) => key === given.keys[0]?.key), 0);
  name(null);
  draw();
}

// ---- drawing -------------------------------------------------------------------------------

// Where a place in the square from 0 to 1 is in the picture.
const place = ([right, up]) => ({
  x: EDGE + right * (width - 2 * EDGE),
  y: EDGE + (1 - up) * (height - 2 * EDGE),
});
const weightOf = ({ key }) => weights.get(key) ?? 0;
const radius = (point) => 3.5 + 7 * Math.sqrt(weightOf(point));
const share = ({ key }) => (weights.has(key) ? `weight ${percent(weights.get(key))}` : "");

function draw() {
  if (width === 0) return;
  const hadFocus = picture.contains(document.activeElement);
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  const heavy = points
    .filter((point) => weightOf(point) >= 0.005)
    .sort((a, b) => weightOf(b) - weightOf(a));
  picture.replaceChildren(...points.map(dot));
  if (answer.at) {
    const { x, y } = place(answer.at);
    picture.prepend(...heavy.map((point) => line({ x, y }, point)));
    const corners = `${x},${y - 8} ${x + 8},${y} ${x},${y + 8} ${x - 8},${y}`;
    picture.append(element("polygon", { points: corners, class: "query", "aria-hidden": "true" }));
  }
  addLabels(heavy.slice(0, LABELS));
  if (hadFocus) dots()[current].focus();
}

function line(from, point) {
  const { x, y } = place(point.at);
  const width = 0.5 + 5 * weightOf(point);
  const ends = { x1: from.x, y1: from.y, x2: x, y2: y };
  return element("line", { ...ends, class: "attention", "stroke-width": width });
}

function dot(point, index) {
  const { x, y } = place(point.at);
  return element("circle", {
    cx: x, cy: y, r: radius(point), class: point.color ? "key own" : "key", role: "option",
    "aria-label": [point.key, share(point)].filter(Boolean).join(", "), "aria-selected": "false",
    tabindex: index === current ? 0 : -1, style: point.color ? { fill: point.color } : {},
  });
}

// Label the query and some keys: right or left of a place, above or below it, where nothing is.
function addLabels(heavy) {
  const named = heavy.map((point) => [point.key, place(point.at), radius(point), "label"]);
  if (answer.at) named.unshift([answer.query, place(answer.at), 9, "label query-label"]);
  const taken = named.map(([, { x, y }, by]) => ({
    left: x - by, right: x + by, top: y - by, bottom: y + by,
  }));
  const isFree = (box) =>
    box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= height &&
    !taken.some((a) =>
      a.left < box.right && box.left < a.right && a.top < box.bottom && box.top < a.bottom);

  for (const [text, { x, y }, , kind] of named) {
    const label = element("text", { class: kind, "aria-hidden": "true" }, shortened(text, LONGEST));
    picture.append(label);
    const length = label.getComputedTextLength();
    const middle = x - length / 2;
    const tries = [[x + 13, y + 4], [x - 13 - length, y + 4], [middle, y - 14], [middle, y + 22]];
    const box = tries
      .map(([left, y]) => ({ left, y, right: left + length, top: y - 12, bottom: y + 4 }))
      .find(isFree);
    if (!box) {
      label.remove();
      continue;
    }
    taken.push(box);
    label.setAttribute("x", box.left);
    label.setAttribute("y", box.y);
  }
}

// ---- naming a key: by pointing, by a tap, by focus -----------------------------------------

const dots = () => [...picture.querySelectorAll("circle")];

function name(index) {
  picture.querySelector(".named")?.classList.remove("named");
  const point = points[index];
  dots()[index]?.classList.add("named");
  const named = point ? [written(point.key), quiet(` ${share(point)}`)] : ["\u00a0"];
  byId("named").replaceChildren(...named);
}

// The point of the least distance, by a function of its place; null if none is below a limit.
function nearest(away, limit = Infinity) {
  const distances = points.map(({ at }) => away(place(at)));
  const least = Math.min(...distances);
  return least < limit ? distances.indexOf(least) : null;
}

function point({ clientX, clientY }) {
  const box = picture.getBoundingClientRect();
  name(nearest(({ x, y }) => Math.hypot(x + box.left - clientX, y + box.top - clientY), REACH));
}

const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

// Focus the nearest point in a direction; what lies aside counts as twice as far.
function move(event) {
  if (!DIRECTIONS[event.key]) return;
  event.preventDefault();
  const [right, down] = DIRECTIONS[event.key];
  const from = place(points[current].at);
  const next = nearest(({ x, y }) => {
    const ahead = (x - from.x) * right + (y - from.y) * down;
    const aside = Math.abs((x - from.x) * down) + Math.abs((y - from.y) * right);
    return ahead > 0 ? ahead + 2 * aside : Infinity;
  });
  dots()[next]?.focus();
}

function focus({ target }) {
  const index = dots().indexOf(target);
  if (index < 0) return;
  dots()[current].setAttribute("tabindex", -1);
  current = index;
  target.setAttribute("tabindex", 0);
  name(index);
}

Object.entries({
  pointermove: point, pointerdown: point, focusin: focus, focusout: () => name(null), keydown: move,
  pointerleave: (event) => event.pointerType === "mouse" && name(null),
}).forEach(([kind, listener]) => picture.addEventListener(kind, listener));
