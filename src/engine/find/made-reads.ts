import type { Coroutine } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { nameCollection } from '../../errors/errors.ts';
import type { Explained, Request } from '../../protocol/requests.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { ListDelivery } from './delivery.ts';
import type { LateRead } from './late-reads.ts';

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
    // Each document in the place of a body. Nothing of them is in segments.
    const rows = made.map((exact) => new StoredRecord('', 0, 0, undefined, { exact }));
    const { bodies } = context.records;
    const delivery = new ListDelivery({ bodies, pin: () => () => undefined }, rows);
    return yield* deliver({ delivery, select: unwrap, pace, end: undefined });
  };
}
