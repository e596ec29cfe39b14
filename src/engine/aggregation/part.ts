import { provideReads } from '../find/late-reads.ts';
import { madeRead } from '../find/made-reads.ts';
import { lateResults } from '../live/live-queries.ts';
import { liveAggregate } from './live-groups.ts';
import { explained, resultOf } from './result.ts';

provideReads({
  aggregate: madeRead(function* (context, request, pace) {
    if (request.op === 'explain') return yield* explained(context, request, pace);
    return (yield* resultOf(context, request, pace)).documents;
  }),
});
lateResults.aggregate = liveAggregate;
