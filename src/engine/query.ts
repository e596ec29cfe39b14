import { type Body, peek } from '../codec/body.ts';
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
    const release = this.#context.records.pin();
    try {
      if (this.#most === 0) return [];
      const { plan } = this;
      const { test, order, byFields } = this.compiled;
      const { records } = this.#context;
      const values = byFields && (test ?? order) ? records.decoded() : undefined;
      if (plan.kind !== 'scan') yield* this.#read(plan, matches);
      else if (values) yield* this.#scanDecoded(values, matches);
      else if (test ?? order) yield* this.#scan(matches);
      else yield* this.#visit(records.list().values(), matches, false);
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
    const scans = kind === 'scan' && this.compiled.test !== undefined;
    const inOrder = ordered && (!scans || this.#context.records.resident);
    // A page can only begin in the middle of what an index gives in order.
    if (order && !(inOrder && (kind === 'index' || !this.#after)))
      return new SortedMatches(order, this.#most, this.#after);
    return inOrder ? new FirstMatches(this.#most) : new OldestMatches(this.#most);
  }

  /** Goes over decoded documents, all in memory: nothing of a record is touched unless it matches. */
  *#scanDecoded(documents: readonly object[], matches: Matches): Work<void> {
    const { documentTest, order } = this.compiled;
    const wanted = this.#wanted(order === undefined);
    const records = this.#context.records.list();
    for (let from = 0; from < documents.length; from += BATCH) {
      const to = Math.min(from + BATCH, documents.length);
      for (let index = from; index < to; index++) {
        const document = documents[index] as object;
        if (documentTest && !documentTest(document)) continue;
        const record = records[index] as StoredRecord;
        if (wanted(record) && !matches.add(record, document)) {
          this.documents += index - from + 1;
          return;
        }
      }
      this.documents += to - from;
      if (this.#pace.late) yield* this.#pace.pause();
    }
  }

  *#scan(matches: Matches): Work<void> {
    const { test, order, sorted } = this.compiled;
    const wanted = this.#wanted(order === undefined);
    const scan = new Scan(this.#context.records, this.#pace);
    let complete = false;
    const visit: RecordTest = (record, body) => {
      if (!wanted(record)) return false;
      this.documents++;
      if (!test || test(record, body))
        complete = !matches.add(record, order && sorted(record, body));
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
    const { order } = this.compiled;
    const reader = new PlanReader<StoredRecord>(plan, {
      indexes: indexes.byName,
      byId: (id) => records.get(id),
      order,
      from: plan.kind === 'index' && plan.ordered ? this.#after : undefined,
    });
    try {
      yield* this.#visit(candidates(reader), matches, !plan.exact);
    } finally {
      this.keys = reader.keys;
    }
  }

  /** @param tests Whether the criteria have to be looked at still. */
  *#visit(candidates: Iterator<StoredRecord>, matches: Matches, tests: boolean): Work<void> {
    const { test, order, sorted } = this.compiled;
    const tested = tests ? test : undefined;
    const keyed = matches instanceof SortedMatches;
    const looks = tested !== undefined || keyed;
    const wanted = this.#wanted(order === undefined);
    const visit: Visit = (record, body) => {
      if (!looks) return matches.add(record);
      this.documents++;
      if (tested && !tested(record, body as Body)) return true;
      return keyed ? matches.add(record, sorted(record, body as Body)) : matches.add(record);
    };
    for (let next = candidates.next(); !next.done; next = candidates.next()) {
      const record = next.value;
      if (!wanted(record)) continue;
      if ((looks && record.body === undefined) || this.#pace.due) {
        // An index must not be read on after a pause: it may have changed.
        const rest = [record, ...candidatesLeft(candidates)].filter(wanted);
        yield* matches instanceof FirstMatches
          ? this.#inOrder(rest, looks, visit)
          : this.#inAnyOrder(rest, looks, visit);
        return;
      }
      if (!visit(record, record.body)) return;
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

type Visit = (record: StoredRecord, body: Body | undefined) => boolean;

function* candidates(reader: PlanReader<StoredRecord>): Generator<StoredRecord> {
  for (let record = reader.next(); record; record = reader.next()) yield record;
}

function candidatesLeft(candidates: Iterator<StoredRecord>): StoredRecord[] {
  const rest: StoredRecord[] = [];
  for (let next = candidates.next(); !next.done; next = candidates.next()) rest.push(next.value);
  return rest;
}
