import type { Coroutine } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { CriteriaError } from '../../errors/errors.ts';
import type { AggregateAsk, ListPart } from '../../protocol/live-protocol.ts';
import { compilePipeline } from '../../query/pipeline/compile-pipeline.ts';
import type { CollectionContext } from '../collection-context.ts';
import { ListNews, type Match } from '../live/list-result.ts';
import type { MaintainedResult } from '../live/live-result.ts';
import { LiveGroups, livePlanOf, matchesOf } from './live-groups.ts';
import { resultOf } from './result.ts';
import { startOf } from './source.ts';

/** Milliseconds between two runs of a pipeline that has to run again. */
const AGAIN_MS = 100;

/** The result of a live pipeline. @throws {CriteriaError} naming the place */
export function liveAggregate(context: CollectionContext, ask: AggregateAsk): MaintainedResult {
  const { pipeline, collation } = ask;
  const foreign = new Map<string, string>();
  const compiled = compilePipeline(pipeline, { now: context.clock.now(), collation, foreign });
  for (const [name, place] of foreign)
    throw new CriteriaError(
      'operand_invalid',
      `'${place}' reads "${name}", whose changes a live pipeline does not follow.`,
      { place },
    );
  const start = startOf(compiled, ask);
  const plan = livePlanOf(start);
  return plan ? new LiveGroups(context, start, plan) : new RunAgain(context, ask);
}

/** A pipeline that runs again with each change. */
class RunAgain implements MaintainedResult {
  readonly throttle = AGAIN_MS;
  readonly #context: CollectionContext;
  readonly #ask: AggregateAsk;
  readonly #news = new ListNews(({ told }) => told as Body);
  #result: Match[] = [];
  #isCurrent = false;

  constructor(context: CollectionContext, ask: AggregateAsk) {
    this.#context = context;
    this.#ask = ask;
  }

  update(): boolean {
    this.#isCurrent = false;
    return true;
  }

  reload(): void {
    this.#isCurrent = false;
  }

  *next(): Coroutine<ListPart | undefined> {
    if (!this.#news.isTelling) {
      if (this.#isCurrent) return undefined;
      this.#isCurrent = true;
      const { clock, aborts } = this.#context;
      const documents = yield* resultOf(this.#context, this.#ask, new Pace(clock, aborts));
      this.#result = matchesOf(documents, this.#result);
      if (!this.#news.begin(this.#result)) return undefined;
    }
    return yield* this.#news.part();
  }
}
