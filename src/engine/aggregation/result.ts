import { type Coroutine, outcome, wait } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { isPromise } from '../../codec/kinds.ts';
import { CriteriaError } from '../../errors/errors.ts';
import type { AggregateAsk } from '../../protocol/live-protocol.ts';
import { type CompiledStage, compilePipeline } from '../../query/pipeline/compile-pipeline.ts';
import { BATCH, PipelineRun } from '../../query/pipeline/run.ts';
import { Collected, emit, openStages } from '../../query/pipeline/stage.ts';
import type { CollectionContext, OperationContext } from '../collection-context.ts';
import { compileSelection, documentReaders } from '../find/compiled-selection.ts';
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

/** Other collections of the database, as of the instant at which a pipeline begins. */
class ForeignCollections {
  readonly #taken = new Map<string, () => Coroutine<readonly object[]>>();
  readonly #documents = new Map<string, readonly object[]>();
  readonly #releases: (() => void)[] = [];

  /**
   * Waits for their turns, and then takes all at once. Must be released.
   *
   * @param places Names of collections, with where they stand in the pipeline.
   * @throws {CriteriaError} `operand_invalid`
   */
  static *of(
    context: OperationContext,
    places: ReadonlyMap<string, string>,
    { archived }: Pick<AggregateAsk, 'archived'>,
    pace: Pace,
  ): Coroutine<ForeignCollections> {
    const made = new ForeignCollections();
    const found = Array.from(
      places,
      ([name, place]) => [name, collectionOf(context, name, place)] as const,
    );
    for (const [, { queue }] of found) {
      const turn = queue.enter(false, () => undefined);
      if (isPromise(turn)) yield* wait(turn);
    }
    for (const [name, { availability, context: own }] of found) {
      availability.check();
      made.#take(name, own, archived, pace);
    }
    return made;
  }

  /** All documents of one of them, in their order. */
  *documents(name: string): Coroutine<readonly object[]> {
    const known = this.#documents.get(name);
    if (known) return known;
    const documents = yield* (this.#taken.get(name) as () => Coroutine<readonly object[]>)();
    this.#documents.set(name, documents);
    return documents;
  }

  release(): void {
    for (const release of this.#releases) release();
  }

  #take(
    name: string,
    context: CollectionContext,
    archived: AggregateAsk['archived'],
    pace: Pace,
  ): void {
    const { records } = context;
    const { wanted } = compileSelection(context, { archived });
    const list = records.list().filter(wanted);
    this.#releases.push(records.pin());
    const { wholeOf } = documentReaders(context);
    this.#taken.set(name, function* () {
      const documents: object[] = [];
      for (let from = 0; from < list.length; from += BATCH) {
        const batch = list.slice(from, from + BATCH);
        const bodies = yield* records.bodies.ofAll(batch);
        for (const [at, record] of batch.entries())
          documents.push(wholeOf(record, bodies[at] as Body));
        if (pace.late) yield* pace.pause();
      }
      return documents;
    });
  }
}

function collectionOf(context: OperationContext, name: string, place: string) {
  const { named, records } = context as CollectionContext;
  const refuse = (why: string) =>
    new CriteriaError('operand_invalid', `'${place}' reads "${name}", ${why}.`, { place });
  const own = named(context.settings.name);
  if (own?.context.records !== records)
    throw refuse('which works neither in transactions nor in backups');
  const found = named(name);
  if (!found) throw refuse('which no handle has open: construct that collection first');
  if (found.settings.type !== 'DOCUMENT_BASED') throw refuse('which has keys and values');
  return found;
}
