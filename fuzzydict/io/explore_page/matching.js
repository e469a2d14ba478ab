// Queries against keys, as matching.py, alignment.py and evidence.py say it.

const REASONS = ["spelling", "meaning", "words"];

// What a likeness says for a key, in log-odds: a line of weights for each reason.
class Calibration {
  constructor([known, unknown], { same, fewest }) {
    Object.assign(this, { known, unknown, same, fewest });
  }

  mixed(share) {
    const evidence = this.known.map((line, reason) =>
      line.map((weight, i) => share * weight + (1 - share) * this.unknown[reason][i]),
    );
    return Object.assign(evidence, { fewest: this.fewest * (1 - share) });
  }

  // Words are null of two single words, which are not compared one by one.
  reasons(evidence, near, spelling, words) {
    const line = (weights, like) =>
      weights[0] + weights[1] * like * like + ofNearness(weights, near);
    const bySpelling = spelling === 1 ? this.same : line(evidence[0], spelling);
    const some = words !== null && words >= evidence.fewest;
    const byWords = some ? line(evidence[2], words) : -Infinity;
    return [bySpelling, line(evidence[1], words ?? spelling), byWords];
  }
}

function ofNearness([, , slope, ofSquare], near) {
  return near * (slope + ofSquare * Math.max(near, 0));
}

// Which share of a line of weights comes from the likeness, the rest from nearness.
function ofSurface(weights, like, near) {
  const byLikeness = weights[1] * like * like;
  const byNearness = ofNearness(weights, Math.max(near, 0));
  return like === 1 || !byNearness ? 1 : byLikeness / (byLikeness + byNearness);
}

// Of a key whose string was not compared, nearness alone speaks.
function byNearness([, meaning], near) {
  return meaning[0] + ofNearness(meaning, near);
}

// The mean of two shares: of the query's words in the key, and of the key's words in the query.
function coverage(alike, queryWeights, key, keyWeights) {
  const share = (weights, best) => {
    const total = weights.reduce((a, b) => a + b, 0);
    return weights.reduce((sum, weight, i) => sum + (weight / total) * best(i), 0);
  };
  const found = share(queryWeights, (i) => Math.max(...key.map((u) => alike[i][u])));
  const covered = share(
    key.map((u) => keyWeights[u]),
    (k) => Math.max(...alike.map((row) => row[key[k]])),
  );
  return (found + covered) / 2;
}

// The keys of the dict, and what each query says of them.
class Matching {
  constructor(data) {
    this.text = new Text(data.text);
    this.spelling = new Spelling(data.spelling);
    this.abbreviations = new Abbreviations(data.abbreviations);
    this.vocabulary = new Vocabulary(data.vocabulary, this.text, this.spelling);
    this.vectors = new Vectors(data, this.vocabulary);
    this.calibration = new Calibration(data.calibration, data.matching);
    Object.assign(this, {
      background: data.background,
      reach: data.reach,
      constants: data.matching,
      names: data.keys,
    });
    this.plain = this.names.map((name) => this.text.plain(name));
    this.ngrams = new NgramIndex(this.plain);
    this.keys = this.names.map((name) =>
      this.vectors.text(name, "key").map((key) => Float32Array.from(key)),
    );
    this.trust = Float32Array.from(this.names, (name) => this.vectors.trustOf(name));
  }

  // For each key the log of its probability, and what it was made of; null where nothing compares.
  judge(query) {
    const text = this.text.plain(query);
    if (!text || !this.names.length) return null;
    const near = this.nearness(query);
    const evidence = this.calibration.mixed(this.vocabulary.knownShare(query));
    const compared = this.compare(text, near, evidence);
    const odds = Float64Array.from(near, (one) => byNearness(evidence, one));
    for (const [slot, { parts }] of compared) odds[slot] = logSum(parts);
    const all = logSum([Math.log(odds.length), logSum(Array.from(odds))]);
    const logs = this.tied(Float32Array.from(odds, (one) => one - all));
    return { logs, near, compared, order: this.order(query, logs) };
  }

  // Keys of equal words differ by a little, for their vectors are rounded.
  tied(logs) {
    const top = logs.reduce((a, b) => Math.max(a, b), -Infinity);
    return logs.map((log) => (log > top - this.constants.tie ? top : log));
  }

  // The probabilities of the reasons for a key, which add up to its own; null if not compared.
  parts(judged, slot) {
    const probability = Math.exp(judged.logs[slot]);
    const told = judged.compared.get(slot);
    if (told === undefined) return { parts: [0, probability, 0], likeness: null, words: null };
    const all = logSum(told.parts);
    const [looked, meant, worded] = told.parts.map((part) => probability * Math.exp(part - all));
    const [spelling, words] = [looked * told.surface[0], worded * told.surface[1]];
    return { ...told, parts: [spelling, meant + (looked - spelling) + (worded - words), words] };
  }

  // In standard deviations of unrelated texts; the nearer, the less a little more counts.
  nearness(query) {
    const asked = this.vectors.text(query, "query");
    const trust = this.vectors.trustOf(query);
    const { mean, spread } = this.background;
    const most = this.reach;
    return Float32Array.from(this.keys, (key, slot) => {
      const cosine = this.vectors.cosine(asked, key);
      const near = ((cosine - mean) * this.trust[slot] * trust) / spread;
      return near > 0 ? most * Math.tanh(near / most) : near;
    });
  }

  compare(text, near, evidence) {
    const { spelledAlike, meantAlike, meantLikeness } = this.constants;
    const spelled = largest(this.ngrams.similarities(text), spelledAlike);
    const slots = Array.from(new Set([...spelled, ...largest(near, meantAlike)]));
    const isSpelled = new Set(spelled);
    const most = (slot) => (isSpelled.has(slot) ? 1 : meantLikeness);
    const words = this.byWords(text, slots).map(
      (one, i) => one === null ? null : Math.min(one, most(slots[i])),
    );
    return new Map(
      slots.map((slot, i) => {
        const likeness = Math.min(this.looksAlike(text, this.plain[slot]), most(slot));
        const parts = this.calibration.reasons(evidence, near[slot], likeness, words[i]);
        const surface = [
          ofSurface(evidence[0], likeness, near[slot]),
          ofSurface(evidence[2], words[i] ?? 0, near[slot]),
        ];
        return [slot, { parts, surface, likeness, words: words[i] }];
      }),
    );
  }

  // A word never seen may be cut short; a known one means itself.
  looksAlike(word, other) {
    const alike = this.spelling.likeness(word, other);
    if (this.vocabulary.knows(word)) return alike;
    return Math.max(alike, this.abbreviations.likeness(word, other));
  }

  // How far the words of a query and of each key have their like; null of two single words.
  byWords(text, slots) {
    const first = (string) => string.split(" ").slice(0, this.constants.words);
    const words = first(text);
    const split = slots.map((slot) => first(this.plain[slot]));
    const several = (key) => words.length > 1 || key.length > 1;
    const others = Array.from(new Set(split.filter(several).flat()));
    const place = new Map(others.map((word, i) => [word, i]));
    const alike = words.map((word) => others.map((other) => this.wordsAlike(word, other)));
    const weight = (word) => this.vocabulary.weight(word);
    const [asked, known] = [words.map(weight), others.map(weight)];
    const places = (key) => key.map((word) => place.get(word));
    return split.map((key, i) => {
      if (!several(key)) return null;
      const ofNumbers = this.spelling.ofNumbers(text, this.plain[slots[i]]);
      return coverage(alike, asked, places(key), known) * ofNumbers;
    });
  }

  // In spelling or in meaning, a "noisy or" of the two.
  wordsAlike(word, other) {
    const { doubted, far, sharpness } = this.constants;
    const { mean, spread } = this.background;
    const [asked, key] = [this.vectors.word(word, "query"), this.vectors.word(other, "key")];
    const cosine = this.vectors.cosine(asked, key);
    const trust = this.vectors.trust(word) * this.vectors.trust(other);
    const meaning = Math.min(Math.max((((cosine - mean) / spread) * trust) / far, 0), 1);
    const alike = this.looksAlike(word, other);
    const slip = Math.max(alike - doubted, 0) / (1 - doubted);
    const spelling = this.vocabulary.knows(word) ? alike ** sharpness : slip;
    return 1 - (1 - spelling) * (1 - meaning);
  }

  // The slots, best first; of those that tie for the first place the one written like the query.
  order(query, logs) {
    const slots = Array.from(logs.keys());
    const top = logs.reduce((a, b) => Math.max(a, b), -Infinity);
    const tied = slots.filter((slot) => logs[slot] === top);
    const unlike = new Float64Array(logs.length);
    if (tied.length > 1 && tied.length <= this.constants.mostTied) {
      for (const slot of tied) unlike[slot] = this.writtenUnlike(query, this.names[slot]);
    }
    return slots.sort((a, b) => logs[b] - logs[a] || unlike[a] - unlike[b] || a - b);
  }

  writtenUnlike(query, name) {
    if (query === name) return -1;
    const [a, b] = [query, name].map((one) => this.text.beginning(one).trim());
    const caseless = this.spelling.likeness(this.text.caseless(a), this.text.caseless(b));
    return 1 - (0.75 * caseless + 0.25 * this.spelling.likeness(a, b));
  }
}

// The share of each key in the attention, and the mean of the values weighted by it.
function attend(judged, temperature) {
  return softmax(judged.logs, temperature);
}

function pool(weights, { numbers, size }) {
  const summed = new Float64Array(size);
  weights.forEach((weight, slot) => {
    for (let i = 0; i < size; i++) summed[i] += weight * numbers[slot * size + i];
  });
  return summed;
}
