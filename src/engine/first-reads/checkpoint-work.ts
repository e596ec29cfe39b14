import { nextTurn } from '../../async/next-turn.ts';
import { type Checkpoint, noCheckpoint } from '../../storage/checkpoint/checkpoint-format.ts';
import type { StorageOperation } from '../../storage/drivers/driver.ts';
import type { CollectionContext } from '../collection-context.ts';
import { type BuiltCheckpoint, buildCheckpoint } from './checkpoint-builder.ts';
import { WarmSetWriter } from './warm-set-writer.ts';

/** The checkpoint in storage. */
export type StoredCheckpoint = Pick<Checkpoint, 'generation' | 'segments' | 'indexes'>;

/** The share of bytes that may be uncovered. Each page is written again once per so much growth. */
const SHARE = 1 / 8;

/** What is known of the checkpoint of a collection, and when nothing more is written. */
export interface CheckpointState {
  /** `undefined` where there is none, or one may be there in part. */
  stored: StoredCheckpoint | undefined;
  /** Whether what is stored beside it may be gone. */
  wasRemoved: boolean;
  readonly isStopped: boolean;
  /** Whether the collection is worth a checkpoint. */
  readonly isLarge: boolean;
  /** Bytes of segments that no checkpoint covers, below which none is written. */
  readonly least: number;
}

/** Writes the checkpoint of a collection, and its warm set, where they are due. */
export class CheckpointWork {
  readonly #context: CollectionContext;
  readonly #state: CheckpointState;
  readonly #warm: WarmSetWriter;

  constructor(context: CollectionContext, state: CheckpointState) {
    this.#context = context;
    this.#state = state;
    this.#warm = new WarmSetWriter(context);
  }

  get #isDue(): boolean {
    const { records, indexes } = this.#context;
    const { least } = this.#state;
    // As first reads answer: not for values, nor where documents expire.
    const { type, expire_after } = this.#context.settings;
    if (type !== 'DOCUMENT_BASED' || expire_after) return false;
    const covered = new Set(this.#state.stored?.segments);
    let size = 0;
    let uncovered = 0;
    for (const { number, bytes } of records.log.segments.values()) {
      size += bytes;
      if (!covered.has(number)) uncovered += bytes;
    }
    const known = this.#state.stored?.indexes ?? {};
    const isNew = indexes.all.some(({ phase, column }) => phase === 'ready' && !known[column]);
    return isNew || uncovered > Math.max(least, size * SHARE);
  }

  async writeDue(): Promise<void> {
    if (this.#state.isStopped) return;
    if (this.#state.wasRemoved) this.#warm.removed();
    this.#state.wasRemoved = false;
    const { indexes, availability } = this.#context;
    /** Not when a swap of the manifest, or a drop, has come in between. */
    const isValid = (): boolean =>
      !this.#state.isStopped && !availability.error && this.#context.indexes === indexes;
    if (!this.#state.isLarge) return this.#remove(isValid);
    const isDue = this.#isDue;
    if (isDue && !this.#state.stored) await this.#warm.keep();
    if (isDue) await this.#write(isValid);
    await this.#writeWarmSet(isValid, isDue);
  }

  /** Of a collection that has become small: it has copies of documents that are deleted. */
  async #remove(isValid: () => boolean): Promise<void> {
    const removal = noCheckpoint(this.#context.settings.name);
    if (!this.#state.stored || !(await this.#put([removal], isValid))) return;
    this.#state.stored = undefined;
    this.#warm.removed();
  }

  async #writeWarmSet(isValid: () => boolean, isRenewed: boolean): Promise<void> {
    if (!this.#state.stored || !isValid()) return;
    const warm = await this.#warm.next(new Set(this.#state.stored.segments), isRenewed);
    if (warm && (await this.#put([warm.put(this.#context.settings.name)], isValid)))
      this.#warm.stored(warm);
  }

  async #write(isValid: () => boolean): Promise<void> {
    const built = await this.#build(isValid);
    if (!built || !(await this.#areSaved())) return;
    // A write that fails may be stored: then the next checkpoint begins with the removal of all
    // pages.
    this.#state.stored = undefined;
    for (const operations of built.writes) if (!(await this.#put(operations, isValid))) return;
    this.#state.stored = built.checkpoint;
  }

  /** @returns whether it was still valid. */
  #put(operations: readonly StorageOperation[], isValid: () => boolean): Promise<boolean> {
    const { saves, records } = this.#context;
    return saves.alone(async () => {
      if (!isValid()) return false;
      await records.log.write(operations);
      return true;
    });
  }

  async #build(isValid: () => boolean): Promise<BuiltCheckpoint | undefined> {
    const { records, indexes } = this.#context;
    // Compaction would move records.
    const release = records.pin();
    try {
      const building = buildCheckpoint({ records, indexes }, this.#state.stored?.generation ?? 0);
      while (isValid()) {
        const { done, value } = building.next();
        if (done) return value;
        await nextTurn();
      }
      return undefined;
    } finally {
      release();
    }
  }

  /** Saves the changes that the checkpoint leaves to newer segments. */
  async #areSaved(): Promise<boolean> {
    const { records, saves } = this.#context;
    if (records.unsaved === 0) return true;
    // The save reports its failure.
    return saves.flush().then(
      () => true,
      () => false,
    );
  }
}
