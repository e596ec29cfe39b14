import { CLOSE_DEADLINE_MS, withDeadline } from '../../async/clock.ts';
import { asCairnError } from '../../errors/errors.ts';
import type { Checkpoint } from '../../storage/checkpoint/checkpoint-format.ts';
import type { CollectionContext } from '../collection-context.ts';
import { parts } from '../parts.ts';
import type { CheckpointState, CheckpointWork, StoredCheckpoint } from './checkpoint-work.ts';

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

/**
 * Has the checkpoint of a collection written when too much was saved since the last one: when the
 * collection rests, after a while of changes, or when the database is closed. Changes may go on
 * meanwhile. The code that writes it loads then. docs/decisions/040-first-reads.md has the figures.
 */
export class CheckpointWriter implements CheckpointState {
  readonly #context: CollectionContext;
  #work: CheckpointWork | undefined;
  stored: StoredCheckpoint | undefined;
  wasRemoved = false;
  isStopped = false;
  #cancel: (() => void) | undefined;
  /** Since when a rest is waited for. */
  #waitingSince: number | undefined;
  /** Nothing that ends waits for code. */
  #loading: Promise<void> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();

  constructor(context: CollectionContext) {
    this.#context = context;
    context.events.whenSaved(() => this.schedule());
  }

  /**
   * Must be called with what opening has found: `undefined` for a damaged one, too, and when a swap
   * of the manifest has removed it.
   */
  found(checkpoint: Checkpoint | undefined): void {
    this.stored = checkpoint;
    if (!checkpoint) this.wasRemoved = true;
  }

  /** Starts the wait for a rest; to be called after the opening. Each save starts it anew. */
  schedule(): void {
    // Not before: during the opening nothing is known to be missing.
    this.#context.recent.noted = () => {
      if (!this.#cancel) this.schedule();
    };
    if (this.isStopped || !(this.stored || this.isLarge)) return;
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
  async finish(): Promise<void> {
    if (this.#cancel) {
      this.#cancel();
      this.#start();
    }
    // Code that does not come must not keep the next engine waiting.
    await withDeadline(this.#loading, CLOSE_DEADLINE_MS, () => new Error()).catch(() => undefined);
    await this.#writing;
  }

  /** Resolves when nothing is being written. */
  stop(): Promise<void> {
    this.isStopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
    return this.#writing;
  }

  /** Goes on after a stop. */
  resume(): void {
    this.isStopped = false;
    this.schedule();
  }

  get least(): number {
    return this.#context.checkpointAfter ?? FEW;
  }

  /** Whether it is worth a checkpoint. */
  get isLarge(): boolean {
    const { records } = this.#context;
    let size = 0;
    for (const { bytes } of records.log.segments.values()) {
      size += bytes;
      if (size >= this.least) return true;
    }
    return false;
  }

  get #isBulk(): boolean {
    const covered = this.stored?.segments.length ?? 0;
    return this.#context.records.log.segments.size - covered > Math.max(MANY, covered);
  }

  #start(): void {
    this.#cancel = this.#waitingSince = undefined;
    this.#loading = parts.load('upkeep').then(
      ({ CheckpointWork }) => {
        this.#work ??= new CheckpointWork(this.#context, this);
        this.#write(this.#work);
      },
      // The next rest tries again.
      () => undefined,
    );
  }

  #write(work: CheckpointWork): void {
    this.#writing = this.#writing
      .then(() => work.writeDue())
      .catch((cause: unknown) => this.#context.events.failed(asCairnError(cause)));
  }
}
