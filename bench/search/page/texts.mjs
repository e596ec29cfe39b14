import { randomNumbers } from '../../page/documents.mjs';

/** Different words, as many as a hundred thousand encyclopedia leads of 60 words have. */
const VOCABULARY = 23_000;
const WORDS = 60;

const CONSONANTS = 'b c d f g h k l m n p r s t v w st tr ch gr'.split(' ');
const VOWELS = 'a e i o u ea ou'.split(' ');

/** @typedef {{ n: number, text: string }} Article */

/** Distinct words of two to four syllables. @param {() => number} random */
function makeWords(random) {
  const pick = (/** @type {string[]} */ list) => list[Math.floor(random() * list.length)] ?? '';
  /** @type {Set<string>} */
  const words = new Set();
  while (words.size < VOCABULARY) {
    const syllables = 2 + Math.floor(random() * 3);
    words.add(Array.from({ length: syllables }, () => pick(CONSONANTS) + pick(VOWELS)).join(''));
  }
  return [...words];
}

/** Draws words as often as language has them: the second half as often as the first (Zipf). */
class Vocabulary {
  #random;
  #words;
  #sums;

  /** @param {number} seed */
  constructor(seed) {
    this.#random = randomNumbers(seed);
    this.#words = makeWords(randomNumbers(1));
    let sum = 0;
    this.#sums = Float64Array.from(this.#words, (_, rank) => {
      sum += 1 / (rank + 3);
      return sum;
    });
  }

  draw() {
    const target = this.#random() * /** @type {number} */ (this.#sums.at(-1));
    let [from, to] = [0, this.#sums.length - 1];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (/** @type {number} */ (this.#sums[middle]) < target) from = middle + 1;
      else to = middle;
    }
    return /** @type {string} */ (this.#words[from]);
  }
}

/** Texts of 60 words, deterministic for a seed. @param {number} count @param {number} seed */
export function makeArticles(count, seed) {
  const vocabulary = new Vocabulary(seed);
  /** @type {Article[]} */
  const articles = [];
  for (let n = 0; n < count; n++) {
    const words = Array.from({ length: WORDS }, () => vocabulary.draw());
    articles.push({ n, text: words.join(' ') });
  }
  // Flattens joined strings, which would cost the first contender that reads them.
  return /** @type {Article[]} */ (JSON.parse(JSON.stringify(articles)));
}

/**
 * Two different words of one text, the second one cut for those who type still.
 *
 * @param {readonly Article[]} articles
 * @param {number} count
 * @param {number} seed
 * @returns {{ words: string, typed: string }[]}
 */
export function makeQueries(articles, count, seed) {
  const random = randomNumbers(seed + 1);
  const upTo = (/** @type {number} */ limit) => Math.floor(random() * limit);
  const queries = [];
  while (queries.length < count) {
    const words = articles[upTo(articles.length)]?.text.split(' ') ?? [];
    const [first = '', second = ''] = [words[upTo(WORDS)], words[upTo(WORDS)]];
    if (first === second) continue;
    const typed = second.slice(0, Math.max(3, second.length - 2));
    queries.push({ words: `${first} ${second}`, typed: `${first} ${typed}` });
  }
  return queries;
}
