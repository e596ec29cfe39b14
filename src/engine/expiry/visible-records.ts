import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { Records } from '../snapshots/records.ts';
import type { Hides } from './expiry-rules.ts';
import type { Expiry } from './expiry-times.ts';

/** The records of a collection without those that have expired. */
export class VisibleRecords implements Records {
  readonly overlay = undefined;
  readonly #records: RecordStore;
  readonly #expiry: Expiry;

  constructor(records: RecordStore, expiry: Expiry) {
    this.#records = records;
    this.#expiry = expiry;
  }

  get hides(): Hides | undefined {
    return this.#expiry.hiding();
  }

  get size(): number {
    return this.#records.size - this.#expiry.hidden;
  }

  get bodies(): RecordStore['bodies'] {
    return this.#records.bodies;
  }

  get log(): RecordStore['log'] {
    return this.#records.log;
  }

  get flags(): number {
    return this.#records.flags;
  }

  get decodedSize(): number | undefined {
    return this.#records.decodedSize;
  }

  get(key: string): StoredRecord | undefined {
    const record = this.#records.get(key);
    return record && !this.#expiry.isHidden(record) ? record : undefined;
  }

  vacate(key: string): boolean {
    return this.#expiry.vacate(key);
  }

  *keys(): Generator<string> {
    const hides = this.hides;
    for (const record of this.list()) if (!hides?.(record)) yield record.key;
  }

  list(): readonly StoredRecord[] {
    return this.#records.list();
  }

  decoded(): ReturnType<RecordStore['decoded']> {
    return this.#records.decoded();
  }

  pin(): () => void {
    return this.#records.pin();
  }

  takeRank(): number {
    return this.#records.takeRank();
  }
}
