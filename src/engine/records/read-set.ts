import type { Coroutine } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import type { SortKey, SortOrder } from '../../query/sort/compile-sort.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { RecordBodies } from './record-bodies.ts';
import type { RecordTest, Visited } from './scan.ts';

/** What a query looks for, to notice that it would find something else. */
export interface ReadQuery {
  readonly compiled: {
    /** Needs no body. */
    readonly wanted: (record: StoredRecord) => boolean;
    readonly test?: RecordTest | undefined;
    readonly order?: SortOrder | undefined;
    readonly sorted: (record: StoredRecord, body: Body) => object;
  };
  /** Whether only the number of matches was read. */
  readonly counts: boolean;
  /** Where the result ends because of the limit: no later record changes it. */
  readonly last?: { readonly key: SortKey; readonly rank: number } | undefined;
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
    const needsBodies = this.#queries.some(({ compiled }) => compiled.test ?? compiled.order);
    const versions: (Visited | undefined)[] = [];
    for (const record of [before, after]) {
      const body = record && needsBodies ? yield* bodies.of(record) : undefined;
      versions.push(record && { record, body: body as Body });
    }
    return this.#queries.some((query) => {
      const [was, is] = versions.map((version) => version !== undefined && counts(query, version));
      return query.counts ? was !== is : was || is;
    });
  }
}

/** Whether a record matches, and does not come after the end of the result. */
function counts({ compiled, last }: ReadQuery, { record, body }: Visited): boolean {
  const { wanted, test, order, sorted } = compiled;
  if (!wanted(record) || (test && !test(record, body))) return false;
  if (!last) return true;
  const compared = order ? order.compare(order.keyOf(sorted(record, body)), last.key) : 0;
  return (compared || record.rank - last.rank) <= 0;
}
