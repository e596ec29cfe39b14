import type { Coroutine } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { RecordBodies } from '../records/record-bodies.ts';

/** Bytes of encoded documents that are kept for an index. */
const MOST = 4 * 1024 * 1024;

/**
 * What the last searches have read, the oldest first. Each hit is in another segment, and reading
 * one of 96 kB for a single document takes most of the time of a search; with each letter that a
 * user types, and with each change beside a live search, nearly the same documents are found.
 *
 * A record is a version, which never changes.
 */
export class RecentBodies {
  readonly #bodies = new Map<StoredRecord, Body>();
  #size = 0;

  /** The bodies of records, in their order. */
  *ofAll(stored: RecordBodies, records: readonly StoredRecord[]): Coroutine<Body[]> {
    const known = new Map<StoredRecord, Body>();
    for (const record of records) {
      const body = record.body ?? this.#bodies.get(record);
      if (body !== undefined) known.set(record, body);
    }
    const missing = records.filter((record) => !known.has(record));
    const read = missing.length > 0 ? yield* stored.ofAll(missing) : [];
    for (const [at, record] of missing.entries()) known.set(record, read[at] as Body);
    for (const [record, body] of known) if (record.body === undefined) this.#keep(record, body);
    return records.map((record) => known.get(record) as Body);
  }

  #keep(record: StoredRecord, body: Body): void {
    this.#drop(record);
    this.#bodies.set(record, body);
    this.#size += bodySize(body);
    for (const oldest of this.#bodies.keys()) {
      if (this.#size <= MOST) break;
      this.#drop(oldest);
    }
  }

  #drop(record: StoredRecord): void {
    const body = this.#bodies.get(record);
    if (this.#bodies.delete(record)) this.#size -= bodySize(body as Body);
  }
}
