import { peek } from '../codec/body.ts';
import { CriteriaError } from '../errors/criteria-error.ts';
import type { Plan, PlanByKeys } from '../query/plan/plan.ts';
import { planQuery } from '../query/plan/plan-query.ts';
import { PlanReader } from '../query/plan/read-plan.ts';
import type { SegmentBodies } from '../storage/segment.ts';
import type { StoredRecord } from '../storage/stored-record.ts';
import { BodyReader, bySegment } from './body-reader.ts';
import { type CompiledSelection, compileSelection } from './compiled-selection.ts';
import type { StoreContext } from './context.ts';
import {
  FirstMatches,
  type Matches,
  OldestMatches,
  type PageEnd,
  SortedMatches,
} from './matches.ts';
import type { Pace } from './pace.ts';
import type { After, Selection } from './protocol.ts';
import { type RecordTest, Scan } from './scan.ts';
import type { Work } from './work.ts';

/** Candidates whose bodies are read at once when a limit may end the query early. */
const BATCH = 256;

/** One question to a collection of documents: how it is answered, and what that cost. */
export class Query {
  readonly plan: Plan;
  readonly compiled: CompiledSelection;
  /** Keys of indexes looked at so far. */
  keys = 0;
  /** Documents looked into so far. */
  documents = 0;
  /** With a limit: where the page ends. */
  end: PageEnd | undefined;
  readonly #context: StoreContext;
  readonly #pace: Pace;
  readonly #skip: number;
  readonly #most: number;
  readonly #after: PageEnd | undefined;

  /** @throws {CriteriaError} naming the place. */
  constructor(context: StoreContext, selection: Partial<Selection>, pace: Pace) {
    const { skip = 0, limit = Number.POSITIVE_INFINITY } = selection;
    this.#context = context;
    this.#pace = pace;
    this.#skip = skip;
    this.#most = skip + limit;
    this.compiled = compileSelection(context, selection);
    this.#after = selection.after && this.#pageEnd(selection.after);
    const { criteria, order } = this.compiled;
    this.plan = planQuery<StoredRecord>({
      criteria,
      order,
      indexes: context.indexes.byName,
      limit: this.#most,
    });
  }

  /** Whether matches can be handed over as a scan comes by them, without having all of them first. */
  get streams(): boolean {
    return (
      this.plan.kind === 'scan' &&
      !this.compiled.order &&
      !this.#after &&
      this.#skip === 0 &&
      this.#most === Number.POSITIVE_INFINITY
    );
  }

  /** The records that match, in order. */
  *records(): Work<StoredRecord[]> {
    const matches = this.#gather();
    const release = this.#context.records.pin();
    try {
      if (this.#most === 0) return [];
      if (this.plan.kind === 'scan') yield* this.#scan(matches);
      else yield* this.#read(this.plan, matches);
    } finally {
      release();
    }
    const records = matches.records().slice(this.#skip);
    const last = records.at(-1);
    if (last && Number.isFinite(this.#most)) this.end = yield* this.#endOf(last);
    return records;
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
    const inOrder = ordered && (kind !== 'scan' || this.#context.records.resident);
    if (inOrder) return new FirstMatches(this.#most);
    if (!order) return new OldestMatches(this.#most);
    return new SortedMatches(this.compiled, this.#most, this.#after);
  }

  *#scan(matches: Matches): Work<void> {
    const { test, order } = this.compiled;
    const wanted = this.#wanted(order === undefined);
    const scan = new Scan(this.#context.records, this.#pace);
    let complete = false;
    const visit: RecordTest = (record, body) => {
      if (!wanted(record)) return false;
      this.documents++;
      if (!test || test(record, body)) complete = !matches.add(record, body);
      return complete;
    };
    try {
      yield* scan.next(visit, { limit: 1, bound: matches });
    } finally {
      scan.end();
    }
  }

  *#read(plan: PlanByKeys, matches: Matches): Work<void> {
    const { records, indexes } = this.#context;
    const { test, order } = this.compiled;
    const reader = new PlanReader<StoredRecord>(plan, {
      indexes: indexes.byName,
      byId: (id) => records.get(id),
      order,
      from: plan.kind === 'index' && plan.ordered ? this.#after : undefined,
    });
    const tested = plan.exact ? undefined : test;
    const looks = tested !== undefined || (order !== undefined && !plan.ordered);
    const wanted = this.#wanted(order === undefined);
    const visit = (record: StoredRecord, body: StoredRecord['body']): boolean => {
      if (!looks) return matches.add(record, undefined);
      this.documents++;
      if (tested && !tested(record, body as NonNullable<typeof body>)) return true;
      return matches.add(record, body);
    };
    try {
      for (let record = reader.next(); record; record = reader.next()) {
        if (!wanted(record)) continue;
        if ((looks && record.body === undefined) || this.#pace.due) {
          // An index must not be read on after a pause: it may have changed.
          const rest = [record, ...drain(reader)].filter(wanted);
          yield* plan.ordered
            ? this.#inOrder(rest, looks, visit)
            : this.#inAnyOrder(rest, looks, visit);
          return;
        }
        if (!visit(record, record.body)) return;
      }
    } finally {
      this.keys = reader.keys;
    }
  }

  *#inOrder(candidates: StoredRecord[], looks: boolean, visit: Visit): Work<void> {
    for (let from = 0; from < candidates.length; from += BATCH) {
      const batch = candidates.slice(from, from + BATCH);
      const bodies = looks ? yield* this.#context.records.bodiesOf(batch) : [];
      for (const [index, record] of batch.entries()) {
        if (this.#pace.due) yield* this.#pace.pause();
        if (!visit(record, bodies[index])) return;
      }
    }
  }

  /** Segment by segment, each read once. */
  *#inAnyOrder(candidates: StoredRecord[], looks: boolean, visit: Visit): Work<void> {
    const { records } = this.#context;
    const groups = looks ? bySegment(candidates) : new Map([[0, candidates]]);
    const numbers = [...groups.keys()].filter((number) => number > 0);
    const reader = new BodyReader(records.log, numbers);
    for (const [number, group] of groups) {
      let bodies: SegmentBodies | undefined;
      if (number > 0) bodies = yield* reader.take(number);
      for (const record of group) {
        if (this.#pace.due) yield* this.#pace.pause();
        let body = records.bodyIn(record, bodies);
        if (looks && body === undefined) body = yield* records.body(record);
        visit(record, body);
      }
    }
  }

  /** Tells by what a record says itself, without its body. */
  #wanted(byRank: boolean): (record: StoredRecord) => boolean {
    const { wanted } = this.compiled;
    const after = this.#after;
    if (!after || !byRank) return wanted;
    return (record) => record.order > after.order && wanted(record);
  }

  #pageEnd({ id, order, key, body }: After): PageEnd {
    const rank = order ?? this.#context.records.get(id)?.order;
    if (rank === undefined) {
      throw new CriteriaError(
        'after_unknown',
        'The document given as "after" is not in the collection any more; pass one that a call with a limit returned.',
        { place: 'after' },
      );
    }
    if (body === undefined) return { key, order: rank };
    return { key: this.compiled.order?.keyOf(peek(body) as object), order: rank };
  }
}

type Visit = (record: StoredRecord, body: StoredRecord['body']) => boolean;

function drain(reader: PlanReader<StoredRecord>): StoredRecord[] {
  const rest: StoredRecord[] = [];
  for (let record = reader.next(); record; record = reader.next()) rest.push(record);
  return rest;
}
