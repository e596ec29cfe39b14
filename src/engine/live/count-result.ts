import type { RecordStore } from '../record-store.ts';
import { type RecordTest, Scan } from '../scan.ts';
import type { Work } from '../work.ts';
import type { LiveNews } from './live-protocol.ts';
import type { BodyOf, LiveResult } from './live-result.ts';

/** How many documents match. */
export class CountResult implements LiveResult {
  readonly #records: RecordStore;
  readonly #test: RecordTest;
  readonly #members = new Set<string>();
  /** `undefined` until the first was. */
  #told: number | undefined;

  constructor(records: RecordStore, test: RecordTest) {
    this.#records = records;
    this.#test = test;
  }

  update(keys: ReadonlySet<string>, bodyOf: BodyOf): boolean {
    for (const key of keys) {
      const record = this.#records.get(key);
      if (record && this.#test(record, bodyOf(record))) this.#members.add(key);
      else this.#members.delete(key);
    }
    return this.#members.size !== this.#told;
  }

  *next(): Work<LiveNews | undefined> {
    if (this.#told === undefined) yield* this.#load();
    if (this.#told === this.#members.size) return undefined;
    this.#told = this.#members.size;
    return { count: this.#told };
  }

  *#load(): Work<void> {
    const scan = new Scan(this.#records);
    try {
      const note: RecordTest = (record, body) => {
        if (this.#test(record, body)) this.#members.add(record.key);
        return false;
      };
      yield* scan.next(note, 1);
    } finally {
      scan.end();
    }
  }
}
