import { type Coroutine, outcome } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import { type Body, encodeMade } from '../../codec/body.ts';
import { sameBody } from '../../codec/same-value.ts';
import { bodySize } from '../../codec/size.ts';
import type { AggregateAsk, ListPart } from '../../protocol/live-protocol.ts';
import type { Request } from '../../protocol/requests.ts';
import type { CompiledAccumulator } from '../../query/expressions/accumulators/compile-accumulator.ts';
import { BATCH, PipelineRun } from '../../query/pipeline/run.ts';
import { Collected, languageOf, openStages, type Sink } from '../../query/pipeline/stage.ts';
import type { SortKey } from '../../query/sort/compile-sort.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collection-context.ts';
import { documentReaders } from '../find/compiled-selection.ts';
import { provideReads } from '../find/late-reads.ts';
import { madeRead } from '../find/made-reads.ts';
import { DocumentQuery } from '../find/query.ts';
import { ListUpdates, type Match, OrderedMatches } from '../live/list-result.ts';
import { type LiveQueries, lateResults } from '../live/live-queries.ts';
import type { LiveReader } from '../live/live-reader.ts';
import type { BodyOf, MaintainedResult } from '../live/live-result.ts';
import type { RecordStore } from '../records/record-store.ts';
import { explainPipeline, explainQuery } from './explain.ts';
import { type LivePlan, livePlanOf, through } from './live-plan.ts';
import { compiledFor, type PipelineAsk, resultOf } from './result.ts';
import { type PipelineStart, readsWhole, startOf } from './source.ts';

provideReads({
  aggregate: madeRead(function* (context, request, pace) {
    if (request.op === 'explain')
      return request.pipeline
        ? yield* explainPipeline(context, request, pace)
        : yield* explainQuery(context, request);
    return (yield* resultOf(context, request, pace)).documents;
  }),
});
lateResults.aggregate = liveAggregate;

type Kept = ReturnType<NonNullable<CompiledAccumulator['makeInvertible']>>;

interface LiveGroup {
  readonly key: unknown;
  readonly name: string;
  readonly states: readonly (Kept | undefined)[];
  /** The members' places, by which groups are in order, and their `_id`s. */
  readonly first: Kept;
  count: number;
  /** As it is in the list. */
  match: Match | undefined;
}

/** What a document gives to its group. */
interface Member {
  readonly record: StoredRecord;
  readonly group: LiveGroup;
  readonly first: Placed;
  readonly values: readonly unknown[];
  readonly size: number;
}

/** Bytes of a member besides its values. */
const MEMBER_SIZE = 150;

interface Placed {
  readonly rank: number;
  readonly id: unknown;
}

/** Groups that are kept up to date by differences: a change costs what it touches. */
class LiveGroups implements MaintainedResult {
  readonly #context: CollectionContext;
  readonly #plan: LivePlan;
  readonly #query: () => DocumentQuery;
  readonly #compiled: DocumentQuery['compiled'];
  readonly #read: ReturnType<typeof documentReaders>['wholeOf'];
  readonly #keyOf: (value: unknown) => unknown;
  readonly #firstOf: NonNullable<CompiledAccumulator['makeInvertible']>;
  readonly #updates = new ListUpdates(({ delivered }) => delivered as Body);
  #members = new Map<string, Member>();
  #groups = new Map<unknown, LiveGroup>();
  #list: OrderedMatches;
  /** Counts what the members keep. */
  readonly #kept: PipelineRun;
  #isLoaded = false;
  #result: Match[] = [];

  constructor(context: CollectionContext, start: PipelineStart, plan: LivePlan) {
    const { clock, aborts } = context;
    this.#context = context;
    this.#plan = plan;
    this.#list = this.#emptyList();
    this.#kept = new PipelineRun(new Pace(clock, aborts));
    this.#query = () => new DocumentQuery(context, start.selection, new Pace(clock, aborts));
    this.#compiled = this.#query().compiled;
    const { fieldsOf, wholeOf } = documentReaders(context);
    this.#read = readsWhole(start.stages) ? wholeOf : fieldsOf;
    this.#keyOf = languageOf().keysIn(start.selection.collation);
    const first = languageOf().compileAccumulator({ $first: '$place' }, 'place', { now: 0 });
    this.#firstOf = first.makeInvertible as NonNullable<typeof first.makeInvertible>;
  }

  update(keys: ReadonlySet<string>, bodyOf: BodyOf): boolean {
    // The first result reads them all.
    if (!this.#isLoaded) return true;
    const touched = new Set<LiveGroup>();
    for (const key of keys) {
      const before = this.#members.get(key);
      const record = this.#context.records.get(key);
      if (before && before.record === record) continue;
      if (before) touched.add(this.#remove(before));
      const group = record && this.#add(record, bodyOf);
      if (group) touched.add(group);
    }
    return this.#refresh(touched);
  }

  reload(): void {
    this.#isLoaded = false;
  }

  *next(): Coroutine<ListPart | undefined> {
    if (!this.#updates.isDelivering) {
      if (!this.#isLoaded) yield* this.#load();
      const { from, to, rest } = this.#plan;
      const list = this.#list.list.slice(from, to);
      if (!this.#updates.begin(rest.length > 0 ? yield* this.#rest(list) : list)) return undefined;
    }
    return yield* this.#updates.part();
  }

  *#load(): Coroutine<void> {
    const { records } = this.#context;
    const query = this.#query();
    const found = yield* query.records();
    for (const { size } of this.#members.values()) this.#kept.release(size);
    const [members, groups] = [new Map<string, Member>(), new Map<unknown, LiveGroup>()];
    [this.#members, this.#groups] = [members, groups];
    for (let from = 0; from < found.length; from += BATCH) {
      const batch = found.slice(from, from + BATCH);
      const bodies = yield* records.bodies.ofAll(batch);
      for (const [at, record] of batch.entries()) this.#enter(record, bodies[at] as Body);
      if (query.pace.late) yield* query.pace.pause();
    }
    this.#isLoaded = true;
    const kept = this.#list;
    this.#list = this.#emptyList();
    const matches: Match[] = [];
    for (const group of groups.values()) {
      const made = this.#matchOf(group);
      const same = kept.get(group.name);
      group.match = same && made && this.#isSame(same, made) ? same : made;
      if (group.match) matches.push(group.match);
    }
    this.#list.reset(matches, true);
  }

  #emptyList(): OrderedMatches {
    const { order } = this.#plan;
    const compare = (a: unknown, b: unknown) => order?.compare(a as SortKey, b as SortKey) ?? 0;
    return new OrderedMatches(Number.POSITIVE_INFINITY, compare);
  }

  #add(record: StoredRecord, bodyOf: BodyOf): LiveGroup | undefined {
    const { isOfKind, test } = this.#compiled;
    if (!isOfKind(record)) return undefined;
    const body = bodyOf(record);
    return test && !test(record, body) ? undefined : this.#enter(record, body);
  }

  #enter(record: StoredRecord, body: Body): LiveGroup | undefined {
    const { rows, group } = this.#plan;
    const { key, rank } = record;
    const document = through(rows, this.#read(record, body));
    if (!document) return undefined;
    const id = group.id.evaluate(document) ?? null;
    const found = this.#groupOf(id);
    const first = { rank, id };
    const values = group.fields.map(({ read, unit }, at) => {
      const value = unit === undefined ? read(document) : undefined;
      found.states[at]?.add(value, rank);
      return value;
    });
    found.first.add(first, rank);
    found.count++;
    const size = MEMBER_SIZE + bodySize({ exact: values });
    this.#kept.charge(size, group.place);
    this.#members.set(key, { record, group: found, first, values, size });
    return found;
  }

  #groupOf(id: unknown): LiveGroup {
    const key = this.#keyOf(id);
    const known = this.#groups.get(key);
    if (known) return known;
    const { fields } = this.#plan.group;
    const states = fields.map(({ accumulator, unit }) =>
      unit === undefined ? accumulator.makeInvertible?.(id) : undefined,
    );
    const first = this.#firstOf();
    const name = nameOf(id, key);
    const made = { key, name, states, first, count: 0, match: undefined };
    this.#groups.set(key, made);
    return made;
  }

  #remove({ record, group, first, values, size }: Member): LiveGroup {
    this.#kept.release(size);
    const { rank } = first;
    for (const [at, state] of group.states.entries()) state?.remove(values[at], rank);
    group.first.remove(first, rank);
    this.#members.delete(record.key);
    if (--group.count === 0) this.#groups.delete(group.key);
    return group;
  }

  /** Brings touched groups up to date in the list. @returns whether one differs. */
  #refresh(touched: ReadonlySet<LiveGroup>): boolean {
    const out: Match[] = [];
    const into: Match[] = [];
    for (const group of touched) {
      const { match } = group;
      const after = group.count > 0 ? this.#matchOf(group) : undefined;
      if (match && after && this.#isSame(match, after)) continue;
      if (match) out.push(match);
      if (after) into.push(after);
      group.match = after;
    }
    if (out.length + into.length === 0) return false;
    this.#list.replace(out, into);
    return true;
  }

  #isSame(a: Match, b: Match): boolean {
    return this.#list.sameOrder(a, b) && sameBody(a.delivered, b.delivered);
  }

  /** A group as it is in the list; `undefined` where a `$match` leaves it out. */
  #matchOf(group: LiveGroup): Match | undefined {
    const { rank, id } = group.first.result() as Placed;
    const document: Record<string, unknown> = { _id: id };
    for (const [at, { name, unit }] of this.#plan.group.fields.entries())
      document[name] = unit === undefined ? group.states[at]?.result() : unit * group.count;
    const { before, order, after } = this.#plan;
    const sorted = through(before, document);
    const made = sorted && through(after, sorted);
    return made && matchOf(made, group.name, rank, order?.keyOf(sorted));
  }

  /** The stages that go over all that is shown. */
  *#rest(shown: readonly Match[]): Coroutine<Match[]> {
    const { clock, aborts } = this.#context;
    const run = new PipelineRun(new Pace(clock, aborts));
    const result = new Collected(run, 'pipeline');
    const sink: Sink = openStages(this.#plan.rest, run, result);
    const groups = shown.map(({ record }) => record.value as object);
    for (let from = 0; from < groups.length && !sink.isFull; from += BATCH) {
      yield* outcome(sink.take(groups.slice(from, from + BATCH)));
      yield* run.breathe();
    }
    yield* outcome(sink.end());
    this.#result = matchesOf(result.documents, this.#result);
    return this.#result;
  }
}

let blobs = 0;

/** What the reader knows a group by. A key is an object only for a Blob. */
function nameOf(id: unknown, key: unknown): string {
  const isBlob = typeof key === 'object' && key !== null;
  return isBlob ? `blob ${++blobs}` : `${typeof id} ${String(key)}`;
}

function matchOf(document: object, key: string, rank: number, sort?: SortKey): Match {
  const record = new StoredRecord(key, rank, 0, undefined, undefined);
  record.value = document;
  return { record, sort, delivered: encodeMade(document) };
}

/** A list of documents in which those of an earlier list are the same matches, unless moved. */
function matchesOf(documents: readonly object[], before: readonly Match[]): Match[] {
  const known = new Map(before.map((match, at) => [match.record.key, { match, at }]));
  const times = new Map<string, number>();
  const keyOf = languageOf().keysIn(undefined);
  let last = -1;
  return documents.map((document) => {
    const id = (document as { readonly _id?: unknown })._id;
    const name = nameOf(id, keyOf(id));
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    const made = matchOf(document, `${time} ${name}`, 0);
    const same = known.get(made.record.key);
    if (!same || same.at < last || !sameBody(same.match.delivered, made.delivered)) return made;
    last = same.at;
    return same.match;
  });
}

/** Milliseconds between two runs of a pipeline that has to run again. */
const AGAIN_MS = 100;

/** The result of a live pipeline. @throws {CriteriaError} naming the place */
function liveAggregate(
  context: CollectionContext,
  { spec, related }: Request<'live'>,
  reader: LiveReader,
): MaintainedResult {
  const ask = { ...(spec as AggregateAsk), related };
  // Changes of others are of one instant with what they are looked up for.
  if (related) return new RunAgain(context, ask, reader);
  const start = startOf(compiledFor(context, ask).compiled, ask);
  const plan = livePlanOf(start);
  return plan ? new LiveGroups(context, start, plan) : new RunAgain(context, ask, reader);
}

/** A pipeline that runs again with each change, of its collection or of one that it looks into. */
class RunAgain implements MaintainedResult {
  readonly throttle = AGAIN_MS;
  readonly sources: readonly RecordStore[];
  readonly #context: CollectionContext;
  readonly #ask: PipelineAsk;
  readonly #updates = new ListUpdates(({ delivered }) => delivered as Body);
  readonly #unwatch: (() => void)[];
  #result: Match[] = [];
  #isCurrent = false;

  constructor(context: CollectionContext, ask: PipelineAsk, reader: LiveReader) {
    this.#context = context;
    this.#ask = ask;
    const named = (ask.related?.contexts ?? new Map()) as ReadonlyMap<string, CollectionContext>;
    const used = new Set([context, ...named.values()]);
    this.sources = Array.from(used, ({ records }) => records);
    used.delete(context);
    const note = () => this.reload();
    this.#unwatch = Array.from(used, ({ lives }) =>
      (lives() as LiveQueries).watch({ note, reader }),
    );
  }

  update(): boolean {
    this.#isCurrent = false;
    return true;
  }

  reload(): void {
    this.#isCurrent = false;
  }

  end(): void {
    for (const unwatch of this.#unwatch) unwatch();
  }

  *next(): Coroutine<ListPart | undefined> {
    if (!this.#updates.isDelivering) {
      if (this.#isCurrent) return undefined;
      this.#isCurrent = true;
      const { clock, aborts } = this.#context;
      const { documents } = yield* resultOf(this.#context, this.#ask, new Pace(clock, aborts));
      this.#result = matchesOf(documents, this.#result);
      if (!this.#updates.begin(this.#result)) return undefined;
    }
    return yield* this.#updates.part();
  }
}
