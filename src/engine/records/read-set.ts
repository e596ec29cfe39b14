import type { Coroutine } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { RecordBodies } from './record-bodies.ts';
import type { Visited } from './scan.ts';

export interface ReadQuery {
  /** Whether {@link isChangedBy} needs the bodies of the versions. */
  readonly needsBodies: boolean;
  /** Whether the result differs since a version took the place of another. */
  isChangedBy(before: Visited | undefined, after: Visited | undefined): boolean;
}

/** What a transaction has read of a collection. */
export class ReadSet {
  /** Keys that were looked up, whether they exist or not. */
  readonly #keys = new Set<string>();
  readonly #queries: ReadQuery[] = [];

  get keys(): ReadonlySet<string> {
    return this.#keys;
  }

  addKey(key: string): void {
    this.#keys.add(key);
  }

  addQuery(query: ReadQuery): void {
    this.#queries.push(query);
  }

  get hasQueries(): boolean {
    return this.#queries.length > 0;
  }

  /** Whether a query would find something else since a version took the place of another. */
  *isChangedBy(
    before: StoredRecord | undefined,
    after: StoredRecord | undefined,
    bodies: RecordBodies,
  ): Coroutine<boolean> {
    if (before === after) return false;
    const needsBodies = this.#queries.some((query) => query.needsBodies);
    const versions: (Visited | undefined)[] = [];
    for (const record of [before, after]) {
      const body = record && needsBodies ? yield* bodies.of(record) : undefined;
      versions.push(record && { record, body: body as Body });
    }
    return this.#queries.some((query) => query.isChangedBy(versions[0], versions[1]));
  }
}
