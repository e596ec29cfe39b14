import type { Coroutine } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import { nameCollection } from '../../errors/errors.ts';
import type { Explained, Request, ScanReply } from '../../protocol/requests.ts';
import type { OperationContext } from '../collection-context.ts';
import { type BegunScan, provideReads } from '../find/late-reads.ts';
import { type MadeResult, madeResult } from '../find/made-delivery.ts';
import { lateResults } from '../live/live-queries.ts';
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
  let made: MadeResult;
  try {
    if (request.op === 'explain') return yield* explained(context, ask, pace);
    made = madeResult((yield* resultOf(context, ask, pace)).documents);
  } catch (error) {
    throw nameCollection(error, settings.name);
  }
  return yield* deliver({ ...made, pace, end: undefined });
}

provideReads({ aggregate });
lateResults.aggregate = liveAggregate;
