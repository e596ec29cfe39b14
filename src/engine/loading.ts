import type { SegmentState } from '../storage/segments/compaction.ts';
import type { Segment } from '../storage/segments/segment.ts';
import type { StoreContext } from './context.ts';
import { DocumentIndexes } from './documents/document-indexes.ts';
import { type BuildProgress, IndexBuilder } from './documents/index-builder.ts';
import { FoldedRecords } from './records/folded-records.ts';
import type { Coroutine } from './scheduling/coroutine.ts';

/**
 * Brings a list of segments into memory, aside from what is there: when a collection is opened, and when a
 * backup takes its place. Until {@link take} nothing has changed.
 */
export class Loading {
  readonly records: FoldedRecords;
  readonly #context: StoreContext;
  readonly #indexes: DocumentIndexes;
  readonly #builder: IndexBuilder;

  constructor(context: StoreContext) {
    const { records, settings } = context;
    this.#context = context;
    this.records = new FoldedRecords(records.log.columns, settings.caching);
    this.#indexes = new DocumentIndexes(settings);
    this.#builder = new IndexBuilder(records, this.#indexes);
  }

  /** Takes in a segment; lowest number first, then {@link build}. */
  readonly fold = (segment: Segment): void => {
    this.records.fold(segment);
    this.#builder.note(segment);
  };

  /**
   * Counts what is live in the segments, and builds the indexes.
   *
   * @param live Whether the segments are those that the collection has now.
   * @throws {ValueError} `unique_violation`
   */
  *build(
    segments: ReadonlyMap<number, SegmentState>,
    progress: BuildProgress,
    live: boolean,
  ): Coroutine<void> {
    this.records.finish(segments);
    yield* this.#builder.build(this.records.list, progress, live);
  }

  /** Takes the place of what the collection holds. */
  take(): void {
    this.#context.records.take(this.records);
    this.#context.indexes = this.#indexes;
  }

  /** Whether storage lacks what an index keeps. */
  get isIncomplete(): boolean {
    return this.#builder.isBehind;
  }

  /** To be called once it is taken: writes what storage lacks. */
  complete(): Coroutine<void> {
    return this.#builder.write();
  }
}
