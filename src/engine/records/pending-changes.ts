import type { Clock } from '../../async/clock.ts';
import type { IdempotencyKey } from '../../protocol/requests.ts';
import type { LogWrite } from '../../storage/log/log-writes.ts';
import type { RecordPart } from '../../storage/segments/record-part.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { type Watermark, Watermarks } from '../../storage/segments/watermarks.ts';

/** The changes of a collection that are in no segment yet. */
export class PendingChanges {
  /** New versions. */
  readonly #records = new Set<StoredRecord>();
  /** New records that came together. */
  #parts: RecordPart[] = [];
  /**
   * Deleted keys that storage holds or is about to hold, each with the newest version that may be
   * stored. A key may be in both: deleted, then inserted again.
   */
  readonly deletes = new Map<string, StoredRecord>();
  /** How many changes were made: several to one document leave one record, and each counts. */
  changeCount = 0;
  /** When the first of them was made, by the monotonic clock and as Unix time. */
  since: { readonly elapsed: number; readonly now: number } | undefined;

  get size(): number {
    const inParts = this.#parts.reduce((size, { length }) => size + length, 0);
    return this.#records.size + inParts + this.deletes.size;
  }

  /**
   * New versions, at most one a key: the newest. Those of {@link parts} are left out.
   * Invariant: every record in here is the newest version of its key and has its body.
   */
  get records(): ReadonlySet<StoredRecord> {
    return this.#records;
  }

  /** New records that came together; all of them are pending. */
  get parts(): readonly RecordPart[] {
    return this.#parts;
  }

  /** Whether it is one of the new versions. */
  has(record: StoredRecord): boolean {
    return this.#records.has(record) || this.#parts.some((part) => part.has(record));
  }

  add(record: StoredRecord): void {
    this.#records.add(record);
  }

  addPart(part: RecordPart): void {
    if (part.isMade) for (const record of part.records()) this.#records.add(record);
    else this.#parts.push(part);
  }

  /** Removes a version, if it is one of these. */
  remove(record: StoredRecord): void {
    if (this.#records.delete(record) || !this.has(record)) return;
    this.#dissolveParts();
    this.#records.delete(record);
  }

  /** Takes back the changes of a save that failed, where no later change has overtaken them. */
  restore(failed: PendingChanges, current: (key: string) => StoredRecord | undefined): void {
    failed.#dissolveParts();
    for (const record of failed.records)
      if (current(record.key) === record) this.#records.add(record);
    for (const [key, record] of failed.deletes) this.deletes.set(key, record);
    this.changeCount += failed.changeCount;
    // Without changes of its own: the write was that of a backup.
    this.since = failed.since ?? this.since;
  }

  /** From now on each of their records is pending by itself. */
  #dissolveParts(): void {
    for (const part of this.#parts) for (const record of part.records()) this.#records.add(record);
    this.#parts = [];
  }
}

/** A save under way. */
export interface BegunSave extends LogWrite {
  /** How many changes it writes. */
  readonly changes: number;
}

/** The key of a watermark: a client and one of its handles. */
export function watermarkKey({
  client,
  handle,
}: Pick<IdempotencyKey, 'client' | 'handle'>): string {
  return `${client}#${handle}`;
}

export function parseWatermarkKey(key: string): Pick<IdempotencyKey, 'client' | 'handle'> {
  const at = key.lastIndexOf('#');
  return { client: key.slice(0, at), handle: Number(key.slice(at + 1)) };
}

/**
 * Begins, among watermarks, an end of a collection. The new name follows, which is empty where it
 * was dropped, `#` and the last end of that name.
 */
export const END = '#';

/** The client handles whose changes a save carries, by {@link watermarkKey}. */
type ChangedHandles = ReadonlySet<string>;

const none: ChangedHandles = new Set();

/**
 * The changes of clients that a collection has applied, saved or not. A change that a client
 * replays or retries is applied only if it is not in here.
 */
export class AppliedChanges {
  readonly #clock: Clock;
  readonly #applied = new Watermarks();
  /** Handles with changes that no save has taken yet. */
  #unsaved = new Set<string>();
  /** Handles whose changes are being saved. */
  #saving: ChangedHandles = none;
  /** Those that are no client's: how collections of the name have ended, in order. */
  ends: readonly Watermark[] = [];
  /** Watermarks of durable changes that {@link takeReleased} has not returned yet. */
  #released: Watermark[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds what storage has. Must be called once the log is open. */
  load(stored: Iterable<Watermark>): void {
    this.#applied.merge(stored);
    this.ends = this.watermarks.filter(([origin]) => origin.startsWith(END));
  }

  /** The last end of a collection of the name, 0 where none has ended. */
  get lastEnd(): number {
    return this.ends.at(-1)?.[1] ?? 0;
  }

  /**
   * What has become of the collection of a handle: `undefined` if it is this one, else the name
   * that it goes on by, which is empty where it was dropped, and the last end of that name then.
   *
   * @param born The last end of the name when it was opened, if that is known.
   */
  endOf(born: number | undefined): { readonly to: string; readonly born: number } | undefined {
    const end = this.ends.find(([, number]) => number > (born as number));
    if (!end) return undefined;
    const [, to = '', last] = /#(.*)#(.*)/s.exec(end[0]) ?? [];
    return { to, born: Number(last) };
  }

  has(key: IdempotencyKey): boolean {
    return this.#applied.has(watermarkKey(key), key.number);
  }

  /** Must be called in the same turn as the change. */
  note(key: IdempotencyKey): void {
    const handle = watermarkKey(key);
    this.#applied.note(handle, key.number, this.#clock.now());
    this.#unsaved.add(handle);
  }

  /** Whether another client has made changes that are not durable yet. */
  hasUnsavedOfOthers(client: string): boolean {
    const isOther = (handle: string) => parseWatermarkKey(handle).client !== client;
    return [...this.#unsaved, ...this.#saving].some(isOther);
  }

  get watermarks(): readonly Watermark[] {
    return [...this.#applied];
  }

  watermarksOf(handles: ChangedHandles): Watermark[] {
    return Array.from(handles, (handle) => this.#applied.get(handle) as Watermark);
  }

  /** The handles whose changes the save that begins now carries. */
  takeUnsaved(): ChangedHandles {
    const handles = this.#unsaved;
    this.#unsaved = new Set();
    this.#saving = handles;
    return handles;
  }

  /** A save failed: the next carries its changes. */
  restore(handles: ChangedHandles): void {
    this.#saving = none;
    for (const handle of handles) this.#unsaved.add(handle);
  }

  /** A save made these durable. */
  release(watermarks: readonly Watermark[]): void {
    this.#saving = none;
    this.#released.push(...watermarks);
  }

  /**
   * Watermarks of the changes that became durable since the last call.
   *
   * @param nothingUnsaved Whether no record waits for a save: one inserted and deleted between two
   *   saves leaves none.
   */
  takeReleased(nothingUnsaved: boolean): readonly Watermark[] {
    if (nothingUnsaved && this.#unsaved.size > 0)
      this.release(this.watermarksOf(this.takeUnsaved()));
    const released = this.#released;
    this.#released = [];
    return released;
  }
}
