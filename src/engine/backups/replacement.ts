import type { StorageOperation } from '../../storage/drivers/driver.ts';
import type { ManifestSwap } from '../../storage/log/manifest-swap.ts';
import type { SegmentState } from '../../storage/segments/compaction.ts';
import type { Segment } from '../../storage/segments/segment.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import { Loading } from '../collections/loading.ts';
import type { FoldedRecords } from '../records/folded-records.ts';
import { run } from '../scheduling/coroutine.ts';
import type { SafetyBackup } from './safety-backup.ts';

/**
 * Replaces all records of a collection by those of a list of segments, all or nothing: reads the list into memory
 * aside, makes it the live one in one write, then takes its records over.
 */
export class Replacement {
  readonly #context: CollectionContext;
  readonly #safety: SafetyBackup;
  readonly #replaced: () => void;
  readonly #loading: Loading;
  #states: ReadonlyMap<number, SegmentState> = new Map();
  #swap: ManifestSwap | undefined;

  /** @param replaced Called when all records are replaced. */
  constructor(context: CollectionContext, safety: SafetyBackup, replaced: () => void) {
    this.#context = context;
    this.#safety = safety;
    this.#replaced = replaced;
    this.#loading = new Loading(context);
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
    const { log } = this.#context.records;
    this.#states = await log.read(segments, (segment) => {
      look?.(segment);
      this.#loading.fold(segment);
    });
    await log.bodies.check(segments);
    await run(this.#loading.build(this.#states));
  }

  /** What makes them the live ones, and a backup of those that were. To be written when nothing else is; then {@link stored} or {@link failed}. */
  async operations(): Promise<readonly StorageOperation[]> {
    const along = await this.#safety.operations();
    this.#swap = await this.#context.records.log.prepareSwap(this.#states, along);
    return this.#swap.operations;
  }

  stored(): void {
    this.#safety.stored();
    this.#swap?.stored();
    this.#loading.take();
    this.#replaced();
  }

  failed(): void {
    this.#safety.failed();
    this.#swap?.failed();
  }

  /** Writes the swap and takes the records over before anything else is written: compaction must not merge by the old records. */
  async write(): Promise<void> {
    const operations = await this.operations();
    try {
      await this.#context.records.log.write(operations);
    } catch (error) {
      this.failed();
      throw error;
    }
    this.stored();
  }

  /** Saves what a replica notes, writes the missing index columns, and loads the bodies of a cached collection. */
  async settleIn(): Promise<void> {
    const { settings, records, saves, replica } = this.#context;
    // After a crash before this all documents are compared with the server's, whose values win.
    await replica?.save();
    if (this.#loading.isIncomplete) await saves.alone(() => this.#loading.complete());
    if (settings.caching) await records.bodies.load();
  }
}
