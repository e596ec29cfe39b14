import { type Coroutine, outcome } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import { CriteriaError } from '../../errors/errors.ts';
import type { AggregateAsk } from '../../protocol/live-protocol.ts';
import type { RelatedAsk, RelationPlan } from '../../protocol/relation-protocol.ts';
import { type CompiledStage, compilePipeline } from '../../query/pipeline/compile-pipeline.ts';
import { type ForeignCollection, PipelineRun } from '../../query/pipeline/run.ts';
import { Collected, emit, openStages } from '../../query/pipeline/stage.ts';
import type { OperationContext } from '../collection-context.ts';
import { lateReads } from '../find/late-reads.ts';
import { PipelineSource, type PipelineStart, startOf } from './source.ts';

export type PipelineAsk = AggregateAsk & { readonly related?: RelatedAsk | undefined };

interface Answer extends CompiledPipeline {
  /** They may share values with those of the collection. */
  readonly documents: readonly object[];
  readonly start: PipelineStart;
  readonly source: PipelineSource;
  /** How documents of other collections were found. */
  readonly relations: readonly RelationPlan[];
}

export function* resultOf(
  context: OperationContext,
  ask: PipelineAsk,
  pace: Pace,
): Coroutine<Answer> {
  const { archived, collation, related } = ask;
  if (!related) {
    const pipeline = compiledFor(context, ask);
    const answer = yield* made(context, startOf(pipeline.compiled, ask), pace);
    return { ...pipeline, ...answer, relations: [] };
  }
  return yield* lateReads.foreign(
    context,
    related,
    { archived, collation, pace },
    function* (reading) {
      const pipeline = compiledFor(context, {
        ...ask,
        pipeline: yield* reading.resolve(ask.pipeline),
      });
      const { compiled, foreign } = pipeline;
      const start = startOf(compiled, ask);
      const collections = new Map(
        Array.from(foreign, ([name, place]) => [name, reading.collection(name, place)] as const),
      );
      const named = (name: string) => collections.get(name) as ForeignCollection;
      const answer = yield* made(reading.context, start, pace, named);
      return { ...pipeline, ...answer, relations: reading.plans };
    },
  );
}

/** The stages of a pipeline, with the places where they name other collections. */
interface CompiledPipeline {
  readonly compiled: readonly CompiledStage[];
  readonly foreign: ReadonlyMap<string, string>;
}

/** @throws {CriteriaError} also `operand_invalid` for a name that no open collection has. */
export function compiledFor(
  { clock }: OperationContext,
  { pipeline, collation, related }: PipelineAsk,
): CompiledPipeline {
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
  start: PipelineStart,
  pace: Pace,
  foreign?: (name: string) => ForeignCollection,
): Coroutine<Pick<Answer, 'documents' | 'start' | 'source'>> {
  const run = new PipelineRun(pace, foreign);
  const result = new Collected(run, 'pipeline');
  const source = new PipelineSource(context, start, pace);
  const [first, ...rest] = start.stages;
  const counted = yield* source.count(first);
  const sink = openStages(counted ? rest : start.stages, run, result);
  yield* counted ? emit(run, counted, sink) : source.read(sink);
  yield* outcome(sink.end());
  pace.check();
  return { documents: result.documents, start, source };
}
