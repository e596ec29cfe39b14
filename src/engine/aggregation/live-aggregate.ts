import type { Coroutine } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import type { AggregateAsk, ListPart } from '../../protocol/live-protocol.ts';
import type { Request } from '../../protocol/requests.ts';
import type { CollectionContext } from '../collection-context.ts';
import { ListUpdates, type Match } from '../live/list-result.ts';
import type { LiveQueries } from '../live/live-queries.ts';
import type { LiveReader } from '../live/live-reader.ts';
import type { MaintainedResult } from '../live/live-result.ts';
import type { RecordStore } from '../records/record-store.ts';
import { LiveGroups, matchesOf } from './live-groups.ts';
import { livePlanOf } from './live-plan.ts';
import { compiledFor, type PipelineAsk, resultOf } from './result.ts';
import { startOf } from './source.ts';

/** Milliseconds between two runs of a pipeline that has to run again. */
const AGAIN_MS = 100;

/** The result of a live pipeline. @throws {CriteriaError} naming the place */
export function liveAggregate(
  context: CollectionContext,
  { spec, related }: Request<'live'>,
  reader: LiveReader,
): MaintainedResult {
  const ask = { ...(spec as AggregateAsk), related };
  // Changes of others are of one instant with what they are looked up for.
  if (related) return new RunAgain(context, ask, reader);
  const start = startOf(compiledFor(context, ask).compiled, ask);
  const plan = livePlanOf(start);
  return plan ? new LiveGroups(context, start, plan) : new RunAgain(context, ask, reader);
}

/** A pipeline that runs again with each change, of its collection or of one that it looks into. */
class RunAgain implements MaintainedResult {
  readonly throttle = AGAIN_MS;
  readonly sources: readonly RecordStore[];
  readonly #context: CollectionContext;
  readonly #ask: PipelineAsk;
  readonly #updates = new ListUpdates(({ delivered }) => delivered as Body);
  readonly #unwatch: (() => void)[];
  #result: Match[] = [];
  #isCurrent = false;

  constructor(context: CollectionContext, ask: PipelineAsk, reader: LiveReader) {
    this.#context = context;
    this.#ask = ask;
    const named = (ask.related?.contexts ?? new Map()) as ReadonlyMap<string, CollectionContext>;
    const used = new Set([context, ...named.values()]);
    this.sources = Array.from(used, ({ records }) => records);
    used.delete(context);
    const note = () => this.reload();
    this.#unwatch = Array.from(used, ({ lives }) =>
      (lives() as LiveQueries).watch({ note, reader }),
    );
  }

  update(): boolean {
    this.#isCurrent = false;
    return true;
  }

  reload(): void {
    this.#isCurrent = false;
  }

  end(): void {
    for (const unwatch of this.#unwatch) unwatch();
  }

  *next(): Coroutine<ListPart | undefined> {
    if (!this.#updates.isDelivering) {
      if (this.#isCurrent) return undefined;
      this.#isCurrent = true;
      const { clock, aborts } = this.#context;
      const { documents } = yield* resultOf(this.#context, this.#ask, new Pace(clock, aborts));
      this.#result = matchesOf(documents, this.#result);
      if (!this.#updates.begin(this.#result)) return undefined;
    }
    return yield* this.#updates.part();
  }
}
