// From text to words, as text.py says it; what Unicode says is written into the page by Python.

const HUMP = /(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])/g;
const APOSTROPHES = new Set("'\u2018\u2019\u02bc\uff07");

const isAscii = (text) => /^[\x00-\x7f]*$/.test(text);
const isLetterOrDigit = (character) => /^[\p{L}\p{N}]$/u.test(character);

class Text {
  constructor({ longest, adorning, folded }) {
    this.longest = longest;
    this.adorning = new RegExp(
      `^(?:\\p{Cf}|[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}${adorning}])$`,
      "u",
    );
    this.folded = new Map(Object.entries(folded));
  }

  // The part that is compared, counted in characters, not in the halves of surrogate pairs.
  beginning(text) {
    return text.length <= this.longest ? text : Array.from(text).slice(0, this.longest).join("");
  }

  words(text) {
    let split = isAscii(text) ? text : text.normalize("NFKC");
    split = split.replace(HUMP, " ");
    const plain = isAscii(split)
      ? split.toLowerCase().replace(/[^a-z0-9']+/g, " ")
      : this.fold(split);
    return plain
      .split(" ")
      .map((part) => part.replace(/^'+|'+$/g, ""))
      .filter(Boolean);
  }

  plain(text) {
    return this.words(this.beginning(text)).join(" ");
  }

  fold(text) {
    const parts = Array.from(this.caseless(text.normalize("NFKD")), (c) => this.plainCharacter(c));
    const kept = parts
      .join("")
      .split(" ")
      .filter((part) => Array.from(part).some(isLetterOrDigit));
    return kept.join(" ").normalize("NFC");
  }

  // Character by character: a "Σ" at the end of a word must become "σ", as everywhere.
  caseless(text) {
    return Array.from(text, (c) => this.folded.get(c) ?? c.toLowerCase()).join("");
  }

  plainCharacter(character) {
    if (APOSTROPHES.has(character)) return "'";
    if (isLetterOrDigit(character)) return character;
    if (this.adorning.test(character)) return "";
    return /^\p{M}$/u.test(character) ? character : " ";
  }
}
