import { type Coroutine, outcome } from '../../async/coroutine.ts';
import type { IncludeAsk, RelatedAsk, RelationPlan } from '../../protocol/relation-protocol.ts';
import type { Explained, Request, ScanReply, Selection } from '../../protocol/requests.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { ListDelivery } from '../find/delivery.ts';
import { DocumentScans } from '../find/document-scans.ts';
import { type BegunScan, provideReads } from '../find/late-reads.ts';
import type { DocumentQuery } from '../find/query.ts';
import type { Records } from '../records/record-store.ts';
import type { Visited } from '../records/scan.ts';
import { Include } from './include.ts';
import { RelatedReading } from './reading.ts';
import { planOf, resolveCriteria } from './resolve-criteria.ts';

/** Documents and partners in a chunk; a document with more travels alone. */
const MOST_IN_CHUNK = 4096;

provideReads({ related: executeRelated });

/** Executes a read of a collection that looks into others. All show one instant. */
export function* executeRelated(
  context: OperationContext,
  request: Request,
  open: (scan: BegunScan) => Coroutine<ScanReply>,
): Coroutine<unknown> {
  const related = request.related as RelatedAsk;
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

/** The request without relations in its criteria. */
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
