// How alike two strings look, as spelling.py says it: edits, beginnings, sound; n-grams for many.

const MULTIPLIERS = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d];
const HEARD = [
  ["ph", "f"],
  ["ck", "k"],
  ["qu", "kw"],
  ["ce", "se"],
  ["ci", "si"],
  ["gh", "g"],
];
const LETTERS = "zcqyieou";
const LETTERS_HEARD = "skkaaaaa";

const codes = (string) => Array.from(string, (character) => character.codePointAt(0));

// One less the edits by the longer length, where two neighbours swapped are one edit.
function editSimilarity(a, b) {
  const longest = Math.max(a.length, b.length);
  if (!longest) return 1;
  let before = null;
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const differ = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + differ);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        row[j] = Math.min(row[j], before[j - 2] + 1);
      }
    }
    before = above;
    above = row;
  }
  return 1 - above[b.length] / longest;
}

// Letters in common that are not far apart, less those out of order.
function jaro(a, b) {
  if (!a.length && !b.length) return 1;
  if (!a.length || !b.length) return 0;
  const reach = Math.max(Math.floor(Math.max(a.length, b.length) / 2) - 1, 0);
  const taken = new Uint8Array(a.length);
  const fromB = [];
  for (let j = 0; j < b.length; j++) {
    for (let i = Math.max(0, j - reach); i < Math.min(a.length, j + reach + 1); i++) {
      if (!taken[i] && a[i] === b[j]) {
        taken[i] = 1;
        fromB.push(b[j]);
        break;
      }
    }
  }
  if (!fromB.length) return 0;
  const fromA = a.filter((_, i) => taken[i]);
  const swapped = Math.floor(fromA.filter((code, i) => code !== fromB[i]).length / 2);
  const same = fromB.length;
  return (same / a.length + same / b.length + (same - swapped) / same) / 3;
}

function jaroWinkler(a, b) {
  const similarity = jaro(a, b);
  if (similarity <= 0.7) return similarity;
  let prefix = 0;
  while (prefix < Math.min(4, a.length, b.length) && a[prefix] === b[prefix]) prefix++;
  return similarity + prefix * 0.1 * (1 - similarity);
}

function sound(string) {
  for (const [spelled, heard] of HEARD) string = string.replaceAll(spelled, heard);
  string = string.replace(/[zcqyieou]/g, (letter) => LETTERS_HEARD[LETTERS.indexOf(letter)]);
  return string.replace(/(.)\1+/gu, "$1");
}

// What of a string is compared, made once.
function spelled(string) {
  return {
    letters: codes(string),
    heard: codes(sound(string)),
    joined: string.replaceAll(" ", ""),
    numbers: string.match(/\p{Nd}+/gu),
  };
}

class Spelling {
  constructor(constants) {
    Object.assign(this, constants);
    this.parts = new Map();
  }

  // The likeness of two strings, from 0 to 1; in 32 bits, so that what ties in Python ties here.
  likeness(a, b) {
    const [p, q] = [this.of(a), this.of(b)];
    let alike = Math.fround(editSimilarity(p.letters, q.letters));
    alike = Math.fround(alike + Math.fround(jaroWinkler(p.letters, q.letters)) / 2);
    alike = Math.fround(alike + Math.fround(editSimilarity(p.heard, q.heard)) / 2);
    alike = p.joined === q.joined ? 1 : Math.fround(alike / 2);
    return Math.fround(alike * this.ofNumbers(a, b));
  }

  // What is left of a likeness for the numbers: less, if both have some, and not the same.
  ofNumbers(a, b) {
    const [p, q] = [this.of(a).numbers, this.of(b).numbers];
    if (!p || !q || p.join() === q.join()) return 1;
    return this.areParts(a, p, q) || this.areParts(b, q, p) ? 1 : this.otherNumber;
  }

  // Whether the numbers of a text are parts of the one other number, and no fraction.
  areParts(text, numbers, others) {
    const lengths = numbers.map((number) => Array.from(number).length);
    const isFraction = lengths.length === 2 && Math.min(...lengths) === 1;
    const isOne = others.length === 1 && others[0] === numbers.join("");
    const isLong = lengths.reduce((a, b) => a + b) >= this.long;
    return isOne && isLong && !isFraction && text.includes(numbers.join(" "));
  }

  of(string) {
    if (!this.parts.has(string)) {
      if (this.parts.size > 50000) this.parts.clear(); // typing meets any number of strings
      this.parts.set(string, spelled(string));
    }
    return this.parts.get(string);
  }
}

// The numbers, below 65536, of the different n-grams of a string between two blanks, in order.
function ngramBuckets(string) {
  const padded = codes(` ${string} `);
  const found = new Set();
  for (const size of [2, 3]) {
    for (let start = 0; start + size <= padded.length; start++) {
      let mixed = 0;
      for (let i = 0; i < size; i++) mixed += Math.imul(padded[start + i], MULTIPLIERS[i]);
      found.add((mixed >>> 0) >>> 16);
    }
  }
  return Array.from(found).sort((a, b) => a - b);
}

// A sum of pseudo-random signs for each n-gram: alike for words spelled alike.
function ngramVector(word, size) {
  const [ofNgram, ofAxis, ofBoth] = MULTIPLIERS;
  const summed = new Float64Array(size);
  ngramBuckets(word).forEach((ngram, place) => {
    for (let axis = 0; axis < size; axis++) {
      let mixed = Math.imul(Math.imul(ngram, ofNgram) ^ Math.imul(axis, ofAxis), ofBoth);
      mixed ^= mixed >>> 15;
      const sign = (Math.imul(mixed, ofNgram) >>> 31) * 2 - 1;
      summed[axis] += place ? sign : sign * 1.5; // the first sign breaks ties
    }
  });
  return summed;
}

class NgramIndex {
  constructor(strings) {
    this.owners = new Map();
    this.norms = new Float32Array(strings.length);
    strings.forEach((string, i) => {
      const buckets = ngramBuckets(string);
      this.norms[i] = Math.sqrt(Math.max(buckets.length, 1));
      for (const bucket of buckets) {
        if (!this.owners.has(bucket)) this.owners.set(bucket, []);
        this.owners.get(bucket).push(i);
      }
    });
  }

  // The cosine of the n-grams of a query with those of each string.
  similarities(query) {
    const buckets = ngramBuckets(query);
    const shared = new Float32Array(this.norms.length);
    for (const bucket of buckets) for (const i of this.owners.get(bucket) ?? []) shared[i]++;
    const length = Math.fround(Math.sqrt(buckets.length));
    return shared.map((count, i) => count / Math.fround(this.norms[i] * length));
  }
}

// The places of the `count` largest values, in order of place; of equals the first.
function largest(values, count) {
  const places = Array.from(values.keys());
  if (places.length <= count) return places;
  const best = places.sort((a, b) => values[b] - values[a] || a - b).slice(0, count);
  return best.sort((a, b) => a - b);
}
