import type { Coroutine } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import { nameCollection } from '../../errors/errors.ts';
import type { Selection } from '../../protocol/requests.ts';
import type { Plan } from '../../query/plan/plan.ts';
import { type PlannedQuery, planQuery } from '../../query/plan/plan-query.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import type { ReadQuery } from '../records/read-set.ts';
import { Candidates } from './candidates.ts';
import { type CompiledSelection, compileSelection } from './compiled-selection.ts';
import {
  type CollectedPageEnd,
  CountedMatches,
  FirstMatches,
  OldestMatches,
  type ResultCollector,
  SortedMatches,
} from './result-collector.ts';

/** One question to a collection of documents: how it is answered, and what that cost. */
export class DocumentQuery implements ReadQuery {
  readonly plan: Plan;
  /** What it was made of. */
  readonly planned: PlannedQuery;
  readonly compiled: CompiledSelection;
  readonly pace: Pace;
  /** The counts for `explain`, so far. */
  readonly candidates: Candidates;
  /** With a limit: where the page ends. */
  end: CollectedPageEnd | undefined;
  readonly #context: OperationContext;
  readonly #skip: number;
  readonly #most: number;
  readonly #after: CollectedPageEnd | undefined;
  last: CollectedPageEnd | undefined;
  counts = false;

  /**
   * @param after The `pageStart` of `selection.after`.
   * @throws {CriteriaError} naming the collection and the place.
   */
  constructor(
    context: OperationContext,
    selection: Partial<Selection>,
    pace: Pace,
    after?: CollectedPageEnd,
  ) {
    const { skip = 0, limit = Number.POSITIVE_INFINITY } = selection;
    this.#context = context;
    this.pace = pace;
    this.#skip = skip;
    this.#most = skip + limit;
    this.compiled = compileSelection(context, selection);
    context.reads?.addQuery(this);
    this.#after = after;
    this.candidates = new Candidates(context, this.compiled, pace, this.#after);
    const { criteria, collation, order } = this.compiled;
    this.planned = {
      criteria,
      collation,
      archived: this.compiled.archived,
      order,
      indexes: context.indexes.byName,
      limit: this.#most,
      documents: context.records.total,
      isDecoded: this.compiled.byFields && context.records.isDecoded,
    };
    this.plan = planQuery(this.planned);
  }

  /** Whether matches can be streamed as a scan finds them. */
  get streams(): boolean {
    return (
      this.plan.kind === 'scan' &&
      !(this.compiled.test && this.#context.records.bodies.resident) &&
      !this.compiled.order &&
      !this.#after &&
      this.#skip === 0 &&
      this.#most === Number.POSITIVE_INFINITY
    );
  }

  /** The records that match, in order. */
  *records(): Coroutine<StoredRecord[]> {
    const matches = this.#gather();
    yield* this.#read(matches);
    const records = matches.records().slice(this.#skip);
    const last = records.at(-1);
    if (last && Number.isFinite(this.#most)) this.end = yield* this.#endOf(last);
    if (records.length === this.#most - this.#skip) this.last = this.end;
    return records;
  }

  /** How many records match. */
  *count(): Coroutine<number> {
    // `after` is defined by the order.
    this.counts = !this.#after;
    if (this.#after) return (yield* this.records()).length;
    const counted = this.candidates.counted(this.plan);
    if (counted !== undefined) return Math.max(0, Math.min(counted, this.#most) - this.#skip);
    const matches = new CountedMatches(this.#most);
    yield* this.#read(matches);
    return Math.max(0, matches.count - this.#skip);
  }

  *#read(matches: ResultCollector): Coroutine<void> {
    const release = this.#context.records.pin();
    try {
      if (this.#most > 0) yield* this.candidates.read(this.plan, matches);
    } catch (error) {
      throw nameCollection(error, this.#context.settings.name);
    } finally {
      release();
    }
  }

  *#endOf(record: StoredRecord): Coroutine<CollectedPageEnd> {
    const { order, sorted } = this.compiled;
    if (!order) return { key: undefined, rank: record.rank };
    const body = yield* this.#context.records.bodies.of(record);
    return { key: order.keyOf(sorted(record, body)), rank: record.rank };
  }

  #gather(): ResultCollector {
    const { order } = this.compiled;
    const { kind, ordered } = this.plan;
    const { bodies, overlay } = this.#context.records;
    // A scan of records that are not in memory comes segment by segment, what an index does not
    // know of comes last.
    const inOrder =
      ordered &&
      (kind === 'scan' ? this.compiled.test === undefined || bodies.comeInOrder : !overlay);
    // A page can only start in the middle of an index in order.
    if (order && !(inOrder && (kind === 'index' || !this.#after)))
      return new SortedMatches(order, this.#most, this.#after);
    return inOrder ? new FirstMatches(this.#most) : new OldestMatches(this.#most);
  }
}
