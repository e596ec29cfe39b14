import { seekBehind } from './near-words.ts';
import { readToken, type TextKey } from './text-key.ts';

/** Documents that are looked at before a builder yields. */
const SLICE = 1024;

/**
 * Which documents have a word, by word: typed arrays, not an object for an entry. Rows are numbered
 * from 0 up. Immutable, but for the rows that have gone.
 */
export class Postings {
  /** Ascending by code unit. */
  readonly words: readonly string[];
  /** Where the entries of a word begin; one more at the end. */
  readonly starts: Uint32Array;
  /** Of each entry; those of a word ascend. */
  readonly rows: Uint32Array;
  /** How many times the word occurs there. */
  readonly counts: Uint8Array;
  /** The number of the path; left out where there is one. */
  readonly paths: Uint8Array | undefined;
  /** Words at each path of each row. */
  readonly lengths: Uint32Array;
  readonly pathCount: number;
  readonly size: number;
  /** Rows that have gone: 1. */
  readonly dead: Uint8Array;
  /** How many documents that have gone had a word. */
  readonly gone = new Map<string, number>();
  deadCount = 0;
  /** Words at each path, of the rows that are there. */
  readonly totals: Float64Array;

  constructor(content: PostingsContent) {
    const { words, starts, rows, counts, paths, lengths, pathCount } = content;
    this.words = words;
    this.starts = starts;
    this.rows = rows;
    this.counts = counts;
    this.paths = paths;
    this.lengths = lengths;
    this.pathCount = pathCount;
    this.size = lengths.length / pathCount;
    this.dead = new Uint8Array(this.size);
    this.totals = new Float64Array(pathCount);
    lengths.forEach((length, at) => {
      (this.totals[at % pathCount] as number) += length;
    });
  }

  /** Number of the rows that are there. */
  get alive(): number {
    return this.size - this.deadCount;
  }

  /** The place of a word among all, or of the first behind it. */
  seek(word: string): number {
    let low = 0;
    let high = this.words.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.words[middle] as string) < word) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The place of a word; -1 where no document has it. */
  find(word: string): number {
    const at = this.seek(word);
    return this.words[at] === word ? at : -1;
  }

  /** The places of the words that begin so. */
  beginningWith(beginning: string): readonly [from: number, to: number] {
    const from = this.seek(beginning);
    return [from, seekBehind(this.words, beginning, from)];
  }

  /** How many documents that are there have the word at a place. */
  documentsWith(at: number): number {
    const gone = this.gone.get(this.words[at] as string) ?? 0;
    const from = this.starts[at] as number;
    const to = this.starts[at + 1] as number;
    if (!this.paths) return to - from - gone;
    let count = 0;
    let last = -1;
    for (let entry = from; entry < to; entry++) {
      const row = this.rows[entry] as number;
      if (row !== last) count++;
      last = row;
    }
    return count - gone;
  }

  /** @param words The distinct words of the row. */
  kill(row: number, words: Iterable<string>): void {
    if (this.dead[row]) return;
    this.dead[row] = 1;
    this.deadCount++;
    for (const word of words) this.gone.set(word, (this.gone.get(word) ?? 0) + 1);
    for (let path = 0; path < this.pathCount; path++)
      (this.totals[path] as number) -= this.lengths[row * this.pathCount + path] as number;
  }
}

type PostingsContent = Pick<
  Postings,
  'words' | 'starts' | 'rows' | 'counts' | 'paths' | 'lengths' | 'pathCount'
>;

/** A typed array that grows. */
class Growing {
  items = new Uint32Array(1024);
  length = 0;

  push(item: number): void {
    if (this.length === this.items.length) {
      const larger = new Uint32Array(this.length * 2);
      larger.set(this.items);
      this.items = larger;
    }
    this.items[this.length++] = item;
  }
}

/** Makes postings of the keys of rows, in slices. */
export function* buildPostings(
  keys: readonly TextKey[],
  pathCount: number,
): Generator<void, Postings> {
  /** Numbers of words, and of words with their times. */
  const numbers = new Map<string, number>();
  const tokens = new Map<string, number>();
  const words: string[] = [];
  const frequencies = new Growing();
  /** Of each entry in the order of rows: the number of its word and its times, then its row. */
  const entries = new Growing();
  const places = new Growing();
  const lengths = new Uint32Array(keys.length * pathCount);
  const numberOf = (token: string): number => {
    const { word, count } = readToken(token);
    let number = numbers.get(word);
    if (number === undefined) {
      number = words.length;
      const own = unattached(word);
      numbers.set(own, number);
      words.push(own);
      frequencies.push(0);
    }
    const packed = number * 256 + count;
    tokens.set(count === 1 ? (words[number] as string) : unattached(token), packed);
    return packed;
  };
  for (let row = 0; row < keys.length; row++) {
    if (row % SLICE === SLICE - 1) yield;
    const lines = (keys[row] as string).split('\n');
    for (let path = 0; path < lines.length && path < pathCount; path++) {
      const line = lines[path] as string;
      if (line === '') continue;
      let length = 0;
      for (const token of line.split(' ')) {
        const packed = tokens.get(token) ?? numberOf(token);
        const number = Math.floor(packed / 256);
        length += packed % 256;
        (frequencies.items[number] as number)++;
        // Two numbers of 32 bits hold all: a word's number may have more than 24.
        entries.push(number);
        places.push(row);
        places.push((packed % 256) + path * 256);
      }
      lengths[row * pathCount + path] = length;
    }
  }
  tokens.clear();
  numbers.clear();
  yield;
  const order = Uint32Array.from(words.keys()).sort((a, b) =>
    (words[a] as string) < (words[b] as string) ? -1 : 1,
  );
  const starts = new Uint32Array(words.length + 1);
  const next = new Uint32Array(words.length);
  let total = 0;
  order.forEach((number, at) => {
    starts[at] = next[number] = total;
    total += frequencies.items[number] as number;
  });
  starts[words.length] = total;
  yield;
  const rows = new Uint32Array(total);
  const counts = new Uint8Array(total);
  const paths = pathCount > 1 ? new Uint8Array(total) : undefined;
  for (let entry = 0; entry < total; entry++) {
    const at = (next[entries.items[entry] as number] as number)++;
    const packed = places.items[2 * entry + 1] as number;
    rows[at] = places.items[2 * entry] as number;
    counts[at] = packed & 255;
    if (paths) paths[at] = packed >> 8;
    if (entry % 1_000_000 === 999_999) yield;
  }
  const sorted = Array.from(order, (number) => words[number] as string);
  return new Postings({ words: sorted, starts, rows, counts, paths, lengths, pathCount });
}

/** A copy that keeps no longer text in memory, which a long part of one does. */
function unattached(word: string): string {
  return word.length < 13 ? word : ` ${word}`.slice(1);
}

/**
 * Joins postings: the rows that are there follow one another. Each part has its own rows, without
 * those that have gone.
 */
export function joinPostings(parts: readonly Postings[]): Postings {
  const pathCount = (parts[0] as Postings).pathCount;
  let size = 0;
  const renamed = parts.map(({ dead }) =>
    Uint32Array.from(dead, (isDead) => (isDead ? 0xffff_ffff : size++)),
  );
  const lengths = new Uint32Array(size * pathCount);
  for (const [at, part] of parts.entries())
    renamed[at]?.forEach((row, before) => {
      if (row === 0xffff_ffff) return;
      for (let path = 0; path < pathCount; path++)
        lengths[row * pathCount + path] = part.lengths[before * pathCount + path] as number;
    });
  const most = parts.reduce((sum, { rows }) => sum + rows.length, 0);
  const rows = new Uint32Array(most);
  const counts = new Uint8Array(most);
  const paths = pathCount > 1 ? new Uint8Array(most) : undefined;
  const words: string[] = [];
  const starts: number[] = [];
  const at = parts.map(() => 0);
  let total = 0;
  for (;;) {
    let word: string | undefined;
    for (const [part, place] of at.entries()) {
      const own = parts[part]?.words[place];
      if (own !== undefined && (word === undefined || own < word)) word = own;
    }
    if (word === undefined) break;
    const start = total;
    for (const [number, part] of parts.entries()) {
      const place = at[number] as number;
      if (part.words[place] !== word) continue;
      at[number] = place + 1;
      const names = renamed[number] as Uint32Array;
      const to = part.starts[place + 1] as number;
      for (let entry = part.starts[place] as number; entry < to; entry++) {
        const row = names[part.rows[entry] as number] as number;
        if (row === 0xffff_ffff) continue;
        rows[total] = row;
        counts[total] = part.counts[entry] as number;
        if (paths) paths[total] = part.paths?.[entry] as number;
        total++;
      }
    }
    if (total === start) continue;
    words.push(word);
    starts.push(start);
  }
  starts.push(total);
  return new Postings({
    ...{ words, lengths, pathCount, starts: Uint32Array.from(starts) },
    rows: rows.slice(0, total),
    counts: counts.slice(0, total),
    paths: paths?.slice(0, total),
  });
}
