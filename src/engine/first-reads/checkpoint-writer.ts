import { CLOSE_DEADLINE_MS, withDeadline } from '../../async/clock.ts';
import type { Checkpoint } from '../../storage/checkpoint/checkpoint-format.ts';
import type { CollectionContext } from '../collection-context.ts';
import { parts } from '../parts.ts';
import type { CheckpointState, CheckpointWork, StoredCheckpoint } from './checkpoint-work.ts';

/**
 * Bytes of segments that no checkpoint covers, below which none is written: opening reads so many
 * in a few milliseconds.
 */
const FEW = 2 * 1024 * 1024;

/**
 * Has the checkpoint of a collection written when too much was saved since the last one. The code
 * that knows when, and writes it, loads where a collection is worth one.
 * docs/decisions/040-first-reads.md has the figures.
 */
export class CheckpointWriter implements CheckpointState {
  readonly #context: CollectionContext;
  #work: CheckpointWork | undefined;
  stored: StoredCheckpoint | undefined;
  wasRemoved = false;
  isStopped = false;
  /** Nothing that ends waits for code. */
  #loading: Promise<void> | undefined;

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
    if (this.isStopped || !(this.stored || this.isLarge)) return;
    if (this.#work) this.#work.schedule();
    else this.#load();
  }

  #load(): void {
    this.#loading ??= parts
      .load('upkeep')
      .then(
        ({ CheckpointWork }) => {
          this.#work = new CheckpointWork(this.#context, this);
          this.schedule();
        },
        // The next save tries again.
        () => undefined,
      )
      .finally(() => {
        this.#loading = undefined;
      });
  }

  /**
   * Writes what waits for a rest: nothing more will be saved. Resolves when nothing is being
   * written.
   */
  async finish(): Promise<void> {
    // Code that does not come must not keep the next engine waiting.
    if (this.#loading)
      await withDeadline(this.#loading, CLOSE_DEADLINE_MS, () => new Error()).catch(
        () => undefined,
      );
    await this.#work?.finish();
  }

  /** Resolves when nothing is being written. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.#work?.stop();
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
}
