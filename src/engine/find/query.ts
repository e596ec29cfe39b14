import { peek } from '../../codec/body.ts';
import { CriteriaError } from '../../errors/criteria-error.ts';
import type { Plan } from '../../query/plan/plan.ts';
import { planQuery } from '../../query/plan/plan-query.ts';
import type { StoredRecord } from '../../storage/stored-record.ts';
import type { StoreContext } from '../context.ts';
import type { Pace } from '../pace.ts';
import type { After, Selection } from '../protocol.ts';
import type { Work } from '../work.ts';
import { Candidates } from './candidates.ts';
import { type CompiledSelection, compileSelection } from './compiled-selection.ts';
import {
  CountedMatches,
  FirstMatches,
  type Matches,
  OldestMatches,
  type PageEnd,
  SortedMatches,
} from './matches.ts';

/** One question to a collection of documents: how it is answered, and what that cost. */
export class Query {
  readonly plan: Plan;
  readonly compiled: CompiledSelection;
  /** What was looked at so far. */
  readonly candidates: Candidates;
  /** With a limit: where the page ends. */
  end: PageEnd | undefined;
  readonly #context: StoreContext;
  readonly #skip: number;
  readonly #most: number;
  readonly #after: PageEnd | undefined;

  /** @throws {CriteriaError} naming the place. */
  constructor(context: StoreContext, selection: Partial<Selection>, pace: Pace) {
    const { skip = 0, limit = Number.POSITIVE_INFINITY } = selection;
    this.#context = context;
    this.#skip = skip;
    this.#most = skip + limit;
    this.compiled = compileSelection(context, selection);
    this.#after = selection.after && this.#pageEnd(selection.after);
    this.candidates = new Candidates(context, this.compiled, pace, this.#after);
    const { criteria, order } = this.compiled;
    this.plan = planQuery<StoredRecord>({
      criteria,
      order,
      indexes: context.indexes.byName,
      limit: this.#most,
      decoded: this.compiled.byFields ? context.records.decodedSize : undefined,
    });
  }

  /** Whether matches can be handed over as a scan comes by them, without having all of them first. */
  get streams(): boolean {
    return (
      this.plan.kind === 'scan' &&
      !(this.compiled.test && this.#context.records.resident) &&
      !this.compiled.order &&
      !this.#after &&
      this.#skip === 0 &&
      this.#most === Number.POSITIVE_INFINITY
    );
  }

  /** The records that match, in order. */
  *records(): Work<StoredRecord[]> {
    const matches = this.#gather();
    yield* this.#read(matches);
    const records = matches.records().slice(this.#skip);
    const last = records.at(-1);
    if (last && Number.isFinite(this.#most)) this.end = yield* this.#endOf(last);
    return records;
  }

  /** How many records match. */
  *count(): Work<number> {
    // Where a page begins is a matter of order.
    if (this.#after) return (yield* this.records()).length;
    const counted = this.candidates.counted(this.plan);
    if (counted !== undefined) return Math.max(0, Math.min(counted, this.#most) - this.#skip);
    const matches = new CountedMatches(this.#most);
    yield* this.#read(matches);
    return Math.max(0, matches.count - this.#skip);
  }

  *#read(matches: Matches): Work<void> {
    const release = this.#context.records.pin();
    try {
      if (this.#most > 0) yield* this.candidates.read(this.plan, matches);
    } finally {
      release();
    }
  }

  *#endOf(record: StoredRecord): Work<PageEnd> {
    const { order, sorted } = this.compiled;
    if (!order) return { key: undefined, order: record.order };
    const body = yield* this.#context.records.body(record);
    return { key: order.keyOf(sorted(record, body)), order: record.order };
  }

  #gather(): Matches {
    const { order } = this.compiled;
    const { kind, ordered } = this.plan;
    // A scan of what is not in memory comes segment by segment.
    const scans = kind === 'scan' && this.compiled.test !== undefined;
    const inOrder = ordered && (!scans || this.#context.records.inOrder);
    // A page can only begin in the middle of what an index gives in order.
    if (order && !(inOrder && (kind === 'index' || !this.#after)))
      return new SortedMatches(order, this.#most, this.#after);
    return inOrder ? new FirstMatches(this.#most) : new OldestMatches(this.#most);
  }

  #pageEnd({ id, order, key, body }: After): PageEnd {
    const rank = order ?? this.#context.records.get(id)?.order;
    if (rank === undefined) {
      throw new CriteriaError(
        'after_unknown',
        'The document given as "after" is gone; pass another.',
        { place: 'after' },
      );
    }
    if (body === undefined) return { key, order: rank };
    return { key: this.compiled.order?.keyOf(peek(body) as object), order: rank };
  }
}
