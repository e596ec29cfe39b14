import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** Records entered by key in one slice. */
const SLICE = 8192;
/** So many lookups search linearly instead: a millisecond or two each, among a hundred thousand. */
const PASSES = 4;

/**
 * The newest version of each record, in order and by key. Records that come in great numbers are entered by key at the
 * first lookup: it takes as long as reading them, and after a start no lookup may come.
 */
export class RecordTable {
  /** Invariant: iterates in the order of `record.rank`; waiting records come after these. */
  readonly #byKey = new Map<string, StoredRecord>();
  /** Records not entered by key yet, in order. */
  #waiting: (readonly StoredRecord[])[] = [];
  /** All records in order, made on demand and kept until one is added or removed. */
  #list: readonly StoredRecord[] | undefined;
  #flags: number | undefined;
  #passes = 0;

  get size(): number {
    return this.#waiting.reduce((size, { length }) => size + length, this.#byKey.size);
  }

  get(key: string): StoredRecord | undefined {
    const record = this.#byKey.get(key);
    if (record || this.#waiting.length === 0) return record;
    if (this.#passes++ === PASSES) return this.#entered().get(key);
    for (const records of this.#waiting) {
      const found = records.find((other) => other.key === key);
      if (found) return found;
    }
    return undefined;
  }

  keys(): IterableIterator<string> {
    return this.#entered().keys();
  }

  /** All records in order, as of now: the array never changes. */
  list(): readonly StoredRecord[] {
    this.#list ??= [...this.#byKey.values()].concat(...this.#waiting);
    return this.#list;
  }

  /** All flags that any record has, and perhaps some that none has any more. */
  get flags(): number {
    this.#flags ??= this.list().reduce(withFlags, 0);
    return this.#flags;
  }

  set(record: StoredRecord): void {
    this.#entered().set(record.key, record);
    this.#list = undefined;
    if (this.#flags !== undefined) this.#flags = withFlags(this.#flags, record);
  }

  delete(key: string): void {
    this.#entered().delete(key);
    this.#list = undefined;
  }

  /** Appends records with new keys, in order. */
  append(records: readonly StoredRecord[]): void {
    for (let from = 0; from < records.length; from += SLICE)
      this.#waiting.push(records.slice(from, from + SLICE));
    this.#list = undefined;
    if (this.#flags !== undefined) this.#flags = records.reduce(withFlags, this.#flags);
  }

  /** Takes records in the place of all, in order. The array must not change any more. */
  replace(records: readonly StoredRecord[]): void {
    this.#byKey.clear();
    this.#waiting = [];
    this.#flags = undefined;
    this.append(records);
    this.#list = records;
  }

  /** Enters what waits, in slices of a few milliseconds; reads and changes may come in between. */
  *entering(): Generator<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      for (const record of next) this.#byKey.set(record.key, record);
      yield;
    }
    this.#passes = 0;
  }

  #entered(): Map<string, StoredRecord> {
    if (this.#waiting.length > 0) for (const _slice of this.entering());
    return this.#byKey;
  }
}

function withFlags(flags: number, record: StoredRecord): number {
  return flags | record.flags;
}
