import { ValueError } from '../errors/value-error.ts';
import type { StoreContext } from './context.ts';
import { archivedTest, testFor } from './document-view.ts';
import type { RecordReply, Request, ScanReply, Selection } from './protocol.ts';
import { type RecordTest, Scan, type Visited } from './scan.ts';
import type { Result, Work } from './work.ts';

/** Documents in the first chunk of a scan; each later one holds twice as many, up to the last figure. */
const FIRST_CHUNK = 128;
const LARGEST_CHUNK = 4096;

/** Characters of bodies in a chunk at the most, so that taking it in never blocks the page for long. */
const CHUNK_SIZE = 1024 * 1024;

interface OpenScan {
  readonly scan: Scan;
  readonly test: RecordTest;
  chunk: number;
}

/** The reading side of a document collection: everything that looks at more than one document. */
export class DocumentScans {
  readonly #context: StoreContext;
  readonly #open = new Map<number, OpenScan>();
  #nextCursor = 1;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  execute(request: Request): Result<unknown> {
    switch (request.op) {
      case 'count':
        return this.#count(request);
      case 'find':
        return this.#find(request);
      case 'scan':
        return this.#begin(request);
      case 'scanNext':
        return this.#next(request.cursor);
      case 'scanEnd':
        return this.#end(request.cursor);
      default:
        throw new ValueError(
          'document_invalid',
          `"${request.op}" is no operation of a document collection.`,
        );
    }
  }

  /** Ids of the documents that match, in order of insertion. */
  *idsOf(selection: Selection): Work<string[]> {
    const found = yield* this.#matches(selection);
    return found.sort((a, b) => a.record.order - b.record.order).map(({ record }) => record.key);
  }

  *#count({ criteria, archived = false }: Partial<Selection>): Work<number> {
    const { records } = this.#context;
    if (!criteria || Object.keys(criteria).length === 0) {
      if (archived === true) return records.size;
      let count = 0;
      const wanted = archivedTest(archived);
      for (const record of records.list()) if (wanted(record)) count++;
      return count;
    }
    return (yield* this.#matches({ criteria, archived })).length;
  }

  *#find(selection: Selection): Work<RecordReply | undefined> {
    const test = testFor(this.#context.settings, selection);
    const scan = new Scan(this.#context.records);
    try {
      let best: Visited | undefined;
      while (!scan.done) {
        const [match] = yield* scan.next(test, 1);
        if (match && !(best && best.record.order < match.record.order)) best = match;
        if (best && best.record.order < scan.floor) break;
      }
      return best && [best.record.key, best.record.flags, best.record.stamps, best.body];
    } finally {
      scan.end();
    }
  }

  *#matches(selection: Selection): Work<Visited[]> {
    const scan = new Scan(this.#context.records);
    try {
      return yield* scan.next(testFor(this.#context.settings, selection), Number.POSITIVE_INFINITY);
    } finally {
      scan.end();
    }
  }

  *#begin(selection: Selection): Work<ScanReply> {
    const test = testFor(this.#context.settings, selection);
    const cursor = this.#nextCursor++;
    this.#open.set(cursor, { scan: new Scan(this.#context.records), test, chunk: FIRST_CHUNK });
    return yield* this.#next(cursor);
  }

  *#next(cursor: number): Work<ScanReply> {
    const open = this.#open.get(cursor);
    if (!open)
      throw new ValueError('document_invalid', `There is no scan ${cursor} to go on with.`);
    const { scan, test } = open;
    try {
      const found = yield* scan.next(test, open.chunk, CHUNK_SIZE);
      open.chunk = Math.min(open.chunk * 2, LARGEST_CHUNK);
      const { done, floor } = scan;
      if (done) this.#end(cursor);
      return { ...columnsOf(found), floor, cursor: done ? undefined : cursor };
    } catch (error) {
      this.#end(cursor);
      throw error;
    }
  }

  #end(cursor: number): undefined {
    this.#open.get(cursor)?.scan.end();
    this.#open.delete(cursor);
    return undefined;
  }
}

function columnsOf(found: readonly Visited[]): Omit<ScanReply, 'floor' | 'cursor'> {
  const stamped = found.some(({ record }) => record.stamps);
  return {
    keys: found.map(({ record }) => record.key),
    flags: Uint8Array.from(found, ({ record }) => record.flags),
    stamps: stamped ? found.map(({ record }) => record.stamps) : undefined,
    orders: Float64Array.from(found, ({ record }) => record.order),
    bodies: found.map(({ body }) => body),
  };
}
