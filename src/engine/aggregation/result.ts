import { type Coroutine, outcome } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { AggregateAsk } from '../../protocol/live-protocol.ts';
import { type CompiledStage, compilePipeline } from '../../query/pipeline/compile-pipeline.ts';
import { PipelineRun } from '../../query/pipeline/run.ts';
import { Collected, emit, openStages } from '../../query/pipeline/stage.ts';
import type { OperationContext } from '../collection-context.ts';
import { ForeignCollections } from './foreign.ts';
import { PipelineSource, startOf } from './source.ts';

/** The documents that a pipeline makes. They may share values with those of the collection. */
export function* resultOf(
  context: OperationContext,
  { pipeline, archived, collation }: AggregateAsk,
  pace: Pace,
): Coroutine<readonly object[]> {
  const names = new Map<string, string>();
  const now = context.clock.now();
  const compiled = compilePipeline(pipeline, { now, collation, foreign: names });
  const foreign =
    names.size > 0 ? yield* ForeignCollections.of(context, names, { archived }, pace) : undefined;
  try {
    return yield* made(context, compiled, { archived, collation }, pace, foreign);
  } finally {
    foreign?.release();
  }
}

function* made(
  context: OperationContext,
  compiled: readonly CompiledStage[],
  { archived, collation }: Pick<AggregateAsk, 'archived' | 'collation'>,
  pace: Pace,
  foreign: ForeignCollections | undefined,
): Coroutine<readonly object[]> {
  const start = startOf(compiled, { archived, collation });
  const run = new PipelineRun(pace, foreign && ((name) => foreign.documents(name)));
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
