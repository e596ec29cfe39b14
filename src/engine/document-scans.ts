import { encode } from '../codec/body.ts';
import { ValueError } from '../errors/value-error.ts';
import { WorkerError } from '../errors/worker-error.ts';
import type { StoredRecord } from '../storage/stored-record.ts';
import type { CompiledSelection } from './compiled-selection.ts';
import type { StoreContext } from './context.ts';
import { type Delivery, ListDelivery, ScanDelivery } from './deliveries.ts';
import type { PageEnd } from './matches.ts';
import { Pace } from './pace.ts';
import type { Explained, Request, ScanReply, Selection } from './protocol.ts';
import { Query } from './query.ts';
import type { Visited } from './scan.ts';
import type { Result, Work } from './work.ts';

/** Documents in the first chunk for somebody who may stop at any; each later one holds twice as many. */
const FIRST_CHUNK = 128;
const LARGEST_CHUNK = 4096;

/** Characters of bodies in a chunk at the most, so that taking it in never blocks the page for long. */
const CHUNK_SIZE = 1024 * 1024;

interface OpenScan {
  readonly delivery: Delivery;
  readonly select: CompiledSelection['select'];
  /** Where the page ends. */
  readonly end: PageEnd | undefined;
  chunk: number;
}

/** The reading side of a document collection: everything that looks at more than one document. */
export class DocumentScans {
  readonly #context: StoreContext;
  readonly #open = new Map<number, OpenScan>();

  constructor(context: StoreContext) {
    this.#context = context;
  }

  execute(request: Request): Result<unknown> {
    switch (request.op) {
      case 'count':
        return this.#count(request);
      case 'explain':
        return this.#explain(request);
      case 'scan':
        return this.#begin(request);
      case 'scanNext':
        return this.#next(request.cursor);
      case 'scanEnd':
        return this.#end(request.cursor);
      case 'abort':
        this.#context.aborts.add(request.call);
        return undefined;
      default:
        throw new ValueError(
          'document_invalid',
          `"${request.op}" is no operation of a document collection.`,
        );
    }
  }

  /** Ids of the documents that match, in their order. */
  *idsOf(selection: Partial<Selection>): Work<string[]> {
    const records = yield* this.#recordsOf(selection);
    return records.map(({ key }) => key);
  }

  *#count(selection: Partial<Selection>): Work<number> {
    // In no order: nothing has to be sorted to be counted.
    const records = yield* this.#recordsOf({ ...selection, sort: undefined });
    return records.length;
  }

  *#recordsOf(selection: Partial<Selection>): Work<StoredRecord[]> {
    return yield* this.#guard(selection, (pace) =>
      new Query(this.#context, selection, pace).records(),
    );
  }

  *#explain(selection: Selection): Work<Explained> {
    const { clock } = this.#context;
    const began = clock.elapsed();
    return yield* this.#guard(
      selection,
      function* (this: DocumentScans, pace: Pace): Work<Explained> {
        const query = new Query(this.#context, selection, pace);
        const records = yield* query.records();
        const { plan, keys, documents } = query;
        return {
          plan,
          keys_examined: keys,
          documents_examined: documents,
          returned: records.length,
          engine_ms: clock.elapsed() - began,
        };
      }.bind(this),
    );
  }

  *#begin(selection: Selection): Work<ScanReply> {
    return yield* this.#guard(
      selection,
      function* (this: DocumentScans, pace: Pace): Work<ScanReply> {
        const { records } = this.#context;
        const query = new Query(this.#context, selection, pace);
        const delivery = query.streams
          ? new ScanDelivery(records, query.compiled, pace)
          : new ListDelivery(records, yield* query.records());
        const end = delivery instanceof ListDelivery && selection.limit ? query.end : undefined;
        // Not the number of any scan in a worker that was there before this one.
        const cursor = Math.random();
        const chunk = selection.all ? LARGEST_CHUNK : FIRST_CHUNK;
        this.#open.set(cursor, { delivery, select: query.compiled.select, end, chunk });
        return yield* this.#next(cursor);
      }.bind(this),
    );
  }

  *#next(cursor: number): Work<ScanReply> {
    const open = this.#open.get(cursor);
    if (!open)
      throw new WorkerError(
        'scan_lost',
        'The worker was restarted in the middle of this result; begin again.',
      );
    const { delivery, select, end } = open;
    try {
      const found = yield* delivery.next(open.chunk, CHUNK_SIZE);
      open.chunk = Math.min(open.chunk * 2, LARGEST_CHUNK);
      const { done, floor, sorted } = delivery;
      if (done) this.#end(cursor);
      return {
        ...columnsOf(found, select),
        floor,
        sorted,
        end,
        cursor: done ? undefined : cursor,
      };
    } catch (error) {
      this.#end(cursor);
      throw error;
    }
  }

  #end(cursor: number): undefined {
    this.#open.get(cursor)?.delivery.end();
    this.#open.delete(cursor);
    return undefined;
  }

  /** Runs work that its caller may abort. */
  *#guard<T>({ call }: Partial<Selection>, work: (pace: Pace) => Work<T>): Work<T> {
    try {
      return yield* work(new Pace(this.#context.clock, this.#context.aborts, call));
    } finally {
      if (call !== undefined) this.#context.aborts.delete(call);
    }
  }
}

function columnsOf(
  found: readonly Visited[],
  select: CompiledSelection['select'],
): Pick<ScanReply, 'keys' | 'flags' | 'stamps' | 'orders' | 'bodies' | 'whole'> {
  const stamped = found.some(({ record }) => record.stamps);
  return {
    keys: found.map(({ record }) => record.key),
    flags: Uint8Array.from(found, ({ record }) => record.flags),
    stamps: stamped ? found.map(({ record }) => record.stamps) : undefined,
    orders: Float64Array.from(found, ({ record }) => record.order),
    bodies: found.map(({ record, body }) =>
      select ? encode(select(record, body), 'document') : body,
    ),
    whole: select !== undefined,
  };
}
