import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { Checkpoint } from '../../storage/checkpoint/checkpoint-format.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import { nextTurn } from '../scheduling/next-turn.ts';
import { type BuiltCheckpoint, buildCheckpoint } from './checkpoint-builder.ts';

/** How long a collection rests before its checkpoint is written. */
const REST_MS = 2000;

/**
 * Bytes of segments that no checkpoint covers, below which none is written: opening reads so many in a few
 * milliseconds.
 */
const FEW = 2 * 1024 * 1024;

/** The share of bytes that may be uncovered. Each page is written again once per so much growth. */
const SHARE = 1 / 8;

/** Writes the checkpoint of a collection when it rests, and too much was saved since the last one. */
export class CheckpointWriter {
  readonly #context: CollectionContext;
  /** The checkpoint in storage. */
  #stored: Pick<Checkpoint, 'generation' | 'segments' | 'indexes'> | undefined;
  #cancel: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(context: CollectionContext) {
    this.#context = context;
    context.events.whenSaved(() => this.look());
  }

  /** Must be called with what opening has found, and when a swap of the manifest has removed it. */
  found(checkpoint: Checkpoint | undefined): void {
    this.#stored = checkpoint;
  }

  /** Starts the wait for a rest; to be called after the opening. Each save starts it anew. */
  look(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#stopped || !this.#isLarge) return;
    this.#cancel = this.#context.clock.after(REST_MS, () => this.#start(), true);
  }

  /** Resolves when nothing is being written. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    return this.#writing;
  }

  /** Goes on after a stop. */
  resume(): void {
    this.#stopped = false;
    this.look();
  }

  get #isLarge(): boolean {
    const { records, least } = this.#parts;
    let size = 0;
    for (const { bytes } of records.log.segments.values()) {
      size += bytes;
      if (size >= least) return true;
    }
    return false;
  }

  get #isDue(): boolean {
    const { records, indexes, least } = this.#parts;
    // As first reads answer: not for values, nor where documents expire.
    const { type, expire_after } = this.#context.settings;
    if (type !== 'DOCUMENT_BASED' || expire_after) return false;
    const covered = new Set(this.#stored?.segments);
    let size = 0;
    let uncovered = 0;
    for (const { number, bytes } of records.log.segments.values()) {
      size += bytes;
      if (!covered.has(number)) uncovered += bytes;
    }
    const known = this.#stored?.indexes ?? {};
    const isNew = indexes.all.some(({ phase, column }) => phase === 'ready' && !known[column]);
    return isNew || uncovered > Math.max(least, size * SHARE);
  }

  get #parts() {
    const { records, indexes, checkpointAfter: least = FEW } = this.#context;
    return { records, indexes, least };
  }

  #start(): void {
    this.#cancel = undefined;
    if (!this.#isDue) return;
    this.#writing = this.#writing
      .then(() => this.#write())
      .catch((cause: unknown) => this.#context.events.failed(asCairnError(cause)));
  }

  async #write(): Promise<void> {
    const built = await this.#build();
    if (!built) return;
    for (const operations of built.writes) {
      const isWritten = await this.#context.saves.alone(async () => {
        // A swap of the manifest, or a drop, has come in between.
        if (this.#stopped || !built.isValid()) return false;
        await this.#context.records.log.write(operations);
        return true;
      });
      if (!isWritten) return;
    }
    this.#stored = built.checkpoint;
  }

  /** `undefined` where something has changed meanwhile; the next save looks again. */
  async #build(): Promise<(BuiltCheckpoint & { readonly isValid: () => boolean }) | undefined> {
    const { records, indexes } = this.#parts;
    const { newest } = records.log;
    const isValid = (): boolean =>
      !this.#context.availability.error && this.#context.indexes === indexes;
    const isSame = (): boolean =>
      !this.#stopped && isValid() && records.unsaved === 0 && records.log.newest === newest;
    // Compaction would move records.
    const release = records.pin();
    try {
      const building = buildCheckpoint({ records, indexes }, this.#stored?.generation ?? 0);
      while (isSame()) {
        const { done, value } = building.next();
        if (done) return value && { ...value, isValid };
        await nextTurn();
      }
      return undefined;
    } finally {
      release();
    }
  }
}
