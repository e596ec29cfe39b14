import { run } from '../../../src/async/coroutine.ts';
import { Aborts, Pace } from '../../../src/async/pace.ts';
import '../../../src/query/expressions/part.ts';
import { compilePipeline } from '../../../src/query/pipeline/compile-pipeline.ts';
import { PipelineRun } from '../../../src/query/pipeline/run.ts';
import { Collected, openStages } from '../../../src/query/pipeline/stage.ts';
import '../../setup/rare-operators.ts';

const clock = { now: () => 0, elapsed: () => 0, after: () => () => undefined };

/** What a pipeline makes of documents that lie in memory. */
export function runStages(
  documents: readonly object[],
  pipeline: readonly object[],
  collation?: string,
): object[] {
  const stages = compilePipeline(pipeline, { now: 0, collation, foreign: new Map() });
  const pipelineRun = new PipelineRun(new Pace(clock as never, new Aborts()));
  const result = new Collected(pipelineRun, 'pipeline');
  const sink = openStages(
    stages.flatMap(({ parts }) => parts),
    pipelineRun,
    result,
  );
  for (const document of documents) if (!sink.isFull) run(sink.take([document]));
  run(sink.end());
  return result.documents;
}
