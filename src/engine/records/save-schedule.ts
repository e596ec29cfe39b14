import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { Attachment } from '../../storage/log/log-writes.ts';
import type { CollectionEvents } from '../events/collection-events.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import { Backoff } from '../scheduling/backoff.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { RecordStore } from './record-store.ts';

/** The first wait before a failed save is tried again. */
const RETRY_MS = 500;

/** Early saves are so many milliseconds apart on average, so that steady changes are batched. */
const EARLY_SAVE_SPACING_MS = 250;
/** After a pause so many early saves may follow one another at once. */
const EARLY_SAVE_BURST = 4;

/**
 * Decides when a collection is saved: after `save_directly_after` changes at once, else `save_timeout` seconds after the
 * first unsaved change. With `save_early`, in the next turn of the event loop, unless such saves come too often: what is
 * not saved is lost where a process is killed. One save at a time: changes that arrive meanwhile go with the next.
 *
 * ```
 * idle ──change──▶ waiting ──due──▶ saving ──ok──▶ idle or waiting
 *                     ▲                └──failed──▶ retrying ──due──▶ saving
 * ```
 */
export class SaveSchedule {
  readonly #records: RecordStore;
  readonly #settings: CollectionSettings;
  readonly #clock: Clock;
  readonly #events: CollectionEvents;
  /** Settles with the save under way, before the compaction that may follow it. */
  #saving: Promise<void> | undefined;
  /** Settles when no write is under way; never rejects. */
  #writing: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  readonly #backoff = new Backoff(RETRY_MS);
  /** When the early saves so far have used up their share of time. */
  #earlySavesUntil = 0;
  /** Answers that are due to changes, which no early save overtakes. */
  #unanswered = 0;
  #stopped = false;
  /** Flushes and exclusive writes that wait or are under way. */
  #writers = 0;

  constructor(
    records: RecordStore,
    settings: CollectionSettings,
    clock: Clock,
    events: CollectionEvents,
  ) {
    this.#records = records;
    this.#settings = settings;
    this.#clock = clock;
    this.#events = events;
  }

  /** To be called after changes: starts a save, or the timer of one. */
  check(): void {
    if (this.#writing || this.#stopped) return;
    const { changes, since } = this.#records.waiting;
    if (changes === 0 || since === undefined) return;
    if (this.#backoff.waitMs === 0 && changes >= this.#settings.save_directly_after) {
      this.#start();
      return;
    }
    if (this.#cancelTimer) return;
    const delay = this.#backoff.waitMs || this.#dueAt(since) - this.#clock.elapsed();
    this.#cancelTimer = this.#clock.after(Math.max(0, delay), () => {
      this.#cancelTimer = undefined;
      if (this.#writing) return;
      this.#earlySavesUntil =
        Math.max(this.#earlySavesUntil, this.#clock.elapsed()) + EARLY_SAVE_SPACING_MS;
      this.#start();
    });
  }

  /** @param since When the first unsaved change was made. */
  #dueAt(since: number): number {
    const { save_timeout, save_early } = this.#settings;
    const last = since + save_timeout * 1000;
    if (!save_early || this.#unanswered > 0) return last;
    return Math.min(last, this.#earlySavesUntil - (EARLY_SAVE_BURST - 1) * EARLY_SAVE_SPACING_MS);
  }

  /**
   * Lets no early save begin before the answer to a change is given. If the engine were lost in between, the client could
   * only learn that the change was made, and not its result.
   */
  holdUntil(answer: Promise<unknown>): void {
    if (!this.#settings.save_early) return;
    this.#unanswered++;
    const given = (): void => {
      this.#unanswered--;
      this.#reschedule();
    };
    answer.then(given, given);
    this.#reschedule();
  }

  #reschedule(): void {
    // The retry of a failed save waits for no answer, and late answers must not put it off.
    if (this.#backoff.waitMs > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.check();
  }

  /** Saves everything so far. Rejects when that fails; the changes are kept and saved again later. */
  async flush(): Promise<void> {
    this.#writers++;
    try {
      await this.#flush();
    } finally {
      this.#writers--;
    }
  }

  /** Runs another write than a save, exclusively. */
  async alone<T>(write: () => Promise<T>): Promise<T> {
    this.#writers++;
    try {
      while (this.#writing) await this.#writing;
      const writing = write();
      this.#hold(writing);
      return await writing;
    } finally {
      this.#writers--;
    }
  }

  /** Saves everything so far, with an attachment. To be called in {@link alone}. */
  saveWith(attach: Attachment): Promise<void> {
    return this.#save(attach);
  }

  async #flush(): Promise<void> {
    if (this.#saving) {
      // Its failure is reported; the next save carries its changes.
      await this.#saving.catch(() => undefined);
    }
    if (this.#records.unsaved === 0 && this.#records.log.exists) return;
    while (this.#writing && !this.#saving) await this.#writing;
    await (this.#saving ?? this.#start());
  }

  /** Ends the schedule: no timer fires any more. Resolves when nothing is being written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    // A flush that waits for a compaction starts its save right after it.
    while (this.#writing || this.#writers > 0) await this.#writing;
  }

  /** Goes on after a stop. */
  resume(): void {
    this.#stopped = false;
    this.check();
  }

  #start(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const saving = this.#save();
    this.#saving = saving;
    this.#hold(saving);
    return saving;
  }

  /** Blocks other writes until this one, and the compaction after it, have ended. */
  #hold(writing: Promise<unknown>): void {
    this.#writing = this.#tidyAfter(writing).finally(() => {
      this.#writing = undefined;
      this.check();
    });
  }

  async #save(attach?: Attachment): Promise<void> {
    try {
      const changes = await this.#records.save(attach);
      this.#backoff.succeeded();
      this.#events.saved(changes);
      this.#events.released(this.#records.takeReleased());
    } catch (cause) {
      // Without unsaved changes only the attachment failed: its caller gets the error.
      if (attach && this.#records.unsaved === 0) throw cause;
      this.#backoff.failed();
      const error = asCairnError(cause);
      this.#events.failed(error);
      throw error;
    } finally {
      this.#saving = undefined;
    }
  }

  async #tidyAfter(writing: Promise<unknown>): Promise<void> {
    try {
      await writing;
    } catch {
      // The write reports its own failure.
      return;
    }
    try {
      while (!this.#stopped && !this.#records.pinned && (await this.#records.tidy()));
    } catch (cause) {
      this.#events.failed(asCairnError(cause));
    }
  }
}
