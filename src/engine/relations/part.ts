import { type Coroutine, outcome } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import type {
  IncludeAsk,
  IncludedReply,
  RelatedAsk,
  RelationPlan,
} from '../../protocol/relation-protocol.ts';
import type { Explained, Request, ScanReply, Selection } from '../../protocol/requests.ts';
import { provideJoiningStages } from '../../query/pipeline/stages/joining.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { compileSelection } from '../find/compiled-selection.ts';
import { ListDelivery } from '../find/delivery.ts';
import { columnsOf, DocumentScans } from '../find/document-scans.ts';
import { type BegunScan, provideReads } from '../find/late-reads.ts';
import type { DocumentQuery } from '../find/query.ts';
import { lateResults } from '../live/live-queries.ts';
import type { Records } from '../records/record-store.ts';
import type { Visited } from '../records/scan.ts';
import { eachWithBody, findPartners } from './find-partners.ts';
import { PipelineReading } from './foreign.ts';
import { joinReader, ValueMap } from './join-values.ts';
import { RelatedResult } from './live/live-relations.ts';
import { ofOneInstant, RelatedReading } from './reading.ts';
import { planOf, refuseSortByPartners, resolveCriteria } from './resolve-criteria.ts';

/** Documents and partners in a chunk; a document with more travels alone. */
const MOST_IN_CHUNK = 4096;

provideReads({
  related: executeRelated,
  foreign: (context, related, settings, read) =>
    ofOneInstant(context, function* () {
      const reading = new PipelineReading(context, related, settings);
      try {
        return yield* read(reading);
      } finally {
        reading.end();
      }
    }),
});
provideJoiningStages();
lateResults.related = (...given) => new RelatedResult(...given);

/** Executes a read of a collection that looks into others. All show one instant. */
export function executeRelated(...given: Parameters<typeof execute>): Coroutine<unknown> {
  return ofOneInstant(given[0], () => execute(...given));
}

function* execute(
  context: OperationContext,
  request: Request,
  open: (scan: BegunScan) => Coroutine<ScanReply>,
): Coroutine<unknown> {
  const related = request.related as RelatedAsk;
  refuseSortByPartners(related.include, (request as Partial<Selection>).sort);
  const reading = new RelatedReading(context, related);
  let isDelivering = false;
  try {
    const scans = new DocumentScans(reading.context);
    const plain = yield* resolved(reading, request, scans);
    if (request.op === 'explain') return yield* explain(reading, plain, related.include, scans);
    if (request.op !== 'scan') return yield* outcome(scans.execute(plain));
    const query = yield* scans.query(plain as Selection);
    const records = yield* query.records();
    const includes = yield* includesOf(reading, records, related.include, query);
    const { limit } = plain as Selection;
    isDelivering = true;
    // What it has found stays as it is; only compaction has to wait.
    reading.release();
    return yield* open({
      delivery: new JoinedDelivery(reading, records, includes),
      pace: query.pace,
      select: query.compiled.select,
      end: limit ? query.end : undefined,
      included: (found) => replies(includes, found),
    });
  } finally {
    reading.release();
    if (!isDelivering) reading.unpin();
  }
}

function* resolved(
  reading: RelatedReading,
  request: Request,
  scans: DocumentScans,
): Coroutine<Request> {
  const { criteria = {}, archived = false, collation, call } = request as Partial<Selection>;
  const pace = scans.pace({ call });
  const documents = { archived, collation };
  const plain = yield* resolveCriteria(reading, reading.context, criteria, pace, documents);
  return { ...request, criteria: plain, related: undefined } as Request;
}

function* includesOf(
  reading: RelatedReading,
  records: readonly StoredRecord[],
  asked: readonly IncludeAsk[],
  { pace }: DocumentQuery,
): Coroutine<Include[]> {
  const includes: Include[] = [];
  for (const ask of asked)
    includes.push(yield* Include.of(reading, reading.context, records, ask, pace));
  return includes;
}

function* replies(
  includes: readonly Include[],
  found: readonly Visited[],
): Coroutine<ScanReply['included']> {
  const documents = found.map(({ record }) => record);
  const included = [];
  for (const include of includes) included.push(yield* include.reply(documents));
  return included;
}

function* explain(
  reading: RelatedReading,
  request: Request,
  asked: readonly IncludeAsk[],
  scans: DocumentScans,
): Coroutine<Explained> {
  const { clock } = reading.context;
  const began = clock.elapsed();
  const explained = (yield* outcome(scans.execute(request))) as Explained;
  const query = yield* scans.query(request as Selection);
  const includes = yield* includesOf(reading, yield* query.records(), asked, query);
  const engine_ms = clock.elapsed() - began;
  return { ...explained, engine_ms, relations: [...reading.plans, ...plansOf(includes, '')] };
}

function plansOf(includes: readonly Include[], above: string): RelationPlan[] {
  return includes.flatMap(({ ask, context, query, found, inner }) => {
    const path = above + ask.name;
    const plan = query && planOf(context, query, ask.to, path);
    const own: RelationPlan[] = plan ? [{ ...plan, use: 'include', returned: found }] : [];
    return [...own, ...plansOf(inner, `${path}.`)];
  });
}

/** Streams documents with few enough partners at once. */
class JoinedDelivery extends ListDelivery {
  readonly #reading: RelatedReading;
  readonly #records: readonly StoredRecord[];
  readonly #includes: readonly Include[];
  #sent = 0;

  constructor(
    reading: RelatedReading,
    records: readonly StoredRecord[],
    includes: readonly Include[],
  ) {
    super(reading.context.records as Records, records);
    this.#reading = reading;
    this.#records = records;
    this.#includes = includes;
  }

  override *next(limit: number, size: number): Coroutine<Visited[]> {
    let weight = 0;
    let count = 0;
    while (count < limit && this.#sent + count < this.#records.length) {
      const record = this.#records[this.#sent + count] as StoredRecord;
      for (const include of this.#includes) weight += include.weightOf(record);
      if (++weight > MOST_IN_CHUNK && count > 0) break;
      count++;
    }
    const found = yield* super.next(count, size);
    this.#sent += found.length;
    return found;
  }

  override end(): void {
    super.end();
    this.#reading.unpin();
  }
}

/** The partners of documents by one relation, and theirs. */
class Include {
  readonly ask: IncludeAsk;
  readonly context: OperationContext;
  readonly query: DocumentQuery | undefined;
  readonly found: number;
  readonly inner: readonly Include[];
  /** By document; left out where it has none. */
  readonly #partners: ReadonlyMap<StoredRecord, readonly StoredRecord[]>;

  private constructor(
    ask: IncludeAsk,
    context: OperationContext,
    query: DocumentQuery | undefined,
    partners: ReadonlyMap<StoredRecord, readonly StoredRecord[]>,
    inner: readonly Include[],
    found: number,
  ) {
    this.ask = ask;
    this.context = context;
    this.query = query;
    this.inner = inner;
    this.found = found;
    this.#partners = partners;
  }

  /** Finds the partners of documents of a collection. */
  static *of(
    reading: RelatedReading,
    context: OperationContext,
    documents: readonly StoredRecord[],
    ask: IncludeAsk,
    pace: Pace,
  ): Coroutine<Include> {
    const partner = reading.contextOf(ask.partner);
    const criteria = yield* resolveCriteria(reading, partner, ask.criteria ?? {}, pace);
    const own = new Map<StoredRecord, readonly unknown[]>();
    const values = new ValueMap<true>();
    yield* eachWithBody(context, documents, joinReader(context, ask.from), pace, (record, all) => {
      own.set(record, all);
      for (const value of all) values.set(value, true);
    });
    const found = yield* findPartners(partner, { ...ask, criteria }, values.values, pace);
    const { skip = 0, limit = Number.POSITIVE_INFINITY } = ask;
    const end = ask.isOne ? skip + 1 : skip + limit;
    const partners = new Map<StoredRecord, readonly StoredRecord[]>();
    const shown = new Set<StoredRecord>();
    for (const [record, all] of own) {
      const list = partnersOf(all, found.byValue, found.places).slice(skip, end);
      if (list.length === 0) continue;
      partners.set(record, list);
      for (const one of list) shown.add(one);
    }
    const inner: Include[] = [];
    const next = [...shown];
    for (const each of ask.include)
      inner.push(yield* Include.of(reading, partner, next, each, pace));
    return new Include(ask, partner, found.query, partners, inner, shown.size);
  }

  /** How many documents come along with one. */
  weightOf(document: StoredRecord): number {
    const partners = this.#partners.get(document) ?? [];
    let weight = partners.length;
    if (this.inner.length > 0)
      for (const one of partners) for (const each of this.inner) weight += each.weightOf(one);
    return weight;
  }

  /** The partners of some of the documents. */
  *reply(documents: readonly StoredRecord[]): Coroutine<IncludedReply> {
    const { records, aborts } = this.context;
    const counts = new Uint32Array(documents.length);
    const rows: number[] = [];
    const places = new Map<StoredRecord, number>();
    for (const [at, document] of documents.entries()) {
      const partners = this.#partners.get(document) ?? [];
      counts[at] = partners.length;
      for (const one of partners) {
        let row = places.get(one);
        if (row === undefined) {
          row = places.size;
          places.set(one, row);
        }
        rows.push(row);
      }
    }
    const shown = [...places.keys()];
    const bodies: Body[] = yield* records.bodies.ofAll(shown);
    const visited = shown.map((record, at): Visited => ({ record, body: bodies[at] as Body }));
    const { select } = compileSelection(this.context, { select: this.ask.select });
    const {
      keys,
      flags,
      stamps,
      bodies: sent,
      whole,
    } = columnsOf(visited, select, aborts.immediate);
    const included: IncludedReply[] = [];
    for (const each of this.inner) included.push(yield* each.reply(shown));
    const columns = { keys, flags, stamps, bodies: sent, whole };
    return { counts, rows: Uint32Array.from(rows), columns, included };
  }
}

/** The partners of a document, each once, in the order of the query that found them. */
function partnersOf(
  values: readonly unknown[],
  byValue: ValueMap<StoredRecord[]>,
  places: ReadonlyMap<StoredRecord, number>,
): readonly StoredRecord[] {
  if (values.length === 1) return byValue.get(values[0]) ?? [];
  const all = new Set(values.flatMap((value) => byValue.get(value) ?? []));
  return [...all].sort((a, b) => (places.get(a) as number) - (places.get(b) as number));
}
