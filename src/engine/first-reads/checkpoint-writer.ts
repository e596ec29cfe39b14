import { nextTurn } from '../../async/next-turn.ts';
import { asCairnError } from '../../errors/errors.ts';
import { type Checkpoint, noCheckpoint } from '../../storage/checkpoint/checkpoint-format.ts';
import type { StorageOperation } from '../../storage/drivers/driver.ts';
import type { CollectionContext } from '../collection-context.ts';
import { type BuiltCheckpoint, buildCheckpoint } from './checkpoint-builder.ts';
import { WarmSetWriter } from './warm-set-writer.ts';

/** How long a collection rests before its checkpoint is written. */
const REST_MS = 2000;

/**
 * The same after a bulk insert: a page may end soon, and the next one would read all of it for its
 * first answer.
 */
const SHORT_REST_MS = 250;

/** So many segments that no checkpoint covers, and half of all, are a bulk insert: about 12 MB. */
const MANY = 500;

/** How long a collection that never rests goes without. */
const AT_LATEST_MS = 30_000;

/**
 * Bytes of segments that no checkpoint covers, below which none is written: opening reads so many
 * in a few milliseconds.
 */
const FEW = 2 * 1024 * 1024;

/** The share of bytes that may be uncovered. Each page is written again once per so much growth. */
const SHARE = 1 / 8;

/**
 * Writes the checkpoint of a collection when too much was saved since the last one: when the
 * collection rests, after a while of changes, or when the database is closed. Changes may go on
 * meanwhile.
 */
export class CheckpointWriter {
  readonly #context: CollectionContext;
  readonly #warm: WarmSetWriter;
  /** The checkpoint in storage; `undefined` where there is none, or one may be there in part. */
  #stored: Pick<Checkpoint, 'generation' | 'segments' | 'indexes'> | undefined;
  #cancel: (() => void) | undefined;
  /** Since when a rest is waited for. */
  #waitingSince: number | undefined;
  #writing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(context: CollectionContext) {
    this.#context = context;
    this.#warm = new WarmSetWriter(context);
    context.events.whenSaved(() => this.look());
  }

  /**
   * Must be called with what opening has found: `undefined` for a damaged one, too, and when a swap
   * of the manifest has removed it.
   */
  found(checkpoint: Checkpoint | undefined): void {
    this.#stored = checkpoint;
    if (!checkpoint) this.#warm.removed();
  }

  /** Starts the wait for a rest; to be called after the opening. Each save starts it anew. */
  look(): void {
    // Not before: during the opening nothing is known to be missing.
    this.#context.recent.noted = () => {
      if (!this.#cancel) this.look();
    };
    if (this.#stopped || !(this.#stored || this.#isLarge)) return;
    const { clock } = this.#context;
    const now = clock.elapsed();
    this.#waitingSince ??= now;
    const left = this.#waitingSince + AT_LATEST_MS - now;
    // One that is overdue fires, however fast saves follow one another.
    if (this.#cancel && left <= 0) return;
    this.#cancel?.();
    const rest = this.#isBulk ? SHORT_REST_MS : REST_MS;
    this.#cancel = clock.after(Math.min(rest, Math.max(0, left)), () => this.#start(), true);
  }

  /**
   * Writes what waits for a rest: nothing more will be saved. Resolves when nothing is being
   * written.
   */
  finish(): Promise<void> {
    if (this.#cancel) {
      this.#cancel();
      this.#start();
    }
    return this.#writing;
  }

  /** Resolves when nothing is being written. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
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

  get #isBulk(): boolean {
    const covered = this.#stored?.segments.length ?? 0;
    return this.#context.records.log.segments.size - covered > Math.max(MANY, covered);
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
    this.#cancel = this.#waitingSince = undefined;
    this.#writing = this.#writing
      .then(() => this.#writeDue())
      .catch((cause: unknown) => this.#context.events.failed(asCairnError(cause)));
  }

  async #writeDue(): Promise<void> {
    if (this.#stopped) return;
    const { indexes, availability } = this.#context;
    /** Not when a swap of the manifest, or a drop, has come in between. */
    const isValid = (): boolean =>
      !this.#stopped && !availability.error && this.#context.indexes === indexes;
    if (!this.#isLarge) return this.#remove(isValid);
    const isDue = this.#isDue;
    if (isDue && !this.#stored) await this.#warm.keep();
    if (isDue) await this.#write(isValid);
    await this.#writeWarmSet(isValid, isDue);
  }

  /** Of a collection that has become small: it has copies of documents that are deleted. */
  async #remove(isValid: () => boolean): Promise<void> {
    const removal = noCheckpoint(this.#context.settings.name);
    if (this.#stored && (await this.#put([removal], isValid))) this.found(undefined);
  }

  async #writeWarmSet(isValid: () => boolean, isRenewed: boolean): Promise<void> {
    if (!this.#stored || !isValid()) return;
    const warm = await this.#warm.next(new Set(this.#stored.segments), isRenewed);
    if (warm && (await this.#put([warm.put(this.#context.settings.name)], isValid)))
      this.#warm.stored(warm);
  }

  async #write(isValid: () => boolean): Promise<void> {
    const built = await this.#build(isValid);
    if (!built || !(await this.#areSaved())) return;
    // A write that fails may be stored: then the next checkpoint begins with the removal of all
    // pages.
    this.#stored = undefined;
    for (const operations of built.writes) if (!(await this.#put(operations, isValid))) return;
    this.#stored = built.checkpoint;
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
    const { records, indexes } = this.#parts;
    // Compaction would move records.
    const release = records.pin();
    try {
      const building = buildCheckpoint({ records, indexes }, this.#stored?.generation ?? 0);
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
