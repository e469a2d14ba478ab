// The keys on a map, the query among them: lines from it to the keys, as thick as their weights.

import { byId, drawnTo, element, percent, shortened, svg, written } from "./elements.js";

const EDGE = 26; // pixels around the points
const OUTSIDE = 0.02; // how far the query may lie beyond the keys
const REACH = 28; // pixels from a point at which it is named
const LABELS = 6; // keys that are named without being pointed at
const LONGEST = 22; // characters of a label

const picture = svg("svg", {
  role: "listbox",
  tabindex: -1,
  "aria-label": "Keys on the map. Arrow keys go from key to key.",
});
let listed = []; // the keys that the dict gave for the map: { key, x, y, color }
let points = []; // these, and the nearest keys where the map has only some
let frame = { left: 0, right: 1, bottom: 0, top: 1 }; // the part of the plane that has keys
let answer = null;
let weights = new Map();
let size = { width: 0, height: 0 };
let current = 0; // the point that Tab comes to

export function setUpMap({ points: given, total, why }) {
  points = listed = given;
  const some = given.length < total ? `${given.length} of ${total} keys. ` : "";
  const near = "Keys that mean alike are near each other, as far as two axes can show it.";
  byId("map-say").textContent = given.length === 0 ? `There is none: ${why}.` : some + near;
  byId("map").hidden = byId("named").hidden = given.length === 0;
  if (given.length === 0) return;
  const [across, up] = [given.map(({ x }) => x), given.map(({ y }) => y)];
  frame = {
    left: Math.min(...across), right: Math.max(...across),
    bottom: Math.min(...up), top: Math.max(...up),
  };
  byId("map").append(picture);
  if (answer) showMapOf(answer); // it came first
  drawnTo(byId("map"), (width) => {
    size = { width, height: Math.round(Math.min(Math.max(width * 0.7, 220), 420)) };
    draw();
  });
}

export function showMapOf(given) {
  answer = given;
  weights = new Map(given.keys.map(({ key, weight }) => [key, weight]));
  const known = new Set(listed.map(({ key }) => key));
  const more = given.keys.filter(({ key, at }) => at && !known.has(key));
  points = [...listed, ...more.map(({ key, at: [x, y], color }) => ({ key, x, y, color }))];
  current = Math.max(points.findIndex(({ key }) => key === given.keys[0]?.key), 0);
  name(null);
  if (size.width > 0) draw();
}

// ---- drawing -------------------------------------------------------------------------------

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

function draw() {
  const hadFocus = picture.contains(document.activeElement);
  for (const [attribute, value] of Object.entries(size)) picture.setAttribute(attribute, value);
  const query = answer?.at ? place({ x: answer.at[0], y: answer.at[1] }) : null;
  const heavy = points
    .filter((point) => weightOf(point) >= 0.005)
    .sort((a, b) => weightOf(b) - weightOf(a));
  picture.replaceChildren(
    ...(query ? heavy.map((point) => line(query, point)) : []),
    ...points.map(dot),
    ...(query ? [diamond(query)] : []),
  );
  addLabels(query, heavy.slice(0, LABELS));
  if (hadFocus) dotAt(current).focus();
}

function line(from, point) {
  const to = place(point);
  const width = 0.5 + 5 * weightOf(point);
  const ends = { x1: from.x, y1: from.y, x2: to.x, y2: to.y };
  return svg("line", { ...ends, class: "attention", "stroke-width": width });
}

const radius = (point, least) => least + 7 * Math.sqrt(weightOf(point));

const share = (point) => (weights.has(point.key) ? `weight ${percent(weightOf(point))}` : "");

function dot(point, index) {
  const { x, y } = place(point);
  const circle = svg("circle", {
    cx: x, cy: y, r: radius(point, 3.5), class: point.color ? "key own" : "key", role: "option",
    "aria-label": [point.key, share(point)].filter(Boolean).join(", "), "aria-selected": "false",
    tabindex: index === current ? 0 : -1,
  });
  if (point.color) circle.style.fill = point.color;
  return circle;
}

function diamond({ x, y }) {
  const corners = `${x},${y - 8} ${x + 8},${y} ${x},${y + 8} ${x - 8},${y}`;
  return svg("polygon", { points: corners, class: "query", "aria-hidden": "true" });
}

function addLabels(query, heavy) {
  const around = ({ x, y }, by) => ({ left: x - by, right: x + by, top: y - by, bottom: y + by });
  const taken = heavy.map((point) => around(place(point), radius(point, 3)));
  if (query) {
    taken.push(around(query, 9));
    addLabel(answer.query, query, "label query-label", taken);
  }
  for (const point of heavy) addLabel(point.key, place(point), "label", taken);
}

// Add a label to the right or left of a place, or above or below it, where no other label is.
function addLabel(text, { x, y }, className, taken) {
  const label = svg("text", { class: className, "aria-hidden": "true" }, shortened(text, LONGEST));
  picture.append(label);
  const length = label.getComputedTextLength();
  const tries = [
    [x + 13, y + 4],
    [x - 13 - length, y + 4],
    [x - length / 2, y - 14],
    [x - length / 2, y + 22],
  ];
  const boxes = tries.map(([left, base]) => ({
    left, right: left + length, top: base - 12, bottom: base + 4, base,
  }));
  const box = boxes.find((one) => isInside(one) && !taken.some((other) => overlap(one, other)));
  if (!box) return label.remove();
  taken.push(box);
  label.setAttribute("x", box.left);
  label.setAttribute("y", box.base);
}

const isInside = ({ left, right, top, bottom }) =>
  left >= 0 && right <= size.width && top >= 0 && bottom <= size.height;

const overlap = (a, b) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// ---- naming a key: by pointing, by a tap, by focus -----------------------------------------

const dots = () => [...picture.querySelectorAll("circle")];
const dotAt = (index) => dots()[index];

function name(index) {
  for (const circle of picture.querySelectorAll(".named")) circle.classList.remove("named");
  const point = points[index];
  if (!point) return byId("named").replaceChildren("\u00a0");
  dotAt(index).classList.add("named");
  const quiet = element("span", { className: "quiet" }, ` ${share(point)}`);
  byId("named").replaceChildren(written(point.key), quiet);
}

// The point of the least distance, by a function of its place; null if none is below a limit.
function nearest(away, limit = Infinity) {
  const distances = points.map((point, index) => away(place(point), index));
  const least = Math.min(...distances);
  return least < limit ? distances.indexOf(least) : null;
}

function point(event) {
  const box = picture.getBoundingClientRect();
  const [left, down] = [event.clientX - box.left, event.clientY - box.top];
  name(nearest(({ x, y }) => Math.hypot(x - left, y - down), REACH));
}

// The nearest point in a direction; what lies aside counts as twice as far.
function towards(right, down) {
  const from = place(points[current]);
  return nearest(({ x, y }) => {
    const ahead = (x - from.x) * right + (y - from.y) * down;
    const aside = Math.abs((x - from.x) * down) + Math.abs((y - from.y) * right);
    return ahead > 0 ? ahead + 2 * aside : Infinity;
  });
}

const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

picture.addEventListener("pointermove", point);
picture.addEventListener("pointerdown", point);
picture.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && name(null));
picture.addEventListener("focusout", () => name(null));
picture.addEventListener("focusin", ({ target }) => {
  const index = dots().indexOf(target);
  if (index < 0) return;
  dotAt(current)?.setAttribute("tabindex", -1);
  current = index;
  target.setAttribute("tabindex", 0);
  name(index);
});
picture.addEventListener("keydown", (event) => {
  const direction = DIRECTIONS[event.key];
  if (!direction) return;
  event.preventDefault();
  const next = towards(...direction);
  if (next !== null) dotAt(next).focus();
});
