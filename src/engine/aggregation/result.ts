import { type Coroutine, outcome } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import { CriteriaError } from '../../errors/errors.ts';
import type { AggregateAsk } from '../../protocol/live-protocol.ts';
import type { RelatedAsk } from '../../protocol/relation-protocol.ts';
import { type CompiledStage, compilePipeline } from '../../query/pipeline/compile-pipeline.ts';
import { type ForeignCollection, PipelineRun } from '../../query/pipeline/run.ts';
import { Collected, emit, openStages } from '../../query/pipeline/stage.ts';
import type { OperationContext } from '../collection-context.ts';
import { lateReads } from '../find/late-reads.ts';
import { PipelineSource, startOf } from './source.ts';

/** A pipeline, with the collections that it may look into. */
export type PipelineAsk = AggregateAsk & { readonly related?: RelatedAsk | undefined };

/** The documents that a pipeline makes. They may share values with those of the collection. */
export function* resultOf(
  context: OperationContext,
  ask: PipelineAsk,
  pace: Pace,
): Coroutine<readonly object[]> {
  const { archived, collation, related } = ask;
  const { compiled, foreign } = compiledFor(context, ask);
  if (foreign.size === 0) return yield* made(context, compiled, ask, pace);
  const reading = lateReads.foreign(context, related as RelatedAsk, { archived, collation, pace });
  try {
    const collections = new Map(
      Array.from(foreign, ([name, place]) => [name, reading.collection(name, place)] as const),
    );
    const named = (name: string) => collections.get(name) as ForeignCollection;
    return yield* made(reading.context, compiled, ask, pace, named);
  } finally {
    reading.end();
  }
}

/**
 * The stages of a pipeline, with the places where they name other collections.
 *
 * @throws {CriteriaError} `operand_invalid` for a name that no collection has …
 */
export function compiledFor(
  { clock }: OperationContext,
  { pipeline, collation, related }: PipelineAsk,
): { readonly compiled: readonly CompiledStage[]; readonly foreign: ReadonlyMap<string, string> } {
  const foreign = new Map<string, string>();
  const compiled = compilePipeline(pipeline, { now: clock.now(), collation, foreign });
  for (const [name, place] of foreign) {
    if (related?.contexts?.has(name)) continue;
    const why = 'which no handle has open: construct that collection first';
    throw new CriteriaError('operand_invalid', `'${place}' reads "${name}", ${why}.`, { place });
  }
  return { compiled, foreign };
}

function* made(
  context: OperationContext,
  compiled: readonly CompiledStage[],
  ask: PipelineAsk,
  pace: Pace,
  foreign?: (name: string) => ForeignCollection,
): Coroutine<readonly object[]> {
  const start = startOf(compiled, ask);
  const run = new PipelineRun(pace, foreign);
  const result = new Collected(run, 'pipeline');
  const source = new PipelineSource(context, start, pace);
  const [first, ...rest] = start.stages;
  const counted = yield* source.counted(first);
  const sink = openStages(counted ? rest : start.stages, run, result);
  yield* counted ? emit(run, counted, sink) : source.read(sink);
  yield* outcome(sink.end());
  pace.check();
  return result.documents;
}
