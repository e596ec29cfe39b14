import type { EntrySlice, Ranked } from '../index/leaf.ts';
import type { IndexPosition, SecondaryIndex } from '../index/secondary-index.ts';
import type { SortKey, SortOrder } from '../sort/compile-sort.ts';
import type { IndexPlan, PlanByKeys } from './plan.ts';
import type { Indexes } from './plan-query.ts';

/** The last document of a page: what it is sorted by, and its rank. */
export interface PageEnd {
  /** As `order.keyOf` gives it; of no account without an order. */
  readonly key: SortKey;
  readonly rank: number;
}

export interface PlanSource<E extends Ranked> {
  readonly indexes: Indexes<E>;
  /** The entry with an `_id`. */
  readonly byId: (id: string) => E | undefined;
  /** The order the plan was made for. */
  readonly order?: SortOrder | undefined;
  /** Where to go on; only for an index plan that is ordered. */
  readonly from?: PageEnd | undefined;
}

/**
 * Reads the candidates of a plan, each once, in its order. Take what you need before an index changes: what
 * it gives afterwards is anything.
 *
 * @example
 * ```ts
 * const reader = new PlanReader(plan, { indexes, byId });
 * for (let entry = reader.next(); entry; entry = reader.next()) if (test(entry)) found.push(entry);
 * ```
 */
export class PlanReader<E extends Ranked> {
  /** Keys looked at so far. */
  keys = 0;
  readonly #runs: Generator<EntrySlice<E>>;
  readonly #seen: Set<number> | undefined;
  #run: EntrySlice<E> = { entries: [], from: 0, to: 0 };
  #at = 0;

  constructor(plan: PlanByKeys, source: PlanSource<E>) {
    this.#runs = runsOf(plan, source);
    if (repeats(plan, source)) this.#seen = new Set();
  }

  /** The next candidate, `undefined` when there is none left. */
  next(): E | undefined {
    for (;;) {
      while (this.#at < this.#run.to) {
        const entry = this.#run.entries[this.#at++] as E;
        this.keys++;
        if (!this.#seen) return entry;
        if (this.#seen.has(entry.rank)) continue;
        this.#seen.add(entry.rank);
        return entry;
      }
      const { done, value } = this.#runs.next();
      if (done) return undefined;
      this.#run = value;
      this.#at = value.from;
    }
  }

  /** How many there are, none of them looked at unless one may come twice; in the place of `next`. */
  count(): number {
    let count = 0;
    if (this.#seen) while (this.next()) count++;
    else for (const { from, to } of this.#runs) count += to - from;
    return count;
  }
}

/** Whether an entry may be found more than once. */
function repeats<E extends Ranked>(plan: PlanByKeys, { indexes }: PlanSource<E>): boolean {
  if (plan.kind !== 'index') return plan.kind === 'union';
  return !plan.ordered && indexOf(plan, indexes).definition.multi;
}

function* runsOf<E extends Ranked>(
  plan: PlanByKeys,
  source: PlanSource<E>,
): Generator<EntrySlice<E>> {
  if (plan.kind === 'union') {
    for (const branch of plan.branches) yield* runsOf(branch, source);
  } else if (plan.kind === 'ids') {
    yield runOf(plan.ids.flatMap((id) => source.byId(id) ?? []));
  } else {
    const index = indexOf(plan, source.indexes);
    const start = startOf(plan, index, source);
    for (const range of plan.reverse ? plan.ranges.toReversed() : plan.ranges) {
      yield* index.runs(range, plan.reverse, start);
    }
    if (index.unkeyed.size > 0) yield runOf([...index.unkeyed.values()]);
  }
}

function runOf<E>(entries: readonly E[]): EntrySlice<E> {
  return { entries, from: 0, to: entries.length };
}

function indexOf<E extends Ranked>({ index }: IndexPlan, indexes: Indexes<E>): SecondaryIndex<E> {
  return indexes.get(index) as SecondaryIndex<E>;
}

/** The end of the last page as a key of the index: its sorted fields, and for the others their one value. */
function startOf<E extends Ranked>(
  { ranges }: IndexPlan,
  { definition }: SecondaryIndex<E>,
  { from, order }: PlanSource<E>,
): IndexPosition | undefined {
  if (!from) return undefined;
  const sorted = order?.fields ?? [];
  const values = sorted.length === 1 ? [from.key] : (from.key as readonly unknown[]);
  const key = definition.fields.map((path, at) => {
    const place = sorted.findIndex((field) => field.path === path);
    return place < 0 ? ranges[0]?.from[at] : values[place];
  });
  return { key, rank: from.rank };
}
