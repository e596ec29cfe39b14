import type { RecordPart } from '../../../storage/segments/record-part.ts';
import type { StoredRecord } from '../../../storage/segments/stored-record.ts';
import { PartList } from './part-list.ts';

/** Records entered by key in one slice. */
const SLICE = 2048;
/**
 * So many lookups search linearly instead: a millisecond or less each, among a hundred thousand.
 */
const PASSES = 4;

/**
 * The newest version of each record, in order and by key. Records that come in great numbers stay
 * in their parts, as columns. They are entered by key at the first lookup: it takes as long as
 * reading them, and after a start no lookup may come. docs/decisions/019-lazy-key-map.md has the
 * figures.
 */
export class RecordTable {
  /**
   * Records, or slots of {@link #parts}. Invariant: iterates in the order of `record.rank`; the
   * slots from {@link #entered} on come after these.
   */
  readonly #byKey = new Map<string, StoredRecord | number>();
  #parts = new PartList();
  /** How many slots are entered by key, in order. */
  #entered = 0;
  /** Number and first slot of the part with the first slot that is not. */
  #waiting = { part: 0, start: 0 };
  /** How many slots a record was replaced or removed in. */
  #freed = 0;
  /** All records in order, made on demand and kept until one is added or removed. */
  #list: readonly StoredRecord[] | undefined;
  #flags = 0;
  #passes = 0;
  readonly #guard: { readonly pinned: boolean };

  /** @param guard Whether readers are under way. */
  constructor(guard: { readonly pinned: boolean }) {
    this.#guard = guard;
  }

  get size(): number {
    return this.#byKey.size + this.#parts.length - this.#entered;
  }

  get(key: string): StoredRecord | undefined {
    const found = this.#byKey.get(key);
    if (found !== undefined) return this.#recordOf(found);
    if (this.#entered === this.#parts.length) return undefined;
    if (this.#passes++ === PASSES) {
      this.#enterAll();
      return this.get(key);
    }
    for (const part of this.#parts.parts.slice(this.#waiting.part)) {
      const row = part.keys.indexOf(key);
      if (row >= 0) return part.at(row);
    }
    return undefined;
  }

  keys(): IterableIterator<string> {
    return this.#enterAll().keys();
  }

  /** All records in order, as of now: the array never changes. */
  list(): readonly StoredRecord[] {
    if (this.#entered === 0 && this.#byKey.size === 0) this.#list ??= this.#parts.records();
    if (!this.#list) {
      const list: StoredRecord[] = [];
      for (const found of this.#byKey.values()) list.push(this.#recordOf(found));
      for (let slot = this.#entered; slot < this.#parts.length; slot++)
        list.push(this.#parts.at(slot));
      this.#list = list;
    }
    return this.#list;
  }

  /** The parts that have come, some of whose records may be replaced. */
  get parts(): readonly RecordPart[] {
    return this.#parts.parts;
  }

  /** Visits the records that are objects already. */
  eachMade(visit: (record: StoredRecord) => void): void {
    for (const part of this.#parts.parts) part.eachMade(visit);
    for (const found of this.#byKey.values()) if (typeof found !== 'number') visit(found);
  }

  /** All flags that any record has, and perhaps some that none has any more. */
  get flags(): number {
    return this.#flags;
  }

  set(record: StoredRecord): void {
    const { key } = record;
    const byKey = this.#enterAll();
    const before = byKey.get(key);
    byKey.set(key, record);
    this.#free(before);
    this.#list = undefined;
    this.#flags |= record.flags;
  }

  delete(key: string): void {
    const byKey = this.#enterAll();
    const before = byKey.get(key);
    byKey.delete(key);
    this.#free(before);
    this.#list = undefined;
  }

  /** Appends records with new keys, in order. */
  append(part: RecordPart): void {
    // A few records are no use as a part, nor are many small parts.
    if (part.isMade && this.#entered === this.#parts.length)
      for (const record of part.records()) this.#byKey.set(record.key, record);
    else this.#parts.append(part);
    this.#list = undefined;
    this.#flags |= part.allFlags;
  }

  /** Takes records in the place of all, in order. */
  replace(rows: PartList): void {
    this.#byKey.clear();
    this.#leaveParts(rows);
    this.#list = undefined;
    this.#flags = rows.parts.reduce((flags, { allFlags }) => flags | allFlags, 0);
  }

  /** Enters what waits, in slices of a few milliseconds; reads and changes may come in between. */
  *entering(): Generator<void> {
    while (this.#entered < this.#parts.length) {
      for (let left = SLICE; left > 0 && this.#entered < this.#parts.length; left--) {
        let { part, start } = this.#waiting;
        const { keys } = this.#parts.parts[part] as RecordPart;
        this.#byKey.set(keys[this.#entered - start] as string, this.#entered);
        this.#entered++;
        if (this.#entered < start + keys.length) continue;
        start += keys.length;
        this.#waiting = { part: ++part, start };
      }
      yield;
    }
    this.#passes = 0;
  }

  /**
   * Visits the place of each record, slice by slice; makes none of them, and enters none. Changes
   * may come in between: what has changed is visited before, after, both or not at all.
   */
  *places(visit: (key: string, segment: number, index: number) => void): Generator<void> {
    // What is added or entered meanwhile comes behind these.
    let rest = this.#byKey.size;
    const waiting = this.#parts.parts.slice(this.#waiting.part);
    let row = this.#entered - this.#waiting.start;
    let left = SLICE;
    for (const [key, found] of this.#byKey) {
      if (rest-- === 0) break;
      const { segment, index } = typeof found === 'number' ? this.#parts.placeOf(found) : found;
      visit(key, segment, index);
      if (--left > 0) continue;
      left = SLICE;
      yield;
    }
    for (const part of waiting) {
      for (; row < part.length; row++) {
        const { segment, index } = part.placeOf(row);
        visit(part.keys[row] as string, segment, index);
        if (--left > 0) continue;
        left = SLICE;
        yield;
      }
      row = 0;
    }
  }

  #enterAll(): Map<string, StoredRecord | number> {
    if (this.#entered < this.#parts.length) for (const _slice of this.entering());
    return this.#byKey;
  }

  /**
   * Forgets what is in the place of a record, unless a reader may have taken its row; once that is
   * most of the slots, the rest become objects.
   */
  #free(found: StoredRecord | number | undefined): void {
    if (typeof found !== 'number') return;
    if (!this.#guard.pinned) this.#parts.free(found);
    if (++this.#freed <= Math.max(SLICE, this.#parts.length / 2)) return;
    for (const [key, each] of this.#byKey) this.#byKey.set(key, this.#recordOf(each));
    this.#leaveParts(new PartList());
  }

  #leaveParts(next: PartList): void {
    this.#parts = next;
    this.#entered = this.#freed = 0;
    this.#waiting = { part: 0, start: 0 };
  }

  #recordOf(found: StoredRecord | number): StoredRecord {
    return typeof found === 'number' ? this.#parts.at(found) : found;
  }
}
