import type { TextSettings } from '../../api/options/special-indexes.ts';
import type { Coroutine } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import { hashText } from '../../codec/hash-text.ts';
import { bodySize } from '../../codec/size.ts';
import type { IndexKey } from '../../query/index/index-key.ts';
import type { EntryList } from '../../query/index/leaf-list.ts';
import { english } from '../../query/text/stem-english.ts';
import { encodePostings, NO_SLOT, type StoredPostings } from '../../query/text/stored-postings.ts';
import type { Scored } from '../../query/text/text-matches.ts';
import { Run, TextRuns } from '../../query/text/text-runs.ts';
import { probeOfWords, synonymsOf, TextWords, textKeyReader } from '../../query/text/text-words.ts';
import { type Checkpoint, ROWS } from '../../storage/checkpoint/checkpoint-format.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { DocumentIndex, type SlotOf } from '../documents/document-index.ts';
import type { StoredRecords } from '../first-reads/stored-records.ts';
import type { RecordBodies } from '../records/record-bodies.ts';
import type { PartList } from '../records/table/part-list.ts';

/** Bytes of encoded documents that are kept for an index. */
const MOST = 4 * 1024 * 1024;

/**
 * What the last searches have read, the oldest first. Each hit is in another segment, and reading
 * one of 96 kB for a single document takes most of the time of a search; with each letter that a
 * user types, and with each change beside a live search, nearly the same documents are found.
 *
 * A record is a version, which never changes.
 */
export function recentBodies() {
  const bodies = new Map<StoredRecord, Body>();
  let size = 0;

  function keep(record: StoredRecord, body: Body): void {
    drop(record);
    bodies.set(record, body);
    size += bodySize(body);
    for (const oldest of bodies.keys()) {
      if (size <= MOST) break;
      drop(oldest);
    }
  }

  function drop(record: StoredRecord): void {
    const body = bodies.get(record);
    if (bodies.delete(record)) size -= bodySize(body as Body);
  }

  /** The bodies of records, in their order. */
  return function* (stored: RecordBodies, records: readonly StoredRecord[]): Coroutine<Body[]> {
    const known = new Map<StoredRecord, Body>();
    for (const record of records) {
      const body = record.body ?? bodies.get(record);
      if (body !== undefined) known.set(record, body);
    }
    const missing = records.filter((record) => !known.has(record));
    const read = missing.length > 0 ? yield* stored.ofAll(missing) : [];
    for (const [at, record] of missing.entries()) known.set(record, read[at] as Body);
    for (const [record, body] of known) if (record.body === undefined) keep(record, body);
    return records.map((record) => known.get(record) as Body);
  };
}

/**
 * The words of the texts of documents. What a record carries is a `TextKey`, which segments keep as
 * a column; postings are made of the keys when a search needs them.
 */
export class TextIndex extends DocumentIndex {
  readonly words: TextWords;
  /** The keys of each path. */
  readonly keys: readonly (readonly string[])[];
  /** The other words that a word stands for. */
  readonly synonyms: ReadonlyMap<string, readonly string[]>;
  override readonly read: (document: object) => IndexKey;
  readonly runs: TextRuns<StoredRecord>;
  readonly recent = recentBodies();
  /** Reads the records of rows that are not in memory. */
  fetch: ((taken: readonly Scored<StoredRecord>[]) => Promise<void>) | undefined;
  /** Of each path. */
  readonly weights: readonly number[];
  #entries: EntryList<StoredRecord> = [];

  constructor(...given: ConstructorParameters<typeof DocumentIndex>) {
    super(...given);
    const settings = (given[1].special as { readonly options: TextSettings }).options;
    const { stop_words, stemmer, paths } = settings;
    this.words = new TextWords({ stop_words, stem: stemmer && english });
    this.keys = paths.map(([path]) => path.split('.'));
    this.weights = paths.map(([, weight]) => weight);
    this.synonyms = synonymsOf(settings.synonyms, this.words);
    this.read = textKeyReader(this.keys, this.words);
    this.runs = new TextRuns(paths.length);
    // Weights and synonyms count when a search is made, so other ones need no other column.
    const kept = [paths.map(([path]) => path), stop_words, stemmer ?? '', hashText(probeOfWords())];
    this.column = JSON.stringify(['text', ...kept]);
  }

  /** Takes the rows of a checkpoint that are there. */
  open(
    { postings, ranks, slots }: StoredPostings,
    isThere: (row: number) => boolean,
    stored: Pick<StoredRecords, 'recordsAt' | 'contextOf'>,
  ): void {
    const places = Int32Array.from(ranks.keys());
    const run = new Run<StoredRecord>(postings, ranks, places, []);
    for (const row of slots.keys()) if (!isThere(row)) run.kill(row);
    this.runs.push(run);
    this.fetch = async (taken) => {
      const rows = new Map(taken.map((one) => [one.run.ranks[one.row] as number, one]));
      const wanted = taken.filter((one) => one.run === run && !run.ownAt(one.row));
      const found = await stored.recordsAt(new Set(wanted.map(({ row }) => slots[row] as number)));
      // The opening, which reads all, will have them sooner.
      if (!found) throw new RangeError('Too many segments.');
      for (const record of found) run.replace(rows.get(record.rank)?.row as number, record);
      await stored.contextOf(taken.map((one) => one.run.recordAt(one.row)));
    };
  }

  override get size(): number {
    return this.runs.size;
  }

  override load(entries: EntryList<StoredRecord>, keys: readonly IndexKey[]): void {
    this.#entries = entries;
    const ranks = Float64Array.from(keys, (_, at) => this.#placeOf(at).rank);
    this.runs.load(entries, ranks, keys as readonly string[]);
  }

  /** Where the entry at a place of those that were loaded is. */
  #placeOf(at: number): Pick<StoredRecord, 'segment' | 'index' | 'rank'> {
    const entries = this.#entries;
    return 'placeOf' in entries
      ? (entries as PartList).placeOf(at)
      : (entries.at(at) as StoredRecord);
  }

  override readonly toBytes = (slotOf: SlotOf): Generator<void, Uint8Array | undefined> =>
    this.#encoded(slotOf);

  *#encoded(slotOf: SlotOf): Generator<void, Uint8Array | undefined> {
    const run = yield* this.runs.whole();
    if (!run) return undefined;
    const { postings, ranks, places } = run;
    const slots = new Uint32Array(postings.size).fill(NO_SLOT);
    for (const row of slots.keys()) {
      if (postings.dead[row]) continue;
      const own = run.ownAt(row);
      const { segment, index } = own ?? this.#placeOf(places[row] as number);
      slots[row] = slotOf(segment, index) ?? NO_SLOT;
    }
    return encodePostings({ postings, ranks, slots });
  }

  /** Takes what a checkpoint has of the entries that were loaded. */
  *adopt({ segments }: Checkpoint, stored: StoredPostings): Generator<void> {
    const offsets = new Map(Array.from(segments, (number, offset) => [number, offset]));
    yield* this.runs.adopt(stored, (at) => {
      const { segment, index } = this.#placeOf(at);
      const offset = offsets.get(segment);
      return offset === undefined ? undefined : offset * ROWS + index;
    });
  }

  override add(entry: StoredRecord, key: IndexKey): void {
    this.runs.add(entry, key as string);
  }

  override addAll(entries: EntryList<StoredRecord>, keys: readonly IndexKey[]): void {
    if (this.size === 0) this.load(entries, keys);
    else for (const [at, key] of keys.entries()) this.add(entries.at(at) as StoredRecord, key);
  }

  override remove(entry: StoredRecord): void {
    this.runs.remove(entry);
  }

  override replace(
    before: StoredRecord,
    after: StoredRecord,
    keyBefore: IndexKey,
    keyAfter: IndexKey,
  ): void {
    if (keyBefore === keyAfter) this.runs.replace(after);
    else {
      this.remove(before);
      this.add(after, keyAfter);
    }
  }

  /** Postings are made when they are needed. */
  override sorting(): Generator<void> {
    return [].values() as never;
  }
}
