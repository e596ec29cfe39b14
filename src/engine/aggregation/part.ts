import { type Coroutine, outcome } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import { nameCollection } from '../../errors/errors.ts';
import type { AggregateAsk, Request } from '../../protocol/requests.ts';
import { compilePipeline } from '../../query/pipeline/compile-pipeline.ts';
import { PipelineRun } from '../../query/pipeline/run.ts';
import { Collected, emit, openStages } from '../../query/pipeline/stage.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { type Delivery, provideReads } from '../find/late-reads.ts';
import type { Visited } from '../records/scan.ts';
import { PipelineSource, startOf } from './source.ts';

/** Runs a pipeline, whose result is delivered in chunks. */
function* aggregate(
  context: OperationContext,
  request: Request<'aggregate'>,
  pace: Pace,
): Coroutine<{ delivery: Delivery; select: (record: unknown, body: Body) => object }> {
  try {
    return { delivery: new MadeDelivery(yield* resultOf(context, request, pace)), select: unwrap };
  } catch (error) {
    throw nameCollection(error, context.settings.name);
  }
}

/** The documents that a pipeline makes. They may share values with those of the collection. */
function* resultOf(
  context: OperationContext,
  { pipeline, archived, collation }: AggregateAsk,
  pace: Pace,
): Coroutine<readonly object[]> {
  const compiled = compilePipeline(pipeline, { now: context.clock.now(), collation });
  const start = startOf(compiled, { archived, collation });
  const run = new PipelineRun(pace);
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

/** The record of what no record holds. */
const NO_RECORD = new StoredRecord('', 0, 0, undefined, undefined);

const unwrap = (_: unknown, body: Body) => (body as { readonly exact: object }).exact;

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

provideReads({ aggregate });
