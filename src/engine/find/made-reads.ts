import type { Coroutine } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import { nameCollection } from '../../errors/errors.ts';
import type { Explained, Request } from '../../protocol/requests.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import type { Visited } from '../records/scan.ts';
import type { Delivery, LateRead } from './late-reads.ts';

const NO_RECORD = new StoredRecord('', 0, 0, undefined, undefined);

const unwrap = (_: unknown, body: Body) => (body as { readonly exact: object }).exact;

type MadeAsk = Omit<Request<'aggregate'>, 'op'> & { readonly op: 'aggregate' | 'explain' };

/** A read that makes its documents instead of finding records, or explains how it would. */
export function madeRead(
  make: (
    context: OperationContext,
    request: MadeAsk,
    pace: Pace,
  ) => Coroutine<readonly object[] | Explained>,
): LateRead {
  return function* (context, request, deliver) {
    const { clock, aborts, settings } = context;
    const ask = request as MadeAsk;
    const pace = new Pace(clock, aborts, ask.call);
    pace.check();
    let made: readonly object[] | Explained;
    try {
      made = yield* make(context, ask, pace);
    } catch (error) {
      throw nameCollection(error, settings.name);
    }
    if ('plan' in made) return made;
    const delivery = new MadeDelivery(made);
    return yield* deliver({ delivery, select: unwrap, pace, end: undefined });
  };
}

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
