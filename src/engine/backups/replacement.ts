import type { StorageOperation, StoragePut } from '../../storage/drivers/driver.ts';
import type { ManifestSwap } from '../../storage/log/manifest-swap.ts';
import type { SegmentState } from '../../storage/segments/compaction.ts';
import type { Segment } from '../../storage/segments/segment.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import { Loading } from '../collections/loading.ts';
import type { BuildProgress } from '../documents/index-builder.ts';
import type { FoldedRecords } from '../records/folded-records.ts';
import type { SaveSchedule } from '../records/save-schedule.ts';
import { run } from '../scheduling/coroutine.ts';

/** What it takes to replace what a collection holds. */
export interface ReplaceHost {
  readonly context: CollectionContext;
  readonly saves: SaveSchedule;
  readonly indexing: BuildProgress;
  /** What stores a backup of what the collection holds, where nothing is unsaved. */
  readonly present: () => Promise<StoragePut | undefined>;
  /** That backup is stored, or could not be. */
  readonly presentWritten: (stored: boolean) => void;
  /** Other records have taken the place of all. */
  readonly replaced: () => void;
}

/**
 * Puts a list of segments in the place of what a collection holds, all or nothing: the list is brought into
 * memory aside, one write makes it the live one, then it is taken over.
 */
export class Replacement {
  readonly #host: ReplaceHost;
  readonly #loading: Loading;
  #states: ReadonlyMap<number, SegmentState> = new Map();
  #swap: ManifestSwap | undefined;

  constructor(host: ReplaceHost) {
    this.#host = host;
    this.#loading = new Loading(host.context);
  }

  /** The records as brought in so far. */
  get records(): FoldedRecords {
    return this.#loading.records;
  }

  /**
   * Brings segments into memory, in ascending order.
   *
   * @param look Called with each, before it is folded.
   * @throws {StorageError} `data_damaged` when one is missing; {ValueError} `unique_violation`.
   */
  async bring(segments: readonly number[], look?: (segment: Segment) => void): Promise<void> {
    const { context, indexing } = this.#host;
    const { log } = context.records;
    this.#states = await log.read(segments, (segment) => {
      look?.(segment);
      this.#loading.fold(segment);
    });
    await log.bodies.check(segments);
    await run(this.#loading.build(this.#states, indexing));
  }

  /** What makes them the live ones, and a backup of those that were. To be written when nothing else is; then {@link stored} or {@link failed}. */
  async operations(): Promise<readonly StorageOperation[]> {
    const present = await this.#host.present();
    const along = present ? [present] : [];
    this.#swap = await this.#host.context.records.log.prepareSwap(this.#states, along);
    return this.#swap.operations;
  }

  stored(): void {
    this.#host.presentWritten(true);
    this.#swap?.stored();
    this.#loading.take();
    this.#host.replaced();
  }

  failed(): void {
    this.#host.presentWritten(false);
    this.#swap?.failed();
  }

  /** Writes it, and takes it over within the same write: nothing may be merged by what was there before. */
  async write(): Promise<void> {
    const operations = await this.operations();
    try {
      await this.#host.context.records.log.write(operations);
    } catch (error) {
      this.failed();
      throw error;
    }
    this.stored();
  }

  /** Writes what indexes lack, and brings back what caching keeps. */
  async settleIn(): Promise<void> {
    const { context, saves } = this.#host;
    if (this.#loading.isIncomplete) await saves.alone(() => this.#loading.complete());
    if (context.settings.caching) await context.records.bodies.load();
  }
}
