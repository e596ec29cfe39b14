import type { Coroutine } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import { nameCollection } from '../../errors/errors.ts';
import type { Explained, Request, ScanReply } from '../../protocol/requests.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { type BegunScan, type Delivery, provideReads } from '../find/late-reads.ts';
import { lateResults } from '../live/live-queries.ts';
import type { Visited } from '../records/scan.ts';
import { liveAggregate } from './live-aggregate.ts';
import { explained, resultOf } from './result.ts';

/** Runs a pipeline, whose result is delivered in chunks. */
function* aggregate(
  context: OperationContext,
  request: Request,
  deliver: (scan: BegunScan) => Coroutine<ScanReply>,
): Coroutine<ScanReply | Explained> {
  const { clock, aborts, settings } = context;
  const ask = request as Request<'aggregate'>;
  const pace = new Pace(clock, aborts, ask.call);
  pace.check();
  let delivery: Delivery;
  try {
    if (request.op === 'explain') return yield* explained(context, ask, pace);
    delivery = new MadeDelivery((yield* resultOf(context, ask, pace)).documents);
  } catch (error) {
    throw nameCollection(error, settings.name);
  }
  return yield* deliver({ delivery, pace, select: unwrap, end: undefined });
}

/** The record of what no record holds. */
const NO_RECORD = new StoredRecord('', 0, 0, undefined, undefined);

const unwrap = (_: unknown, body: Body) => (body as { readonly exact: object }).exact;

/** Delivers a list of documents, each in the place of a body. */
class MadeDelivery implements Delivery {
  readonly sorted = true;
  readonly floor = 0;
  #documents: readonly object[];
  #at = 0;

  constructor(documents: readonly object[]) {
    this.#documents = documents;
  }

  get done(): boolean {
    return this.#at >= this.#documents.length;
  }

  next(limit: number, size: number): Visited[] {
    const found: Visited[] = [];
    for (let room = size; !this.done && found.length < limit && room > 0; this.#at++) {
      const body = { exact: this.#documents[this.#at] };
      found.push({ record: NO_RECORD, body });
      room -= bodySize(body);
    }
    return found;
  }

  end(): void {
    this.#documents = [];
  }
}

provideReads({ aggregate });
lateResults.aggregate = liveAggregate;
