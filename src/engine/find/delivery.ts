import type { Coroutine } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import { bodySize } from '../../codec/size.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { Records } from '../records/record-store.ts';
import { type RecordTest, Scan, type Visited } from '../records/scan.ts';
import type { Delivery } from './late-reads.ts';
import type { DocumentQuery } from './query.ts';

/** Documents whose bodies are read together. */
const BATCH = 256;

/** Streams the matches of a scan as it finds them. */
export class ScanDelivery implements Delivery {
  readonly sorted = false;
  readonly #scan: Scan;
  readonly #test: RecordTest;

  constructor(store: Records, { wanted, test }: DocumentQuery['compiled'], pace: Pace) {
    this.#scan = new Scan(store, pace);
    this.#test = test ? (record, body) => wanted(record) && test(record, body) : wanted;
  }

  get done(): boolean {
    return this.#scan.done;
  }

  get floor(): number {
    return this.#scan.floor;
  }

  next(limit: number, size: number): Coroutine<Visited[]> {
    return this.#scan.next(this.#test, { limit, size });
  }

  end(): void {
    this.#scan.end();
  }
}

/** Streams a list of records. */
export class ListDelivery implements Delivery {
  readonly sorted = true;
  readonly floor = 0;
  readonly #store: Pick<Records, 'bodies' | 'pin'>;
  readonly #records: readonly StoredRecord[];
  readonly #release: () => void;
  #at = 0;

  constructor(store: Pick<Records, 'bodies' | 'pin'>, records: readonly StoredRecord[]) {
    this.#store = store;
    this.#records = records;
    this.#release = store.pin();
  }

  get done(): boolean {
    return this.#at >= this.#records.length;
  }

  *next(limit: number, size: number): Coroutine<Visited[]> {
    const found: Visited[] = [];
    let room = size;
    while (!this.done && found.length < limit && room > 0) {
      // Read together; how large they are is known only then.
      const batch = this.#records.slice(this.#at, this.#at + Math.min(BATCH, limit - found.length));
      const bodies = yield* this.#store.bodies.ofAll(batch);
      for (const [index, body] of bodies.entries()) {
        found.push({ record: batch[index] as StoredRecord, body });
        room -= bodySize(body);
        this.#at++;
        if (room <= 0) break;
      }
    }
    return found;
  }

  end(): void {
    this.#at = this.#records.length;
    this.#release();
  }
}
