// Words -> vectors, as vocabulary.py, embeddings.py, projections.py and subwords.py say it.

function bytes(base64) {
  const text = atob(base64);
  const found = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) found[i] = text.charCodeAt(i);
  return found.buffer;
}

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

function crc32(octets, start, end) {
  let crc = 0xffffffff;
  for (let i = start; i < end; i++) crc = CRC[(crc ^ octets[i]) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

// Rows of numbers of 32 bits, or of a byte times the scale of the row.
class Matrix {
  constructor({ shape, codes, scales, floats }) {
    [this.count, this.size] = shape;
    this.codes =
      codes === undefined ? new Float32Array(bytes(floats)) : new Int8Array(bytes(codes));
    this.scales = scales === undefined ? null : new Float32Array(bytes(scales));
  }

  // Add a row, times a factor, to a vector.
  add(into, row, factor) {
    const times = this.scales ? factor * this.scales[row] : factor;
    const start = row * this.size;
    for (let e = 0; e < this.size; e++) into[e] += times * this.codes[start + e];
    return into;
  }

  // x M, for x of as many numbers as there are rows.
  project(x) {
    const y = new Float64Array(this.size);
    for (let row = 0; row < this.count; row++) this.add(y, row, x[row]);
    return y;
  }

  // M x, for x of as many numbers as there are columns.
  of(x) {
    const row = (i) => this.add(new Float64Array(this.size), i, 1);
    return Float64Array.from({ length: this.count }, (_, i) => dot(row(i), x));
  }
}

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

function unit(vector) {
  const length = Math.sqrt(dot(vector, vector));
  return length > 0 ? vector.map((number) => number / length) : vector.slice();
}

// The words whose vectors are in the page, and what stands in for all others.
class Vocabulary {
  constructor({ words, counts, total, least, omitted, learned, constants }, text, spelling) {
    Object.assign(this, { words, counts, total, least, constants, text, spelling });
    this.omitted = new Set(omitted);
    this.learned = new Set(learned);
    this.rows = new Map(words.map((word, row) => [word, row]));
    const asItIs = (word) => isAscii(word) && /[a-z]/.test(word) && !/[A-Z]/.test(word);
    this.spelled = words.map((word) => (asItIs(word) ? word : text.words(word).join(" ")));
    words.forEach((word, row) => {
      const plain = isAscii(word) ? word.toLowerCase() : this.spelled[row];
      if (!this.rows.has(plain)) this.rows.set(plain, row);
    });
    this.ngrams = new NgramIndex(this.spelled);
    this.found = new Map();
  }

  tokens(asked) {
    const text = this.text.beginning(asked);
    const whole = [text, text.toLowerCase()].find((form) => this.rows.has(form));
    if (whole !== undefined) return [whole];
    const words = this.text.words(text);
    const joined = words.join("_");
    return words.length > 1 && this.rows.has(joined) ? [joined] : words;
  }

  knownShare(text) {
    const tokens = this.tokens(text);
    return tokens.filter((token) => this.knows(token)).length / Math.max(tokens.length, 1);
  }

  knows(token) {
    return this.rows.has(token) || this.learned.has(token);
  }

  // How far the vector of a word that was seen, or learned, can be believed; null of all others.
  trust(token) {
    if (this.learned.has(token)) return 1;
    if (!this.rows.has(token)) return null;
    if (/^\p{Nd}+$/u.test(token)) return 0;
    const { smoothing, saysMuch } = this.constants;
    const most = smoothing / (smoothing + this.least / this.total);
    return Math.min(this.weight(token) / (saysMuch * most), 1);
  }

  weight(word) {
    const row = this.rows.get(word);
    const count = row === undefined ? this.least : this.counts[row];
    return this.constants.smoothing / (this.constants.smoothing + count / this.total);
  }

  // The rows that stand in for a word never seen, their weights, and how far they are trusted.
  standIns(word) {
    if (!this.found.has(word)) {
      if (this.found.size > 4096) this.found.clear();
      this.found.set(word, this.attend(word));
    }
    return this.found.get(word);
  }

  attend(word) {
    const { candidates, shared, kept, temperature, prior, doubted, trusted } = this.constants;
    const cosines = this.ngrams.similarities(word);
    const near = largest(cosines, candidates).filter((row) => cosines[row] >= shared);
    if (!near.length || /\p{Nd}/u.test(word))
      return { rows: [], weights: [], likeness: 0, trust: 0 };
    const alike = new Map(
      near.map((row) => [row, this.spelling.likeness(word, this.spelled[row])]),
    );
    const score = (row) => alike.get(row) + prior * Math.log10(Math.max(this.counts[row], 1));
    const rows = near.sort((a, b) => score(b) - score(a) || a - b).slice(0, kept);
    const likeness = alike.get(rows[0]);
    const trust = Math.min(Math.max((likeness - doubted) / (trusted - doubted), 0), 1);
    return { rows, weights: softmax(rows.map(score), temperature), likeness, trust };
  }
}

function softmax(scores, temperature) {
  const top = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = Array.from(scores, (score) => Math.exp((score - top) / temperature));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / total);
}

function logSum(logs) {
  const top = logs.reduce((a, b) => Math.max(a, b), -Infinity);
  return top === -Infinity
    ? top
    : top + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - top), 0));
}

// Subwords: [x; x A + C f(text)], x of length one.
class Subwords {
  constructor({ matrix, table, weights, most }, text) {
    Object.assign(this, { text, most, matrix: new Matrix(matrix), table: new Matrix(table) });
    this.weights = new Map(Object.entries(weights));
    this.made = new Map();
  }

  project(vector, text) {
    const x = unit(vector);
    const beside = this.matrix.project(x);
    const words = this.text.words(this.text.beginning(text)).slice(0, this.most);
    const weights = words.map((word) => this.weights.get(word) ?? 1);
    const total = weights.reduce((a, b) => a + b, 0);
    words.forEach((word, i) => {
      this.word(word).forEach((number, e) => (beside[e] += (weights[i] / total) * number));
    });
    return Float64Array.from([...x, ...beside]);
  }

  word(word) {
    if (!this.made.has(word)) {
      if (this.made.size > 50000) this.made.clear();
      const rows = this.ngrams(word);
      const summed = new Float64Array(this.table.size);
      for (const row of rows) this.table.add(summed, row, 1 / Math.sqrt(rows.size));
      this.made.set(word, summed);
    }
    return this.made.get(word);
  }

  ngrams(word) {
    const marked = new TextEncoder().encode(`<${word}>`);
    const row = (start, end) => crc32(marked, start, end) % this.table.count;
    const rows = new Set([row(0, marked.length)]);
    for (const size of [3, 4, 5]) {
      for (let start = 0; start + size <= marked.length; start++)
        rows.add(row(start, start + size));
    }
    return rows;
  }
}

// I + left right'
class Factors {
  constructor({ left, right }) {
    [this.left, this.right] = [new Matrix(left), new Matrix(right)];
  }

  project(vector) {
    const added = this.right.of(this.left.project(vector));
    return Float64Array.from(vector, (number, e) => number + added[e]);
  }
}

// One map for each head of a query; of heads that come first each maps its own.
class Heads {
  constructor({ maps }, text) {
    this.maps = maps.map((map) => new STEPS[map.kind](map, text));
  }

  project(vectors) {
    return this.maps.map((map, head) => map.project(vectors[vectors.length > 1 ? head : 0]));
  }
}

const STEPS = { subwords: Subwords, factors: Factors, matrix: Matrix, heads: Heads };

class Vectors {
  constructor({ vectors, strangers, rare, steps, projections, temperatureOfHeads }, vocabulary) {
    Object.assign(this, { vocabulary, projections, temperature: temperatureOfHeads });
    this.matrix = new Matrix(vectors);
    const first = vocabulary.words.length; // the rows of words never seen come last
    this.strangers = new Map(
      strangers.map(([word, trust], i) => [word, { trust, row: first + i }]),
    );
    this.mean = new Float32Array(bytes(rare.mean));
    this.spread = rare.spread;
    this.steps = steps.map((step) => new STEPS[step.kind](step, vocabulary.text));
    this.made = { query: new Map(), key: new Map() };
  }

  trust(token) {
    const believed = this.vocabulary.trust(token) ?? this.strangers.get(token)?.trust;
    return believed ?? this.vocabulary.standIns(token).trust;
  }

  trustOf(text) {
    const tokens = this.vocabulary.tokens(text);
    const weights = tokens.map((token) => this.vocabulary.weight(token));
    const total = weights.reduce((a, b) => a + b, 0);
    return tokens.reduce((sum, token, i) => sum + (weights[i] / total) * this.trust(token), 0);
  }

  // The vector of a text before projections: the weighted mean of those of its words.
  encode(text) {
    const tokens = this.vocabulary.tokens(text);
    const weights = tokens.map((token) => this.vocabulary.weight(token));
    const total = weights.reduce((a, b) => a + b, 0);
    const summed = new Float64Array(this.matrix.size);
    tokens.forEach((token, i) => this.add(summed, token, weights[i] / total));
    return summed;
  }

  add(into, token, factor) {
    const row = this.vocabulary.rows.get(token) ?? this.strangers.get(token)?.row;
    if (row !== undefined) return this.matrix.add(into, row, factor);
    const { rows, weights, trust } = this.vocabulary.standIns(token);
    const own = unit(ngramVector(token, this.matrix.size));
    const share = factor * (1 - trust);
    own.forEach((number, e) => (into[e] += share * (this.mean[e] + number * this.spread)));
    if (trust)
      rows.forEach((known, i) => this.matrix.add(into, known, factor * trust * weights[i]));
    return into;
  }

  // One vector, or one for each head of a query.
  project(vector, text, role) {
    const go = (heads, step) =>
      step instanceof Heads
        ? step.project(heads)
        : heads.map((head) => step.project(head, text));
    return this.projections[role].map((step) => this.steps[step]).reduce(go, [vector]);
  }

  // The vectors of length one of a text, as a "query" or as a "key".
  text(text, role) {
    return this.project(this.encode(text), text, role).map(unit);
  }

  // The cosine of a query and a key; of several heads the soft maximum of theirs.
  cosine(asked, [key]) {
    if (asked.length === 1) return dot(asked[0], key);
    const cold = asked.map((head) => dot(head, key) / this.temperature);
    return this.temperature * (logSum(cold) - Math.log(asked.length));
  }

  // Those of a single word, which are asked for again and again.
  word(token, role) {
    const made = this.made[role];
    if (!made.has(token)) {
      if (made.size > 20000) made.clear();
      const raw = this.add(new Float64Array(this.matrix.size), token, 1);
      made.set(token, this.project(raw, token, role).map(unit));
    }
    return made.get(token);
  }
}
