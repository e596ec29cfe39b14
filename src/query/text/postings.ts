import { firstWhere } from '../../codec/first-where.ts';
import { seekBehind } from './near-words.ts';

/** Bytes of a word besides its letters. */
const WORD_SIZE = 24;

/** Words that are joined, or put in their place, before a builder yields. */
const WORDS_AT_ONCE = 2048;

/**
 * Which documents have a word, by word: bytes, not an object for an entry. Rows are numbered from 0
 * up. Immutable, but for the rows that have gone.
 *
 * An entry is a number of 7 bits a byte, the lowest first: rows since the entry before, times the
 * number of paths, plus the path; and in the lowest bit whether a byte with the times of the word
 * follows. Two of three entries take one byte.
 */
export class Postings {
  /** Ascending by code unit. */
  readonly words: readonly string[];
  /** Where the bytes of each word end. */
  readonly ends: Uint32Array;
  /** How many documents have each word at each path, with those that have gone. */
  readonly documents: Uint32Array;
  readonly bytes: Uint8Array;
  /** Different words at each path of each row. */
  readonly lengths: Uint16Array;
  readonly pathCount: number;
  readonly size: number;
  /** Rows that have gone: 1. */
  readonly dead: Uint8Array;
  deadCount = 0;
  /** The sum of the lengths at each path, of the rows that are there. */
  readonly totals: Float64Array;
  /** Documents that are there by word and path, as of so many that have gone. */
  readonly #counts = new Map<number, readonly [documents: Uint32Array, gone: number]>();

  constructor({ words, ends, documents, bytes, lengths, pathCount }: PostingsContent) {
    this.words = words;
    this.ends = ends;
    this.documents = documents;
    this.bytes = bytes;
    this.lengths = lengths;
    this.pathCount = pathCount;
    this.size = lengths.length / pathCount;
    this.dead = new Uint8Array(this.size);
    this.totals = new Float64Array(pathCount);
    for (let at = 0; at < lengths.length; at++)
      (this.totals[at % pathCount] as number) += lengths[at] as number;
  }

  /** Number of the rows that are there. */
  get alive(): number {
    return this.size - this.deadCount;
  }

  /** About how much memory it takes. */
  get byteLength(): number {
    const { bytes, ends, documents, lengths, dead, words } = this;
    const columns = [bytes, ends, documents, lengths, dead];
    const texts = words.reduce((sum, { length }) => sum + length + WORD_SIZE, 0);
    return columns.reduce((sum, { byteLength }) => sum + byteLength, texts);
  }

  /** The place of a word among all, or of the first behind it. */
  seek(word: string): number {
    const { words } = this;
    return firstWhere(0, words.length, (at) => (words[at] as string) >= word);
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

  /** How many documents that are there have the word of a place, at each path. */
  documentsWith(at: number): Uint32Array {
    const { pathCount, dead, deadCount } = this;
    if (deadCount === 0) return this.documents.subarray(at * pathCount, (at + 1) * pathCount);
    const known = this.#counts.get(at);
    if (known?.[1] === deadCount) return known[0];
    const { rows, paths, count } = this.list(at);
    const documents = new Uint32Array(pathCount);
    for (let entry = 0; entry < count; entry++)
      if (!dead[rows[entry] as number])
        (documents[pathCount > 1 ? (paths[entry] as number) : 0] as number)++;
    this.#counts.set(at, [documents, deadCount]);
    return documents;
  }

  /** The entries of the word at a place. Valid until the next list is read, of any postings. */
  list(at: number): EntryColumns {
    const { bytes, pathCount } = this;
    let place = at === 0 ? 0 : (this.ends[at - 1] as number);
    const end = this.ends[at] as number;
    const { rows, paths, times } = listOf(end - place);
    let count = 0;
    let row = -1;
    while (place < end) {
      let byte = bytes[place++] as number;
      let entry = byte & 127;
      for (let shift = 7; byte > 127; shift += 7) {
        byte = bytes[place++] as number;
        entry += (byte & 127) << shift;
      }
      times[count] = entry & 1 ? (bytes[place++] as number) : 1;
      entry >>>= 1;
      if (pathCount > 1) {
        paths[count] = entry % pathCount;
        entry = (entry / pathCount) | 0;
      }
      row += entry;
      rows[count++] = row;
    }
    list.count = count;
    return list;
  }

  kill(row: number): void {
    if (this.dead[row]) return;
    this.dead[row] = 1;
    this.deadCount++;
    for (let path = 0; path < this.pathCount; path++)
      (this.totals[path] as number) -= this.lengths[row * this.pathCount + path] as number;
  }
}

export type PostingsContent = Pick<
  Postings,
  'words' | 'ends' | 'documents' | 'bytes' | 'lengths' | 'pathCount'
>;

export interface EntryColumns {
  /** Ascending; a row is there once for each path with the word. */
  readonly rows: Uint32Array;
  /** All 0 where there is one path. */
  readonly paths: Uint8Array;
  /** How many times the word occurs there. */
  readonly times: Uint8Array;
  readonly count: number;
}

/** The one that was read last: memory for each of them would have to be collected. */
let list = {
  rows: new Uint32Array(0),
  paths: new Uint8Array(0),
  times: new Uint8Array(0),
  count: 0,
};

function listOf(most: number): typeof list {
  if (list.rows.length < most) {
    const room = Math.max(1024, most * 2);
    const bytes = () => new Uint8Array(room);
    list = { rows: new Uint32Array(room), paths: bytes(), times: bytes(), count: 0 };
  }
  return list;
}

/** Bytes that come in no order of words, each word's in a chain of chunks. */
class Chains {
  #bytes = new Uint8Array(1 << 16);
  #used = 0;
  /** By chain: where it begins, where its next byte comes, where its chunk ends, its length. */
  readonly #firsts: number[] = [];
  readonly #places: number[] = [];
  readonly #ends: number[] = [];
  readonly #sizes: number[] = [];

  /** Begins a chain; they are numbered from 0 up. */
  begin(): void {
    const at = this.#take(FIRST_CHUNK);
    this.#firsts.push(at);
    this.#places.push(at);
    this.#ends.push(at + FIRST_CHUNK - LINK);
    this.#sizes.push(0);
  }

  sizeOf(chain: number): number {
    return this.#sizes[chain] as number;
  }

  add(chain: number, byte: number): void {
    let place = this.#places[chain] as number;
    if (place === this.#ends[chain]) place = this.#next(chain, place);
    this.#bytes[place] = byte;
    this.#places[chain] = place + 1;
    (this.#sizes[chain] as number)++;
  }

  copy(chain: number, to: Uint8Array, from: number): void {
    const bytes = this.#bytes;
    let at = this.#firsts[chain] as number;
    let left = this.sizeOf(chain);
    for (let size = FIRST_CHUNK, place = from; left > 0; size = sizeBehind(size)) {
      const room = Math.min(left, size - LINK);
      to.set(bytes.subarray(at, at + room), place);
      left -= room;
      place += room;
      if (left > 0) at = linkAt(bytes, at + room);
    }
  }

  #next(chain: number, end: number): number {
    let size = FIRST_CHUNK;
    for (let room = size - LINK; room < this.sizeOf(chain) + 1; room += size - LINK)
      size = sizeBehind(size);
    const next = this.#take(size);
    for (let byte = 0; byte < LINK; byte++) this.#bytes[end + byte] = (next >>> (8 * byte)) & 255;
    this.#ends[chain] = next + size - LINK;
    return next;
  }

  #take(size: number): number {
    const at = this.#used;
    this.#used += size;
    if (this.#used > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    return at;
  }
}

/** Bytes of the first chunk of a chain, of the longest, and of the link at the end of each. */
const FIRST_CHUNK = 12;
const LONGEST_CHUNK = 1024;
const LINK = 4;

const sizeBehind = (size: number): number => Math.min(LONGEST_CHUNK, size * 2);

function linkAt(bytes: Uint8Array, at: number): number {
  let link = 0;
  for (let byte = LINK - 1; byte >= 0; byte--) link = link * 256 + (bytes[at + byte] as number);
  return link;
}

/** Takes the entries of words in the order of rows, and makes postings of them. */
export class PostingsBuilder {
  readonly words: string[] = [];
  readonly #pathCount: number;
  readonly #chains = new Chains();
  readonly #documents: number[] = [];
  /** By number of a word: the last row that has it. */
  readonly #rows: number[] = [];

  constructor(pathCount: number) {
    this.#pathCount = pathCount;
  }

  begin(word: string): number {
    this.#chains.begin();
    for (let path = 0; path < this.#pathCount; path++) this.#documents.push(0);
    this.#rows.push(-1);
    return this.words.push(word) - 1;
  }

  add(word: number, row: number, path: number, times: number): void {
    const before = this.#rows[word] as number;
    (this.#documents[word * this.#pathCount + path] as number)++;
    this.#rows[word] = row;
    let left = (((row - before) * this.#pathCount + path) << 1) | (times > 1 ? 1 : 0);
    for (; left > 127; left >>>= 7) this.#chains.add(word, (left & 127) | 128);
    this.#chains.add(word, left);
    if (times > 1) this.#chains.add(word, times);
  }

  /** In slices. @param isSorted Whether words have come in their order. */
  *finish(lengths: Uint16Array, isSorted: boolean): Generator<void, Postings> {
    const { words } = this;
    const order = isSorted ? Array.from(words.keys()) : yield* sortedNumbers(words);
    const ends = new Uint32Array(words.length);
    const documents = new Uint32Array(words.length * this.#pathCount);
    let total = 0;
    for (const [at, number] of order.entries()) {
      ends[at] = total += this.#chains.sizeOf(number);
      for (let path = 0; path < this.#pathCount; path++)
        documents[at * this.#pathCount + path] = this.#documents[
          number * this.#pathCount + path
        ] as number;
    }
    const bytes = new Uint8Array(total);
    for (const [at, number] of order.entries()) {
      this.#chains.copy(number, bytes, at === 0 ? 0 : (ends[at - 1] as number));
      if (at % WORDS_AT_ONCE === WORDS_AT_ONCE - 1) yield;
    }
    return new Postings({
      ...{ ends, documents, bytes, lengths, pathCount: this.#pathCount },
      words: isSorted ? words : order.map((number) => words[number] as string),
    });
  }
}

/** The numbers of words in the order of these: a merge sort, whose slices are short. */
function* sortedNumbers(words: readonly string[]): Generator<void, number[]> {
  const wordOf = (number: number | undefined) => words[number as number] as string;
  let lists: number[][] = [];
  for (let from = 0; from < words.length; from += WORDS_AT_ONCE) {
    const length = Math.min(WORDS_AT_ONCE, words.length - from);
    const list = Array.from({ length }, (_, at) => from + at);
    lists.push(list.sort((a, b) => (wordOf(a) < wordOf(b) ? -1 : 1)));
    yield;
  }
  while (lists.length > 1) {
    const merged: number[][] = [];
    for (let pair = 0; pair < lists.length; pair += 2) {
      const [left = [], right = []] = lists.slice(pair, pair + 2);
      const both: number[] = [];
      for (let a = 0, b = 0; a < left.length || b < right.length; ) {
        const isLeft = b >= right.length || (a < left.length && wordOf(left[a]) < wordOf(right[b]));
        both.push((isLeft ? left[a++] : right[b++]) as number);
        if (both.length % WORDS_AT_ONCE === 0) yield;
      }
      merged.push(both);
    }
    lists = merged;
  }
  return lists[0] ?? [];
}

/** A part of joined postings, and where its rows go; -1 for those that have gone. */
export interface JoinedPart {
  readonly postings: Postings;
  readonly rows: Int32Array;
}

/**
 * Joins postings, in slices. A row may keep its number or get another; those of a later part must
 * come behind, and those of a part keep their order.
 *
 * @param size How many rows there are then.
 */
export function* joinPostings(
  parts: readonly JoinedPart[],
  size: number,
): Generator<void, Postings> {
  const { pathCount } = (parts[0] as JoinedPart).postings;
  const lengths = new Uint16Array(size * pathCount);
  for (const { postings, rows } of parts)
    for (const [before, row] of rows.entries())
      for (let path = 0; row >= 0 && path < pathCount; path++)
        lengths[row * pathCount + path] = postings.lengths[before * pathCount + path] as number;
  const builder = new PostingsBuilder(pathCount);
  const places = parts.map(() => 0);
  const wordAt = (part: number) => parts[part]?.postings.words[places[part] as number];
  for (let joined = 1; ; joined++) {
    let word: string | undefined;
    for (const part of parts.keys()) {
      const own = wordAt(part);
      if (own !== undefined && (word === undefined || own < word)) word = own;
    }
    if (word === undefined) break;
    let number = -1;
    for (const [part, { postings, rows }] of parts.entries()) {
      if (wordAt(part) !== word) continue;
      const { count, ...list } = postings.list((places[part] as number)++);
      for (let at = 0; at < count; at++) {
        const row = rows[list.rows[at] as number] as number;
        if (row < 0) continue;
        if (number < 0) number = builder.begin(word);
        const path = pathCount > 1 ? (list.paths[at] as number) : 0;
        builder.add(number, row, path, list.times[at] as number);
      }
    }
    if (joined % WORDS_AT_ONCE === 0) yield;
  }
  return yield* builder.finish(lengths, true);
}
