// Words cut short, as abbreviations.py says it: beginnings, words drawn together, initials.

class Abbreviations {
  constructor(constants) {
    Object.assign(this, constants);
  }

  // How alike a word and another, or a phrase, are if it abbreviates them; else 0.
  likeness(word, other) {
    if (/\p{Nd}/u.test(word)) return 0;
    const [short, long] = [word, other].map((text) => Array.from(text));
    if (short[0] !== long[0] || short.length >= long.length || word.includes(" ")) return 0;
    if (other.includes(" ")) {
      const initials = other.split(" ").map((part) => Array.from(part)[0]);
      return word === initials.join("") ? this.initials : 0;
    }
    if (short.length < this.least) return 0;
    const ofLength = (this.ofLength * short.length) / long.length;
    const bare = long[0] + long.slice(1).join("").replace(/[aeiou]/g, "");
    if (other.startsWith(word) || bare.startsWith(word)) return Math.fround(this.begun + ofLength);
    const isDrawn = short.at(-1) === long.at(-1) && isWithin(short, long);
    return isDrawn ? Math.fround(this.drawn + ofLength) : 0;
  }
}

// Whether letters stand among others in their order.
function isWithin(letters, others) {
  let place = 0;
  for (const other of others) if (other === letters[place]) place++;
  return place === letters.length;
}
