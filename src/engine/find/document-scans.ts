import { type Coroutine, outcome, type Result } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import { type Body, type DecodedBody, encodeMade } from '../../codec/body.ts';
import { nameCollection, WorkerError } from '../../errors/errors.ts';
import type { Request, ScanReply, Selection } from '../../protocol/requests.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { bodyAtHand, type Visited } from '../records/scan.ts';
import { type CompiledSelection, compileSelection } from './compiled-selection.ts';
import { ListDelivery, ScanDelivery } from './delivery.ts';
import { type BegunScan, type Delivery, kindOf, lateReads } from './late-reads.ts';
import { DocumentQuery } from './query.ts';

/**
 * Documents in the first chunk for a caller that may stop early; each later chunk holds twice as
 * many.
 */
const FIRST_CHUNK = 128;
const LARGEST_CHUNK = 4096;

/**
 * Characters of bodies in a chunk at the most, so that taking it in never blocks the page for long.
 */
const CHUNK_SIZE = 1024 * 1024;

interface OpenScan extends BegunScan {
  chunk: number;
}

/** The reading side of a document collection: everything that looks at more than one document. */
export class DocumentScans {
  readonly #context: OperationContext;
  readonly #scans = new Map<number, OpenScan>();
  #hasEnded = false;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  execute(request: Request): Result<unknown> {
    const isMade = 'pipeline' in request || (request.op === 'explain' && !request.related);
    const late = isMade ? lateReads[kindOf(request)] : request.related && lateReads.related;
    if (late)
      return late(this.#context, request, (scan) =>
        this.#deliver(scan, request as Partial<Selection>),
      );
    switch (request.op) {
      case 'count':
        return this.#count(request);
      case 'scan':
        return this.#begin(request);
      case 'scanNext':
        return this.#next(request.cursor, request);
      case 'scanEnd':
        return this.#end(request.cursor);
      default:
        throw new TypeError(`"${request.op}" is not executed.`);
    }
  }

  /** Whether a scan was not read to its end. */
  get isOpen(): boolean {
    return this.#scans.size > 0;
  }

  *#count(selection: Partial<Selection>): Coroutine<number> {
    // Nothing has to be sorted to be counted, but where a page begins.
    const sort = selection.after && selection.sort;
    if (!sort) compileSelection(this.#context, { sort: selection.sort });
    const query = yield* this.query({ ...selection, sort });
    const count = yield* query.count();
    query.pace.check();
    return count;
  }

  *#begin(selection: Selection): Coroutine<ScanReply> {
    const { records } = this.#context;
    const query = yield* this.query(selection);
    const { pace } = query;
    let delivery: Delivery;
    if (query.streams) delivery = new ScanDelivery(records, query.compiled, pace);
    else {
      const found = yield* query.records();
      if (query.plan.kind !== 'scan') this.#context.recent?.note(found);
      delivery = new ListDelivery(records, found);
    }
    const end = delivery instanceof ListDelivery && selection.limit ? query.end : undefined;
    const scan = { delivery, pace, select: query.compiled.select, end };
    return yield* this.#deliver(scan, selection);
  }

  *#deliver(
    scan: BegunScan,
    asked: Pick<Selection, 'all' | 'call' | 'shared'>,
  ): Coroutine<ScanReply> {
    // Not the number of any scan in a worker that was there before this one.
    const cursor = Math.random();
    this.#scans.set(cursor, { ...scan, chunk: asked.all ? LARGEST_CHUNK : FIRST_CHUNK });
    // Its transaction has ended while it looked for the records.
    if (this.#hasEnded) this.#end(cursor);
    return yield* this.#next(cursor, asked);
  }

  /** A query, ready to be read. */
  *query(selection: Partial<Selection>): Coroutine<DocumentQuery> {
    const pace = this.pace(selection);
    const after = selection.after && (yield* lateReads.pageStart(this.#context, selection));
    return new DocumentQuery(this.#context, selection, pace, after);
  }

  /** @throws {CairnError} `aborted` */
  pace({ call }: Pick<Selection, 'call'>): Pace {
    const pace = new Pace(this.#context.clock, this.#context.aborts, call);
    pace.check();
    return pace;
  }

  *#next(
    cursor: number,
    { call, shared }: Pick<Selection, 'call' | 'shared'>,
  ): Coroutine<ScanReply> {
    const open = this.#scans.get(cursor);
    if (!open)
      throw new WorkerError(
        'scan_lost',
        'The worker was restarted in the middle of this result; begin again.',
      );
    const { delivery, pace, select, end, included } = open;
    try {
      yield* pace.resume(call);
      const found = this.#unexpired(yield* outcome(delivery.next(open.chunk, CHUNK_SIZE)));
      open.chunk = Math.min(open.chunk * 2, LARGEST_CHUNK);
      const { done, floor, sorted } = delivery;
      const partners = included && (yield* included(found));
      if (done) this.#end(cursor);
      return {
        ...(shared ? versionsOf(found) : columnsOf(found, select, this.#context.aborts.immediate)),
        floor,
        sorted,
        end,
        included: partners,
        cursor: done ? undefined : cursor,
      };
    } catch (error) {
      this.#end(cursor);
      throw nameCollection(error, this.#context.settings.name);
    }
  }

  /**
   * Its reader may take its time: leaves out what has expired since the scan began, unless it has a
   * newer version.
   */
  #unexpired(found: Visited[]): Visited[] {
    const { records } = this.#context;
    const { hides } = records;
    if (!hides) return found;
    return found.filter(({ record }) => !hides(record) || records.get(record.key));
  }

  endAll(): void {
    this.#hasEnded = true;
    for (const cursor of this.#scans.keys()) this.#end(cursor);
  }

  #end(cursor: number): undefined {
    this.#scans.get(cursor)?.delivery.end();
    this.#scans.delete(cursor);
    return undefined;
  }
}

type Columns = Pick<
  ScanReply,
  'keys' | 'flags' | 'stamps' | 'ranks' | 'bodies' | 'whole' | 'shared'
>;

const NONE = { keys: [], flags: new Uint8Array(), stamps: undefined, bodies: [], whole: false };

function versionsOf(found: readonly Visited[]): Columns {
  return {
    ...NONE,
    ranks: Float64Array.from(found, ({ record }) => record.rank),
    shared: {
      records: found.map(({ record }) => record),
      bodies: found.map(({ body }) => body),
    },
  };
}

export function columnsOf(
  found: readonly Visited[],
  select: CompiledSelection['select'],
  isNear: boolean,
): Columns {
  const { length } = found;
  const keys = new Array<string>(length);
  const flags = new Uint8Array(length);
  const ranks = new Float64Array(length);
  const bodies = new Array<Body | DecodedBody>(length);
  let stamps: (Stamps | undefined)[] | undefined;
  // One loop, not one a column: this is most of what the delivery of a few hundred costs.
  for (let at = 0; at < length; at++) {
    const { record, body } = found[at] as Visited;
    keys[at] = record.key;
    flags[at] = record.flags;
    ranks[at] = record.rank;
    if (record.stamps) {
      stamps ??= new Array(length).fill(undefined);
      stamps[at] = record.stamps;
    }
    if (select) bodies[at] = encodeMade(select(record, body));
    else bodies[at] = isNear ? bodyAtHand(record, body) : body;
  }
  return { keys, flags, stamps, ranks, bodies, whole: select !== undefined };
}
