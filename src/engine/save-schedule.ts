import { Backoff, type Clock } from '../async/clock.ts';
import { type Coroutine, outcome, type Result } from '../async/coroutine.ts';
import { asCairnError } from '../errors/errors.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import type { FencedStorage } from '../storage/fenced-storage.ts';
import type { Attachment } from '../storage/log/log-writes.ts';
import type { CollectionEvents } from './collection-events.ts';
import type { RecordStore } from './records/record-store.ts';

/** The first wait before a failed save is tried again. */
const RETRY_MS = 500;

/** Early saves are so many milliseconds apart on average, so that steady changes are batched. */
const EARLY_SAVE_SPACING_MS = 250;
/** After a pause so many early saves may follow one another at once. */
const EARLY_SAVE_BURST = 4;

/**
 * Removes and merges segments where that is due and its code is there.
 *
 * @param again Must be called where the code came later.
 * @returns whether there may be more to do.
 */
export type Tidy = (records: RecordStore, again: () => void) => Promise<boolean>;

/** What a schedule tells of its saves. */
type SaveEvents = Pick<CollectionEvents, 'saved' | 'failed'> & {
  readonly hub: Pick<CollectionEvents['hub'], 'release'>;
};

/**
 * Decides when a collection is saved: after `save_directly_after` changes at once, else
 * `save_timeout` seconds after the first unsaved change. With `save_early`, in the next turn of the
 * event loop, unless such saves come too often: what is not saved is lost where a process is
 * killed. One save at a time: changes that arrive meanwhile go with the next.
 *
 * Linked collections are saved together, by the schedule that is due first, once none of them is
 * being written to.
 *
 * ```
 * idle ──change──▶ waiting ──due──▶ saving ──ok──▶ idle or waiting
 *                     ▲                └──failed──▶ retrying ──due──▶ saving
 * ```
 *
 * docs/decisions/020-early-saves.md has the figures.
 */
export class SaveSchedule {
  readonly #records: RecordStore;
  readonly #settings: CollectionSettings;
  readonly #clock: Clock;
  readonly #events: SaveEvents;
  readonly #links: SaveLinks<SaveSchedule>;
  readonly #tidyRecords: Tidy;
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
  /** Whether the others of the group are saved without it: it is being dropped. */
  #isLeaving = false;
  /** Resolves when that has succeeded, or failed. */
  #outcome: Promise<void> | undefined;
  /** Flushes and exclusive writes that wait or are under way. */
  readonly #writers = new Set<Promise<unknown>>();

  constructor(
    records: RecordStore,
    settings: CollectionSettings,
    clock: Clock,
    events: SaveEvents,
    links: SaveLinks<SaveSchedule>,
    tidy: Tidy,
  ) {
    this.#records = records;
    this.#settings = settings;
    this.#clock = clock;
    this.#events = events;
    this.#links = links;
    this.#tidyRecords = tidy;
  }

  /** To be called after changes: starts a save, or the timer of one. */
  check(): void {
    if (this.#writing || this.#stopped) return;
    const { changes, since } = this.#records.waiting;
    if (changes === 0 || since === undefined) return;
    const { waitMs } = this.#backoff;
    if (waitMs === 0 && changes >= this.#settings.save_directly_after) {
      // Else the end of the other write checks again.
      if (!this.#busy) this.#start();
      return;
    }
    if (this.#cancelTimer) return;
    const isEarly = waitMs === 0 && this.#mayBeEarly;
    const delay = waitMs || this.#dueAt(since, isEarly) - this.#clock.elapsed();
    this.#cancelTimer = this.#clock.after(Math.max(0, delay), () => {
      this.#cancelTimer = undefined;
      if (this.#busy) return;
      if (isEarly && !this.#mayBeEarly) return this.check();
      this.#earlySavesUntil =
        Math.max(this.#earlySavesUntil, this.#clock.elapsed()) + EARLY_SAVE_SPACING_MS;
      this.#start();
    });
  }

  /** This schedule, then those that must be saved with it. */
  get #group(): readonly SaveSchedule[] {
    const group: SaveSchedule[] = [this];
    // What has nothing to save may be writing for long: an import.
    if (this.#records.unsaved > 0)
      for (const one of this.#links.of(this))
        if (one !== this && !one.#isLeaving && one.#records.unsaved > 0) group.push(one);
    return group;
  }

  /**
   * Settles when no write of one of the group is under way; `undefined` where none of them is being
   * written to.
   */
  get #busy(): Promise<void> | undefined {
    for (const one of this.#group) if (one.#writing) return one.#writing;
    return undefined;
  }

  get #mayBeEarly(): boolean {
    return this.#settings.save_early && this.#group.every((one) => one.#unanswered === 0);
  }

  /** Whether a flush or an exclusive write waits or is under way. */
  get isFlushing(): boolean {
    return this.#writers.size > 0;
  }

  /** @param since When the first unsaved change was made. */
  #dueAt(since: number, isEarly: boolean): number {
    const last = since + this.#settings.save_timeout * 1000;
    if (!isEarly) return last;
    return Math.min(last, this.#earlySavesUntil - (EARLY_SAVE_BURST - 1) * EARLY_SAVE_SPACING_MS);
  }

  /**
   * Lets no early save begin before the answer to a change is given. If the engine were lost in
   * between, the client could only learn that the change was made, and not its result.
   */
  holdUntil(answer: Promise<unknown>): void {
    this.#unanswered++;
    const given = (): void => {
      this.#unanswered--;
      this.#reschedule();
    };
    answer.then(given, given);
    this.#reschedule();
  }

  #reschedule(): void {
    for (const one of this.#links.of(this)) if (one.#settings.save_early) one.#rescheduleOwn();
  }

  #rescheduleOwn(): void {
    // The retry of a failed save waits for no answer, and late answers must not put it off.
    if (this.#backoff.waitMs > 0) return;
    this.#endTimer();
    this.check();
  }

  #endTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /**
   * Saves everything so far. Rejects when that fails; the changes are kept and saved again later.
   */
  flush(): Promise<void> {
    // A save beside a drop would bring back what it removes: a transaction that has read the
    // collection may ask for one. It comes once the drop has failed.
    if (this.#isLeaving) return this.#flushLater();
    return this.#note(this.#flush());
  }

  /** Runs another write than a save, exclusively; it may begin with {@link saveWith}. */
  alone<T>(write: () => Promise<T>): Promise<T> {
    return this.#note(this.#writeAlone(write));
  }

  async #writeAlone<T>(write: () => Promise<T>): Promise<T> {
    while (this.#busy) await this.#busy;
    const writing = write();
    this.hold(writing);
    return writing;
  }

  #note<T>(writer: Promise<T>): Promise<T> {
    this.#writers.add(writer);
    const ended = () => void this.#writers.delete(writer);
    writer.then(ended, ended);
    return writer;
  }

  async #flushLater(): Promise<void> {
    await this.#outcome;
    if (!this.#isLeaving) await this.flush();
  }

  async #flush(): Promise<void> {
    if (this.#saving) {
      // Its failure is reported; the next save carries its changes.
      await this.#saving.catch(() => undefined);
    }
    if (this.#records.unsaved === 0 && this.#records.log.exists) return;
    while (this.#busy && !this.#saving) await this.#busy;
    await (this.#saving ?? this.#start());
  }

  /** Ends the schedule: no timer fires any more. Resolves when nothing is being written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#endTimer();
    // A flush that waits for a compaction, or for a linked collection, starts its save right after
    // it.
    while (this.#writing || this.#writers.size > 0)
      await (this.#writing ?? Promise.allSettled(this.#writers));
  }

  /**
   * Stops for a drop: linked collections are saved without this one from now on.
   *
   * @param outcome Resolves when the drop has succeeded, or failed.
   */
  leave(outcome?: Promise<void>): Promise<void> {
    this.#isLeaving = true;
    this.#outcome = outcome;
    return this.stop();
  }

  /** Goes on after a stop. */
  resume(): void {
    this.#isLeaving = false;
    this.#stopped = false;
    this.check();
  }

  #start(): Promise<void> {
    const saving = this.saveWith();
    this.#saving = saving;
    this.hold(saving);
    return saving;
  }

  /**
   * Blocks writes that have not begun until this one, and the compaction after it, have ended; or
   * until a value is there that they save.
   */
  hold(writing: Promise<unknown>): void {
    const held = this.#tidyAfter(Promise.all([this.#writing, writing])).finally(() => {
      if (this.#writing !== held) return;
      this.#writing = undefined;
      for (const one of this.#links.of(this)) one.check();
    });
    this.#writing = held;
  }

  /**
   * Saves everything so far, and the group of linked collections. None of them may be writing.
   *
   * @param attach Adds to the save: for a write of {@link alone}, in the turn in which it begins.
   */
  saveWith(attach?: Attachment): Promise<void> {
    const group = this.#group;
    this.#links.release(group);
    const saving = this.#saveAll(group, attach);
    for (const one of group) {
      one.#endTimer();
      if (one === this) continue;
      one.#saving = saving;
      one.hold(saving);
    }
    return saving;
  }

  async #saveAll(group: readonly SaveSchedule[], attach?: Attachment): Promise<void> {
    try {
      const records = group.map((one) => one.#records);
      const changes = await saveTogether(records, attach);
      for (const [index, one] of group.entries()) {
        one.#backoff.succeeded();
        one.#events.saved(changes[index] as number);
        one.#events.hub.release(one.#records.takeReleased());
      }
    } catch (cause) {
      this.#links.link(group);
      // Without unsaved changes only the attachment failed: its caller gets the error.
      if (attach && group.every((one) => one.#records.unsaved === 0)) throw cause;
      const error = asCairnError(cause);
      for (const one of group) {
        one.#backoff.failed();
        one.#events.failed(error);
      }
      throw error;
    } finally {
      for (const one of group) one.#saving = undefined;
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
      while (!this.#stopped && !this.#records.guard.pinned && (await this.#tidy()));
    } catch (cause) {
      this.#events.failed(asCairnError(cause));
    }
  }

  #tidy(): Promise<boolean> {
    const again = () => void this.alone(() => Promise.resolve());
    return this.#tidyRecords(this.#records, again);
  }
}

/** Which collections have unsaved changes that must be saved together: those of a transaction. */
export class SaveLinks<T extends object> {
  readonly #groups = new WeakMap<T, Set<T>>();

  /**
   * Links the members, and all that are linked with one of them. Must be called in the turn of
   * their changes: no save comes in between.
   */
  link(members: Iterable<T>): void {
    const group = new Set<T>();
    for (const member of members) for (const one of this.of(member)) group.add(one);
    for (const one of group) this.#groups.set(one, group);
  }

  /** Those linked with it, itself included. */
  of(member: T): Iterable<T> {
    return this.#groups.get(member) ?? [member];
  }

  /** Must be called when a save takes the changes of the members: later changes are linked anew. */
  release(members: Iterable<T>): void {
    for (const member of members) {
      this.#groups.get(member)?.delete(member);
      this.#groups.delete(member);
    }
  }
}

/**
 * Writes the pending changes of collections as segments, in one transaction: all of them are
 * stored, or none. None may be written to meanwhile. If it fails, the changes are pending again.
 *
 * @param attach Of the first collection.
 * @returns how many changes each had.
 */
export async function saveTogether(
  collections: readonly RecordStore[],
  attach?: Attachment,
): Promise<number[]> {
  const begun = collections.map((one, index) => one.beginSave(index === 0 ? attach : undefined));
  const saves = begun.filter((one) => one !== undefined);
  if (saves.length > 0) await collections[0]?.log.commit(saves);
  return begun.map((one) => one?.changes ?? 0);
}

/**
 * Executes a request that may hang the thread while storage rests: nothing is in flight when it
 * begins, and no write begins before it ends. In WebKit a transaction stays open when the worker
 * that began it is terminated, and blocks the next leader for a minute
 * (test/browser/hung-query.test.ts).
 */
export function* atRest<T>(storage: FencedStorage, execute: () => Result<T>): Coroutine<T> {
  // Requests of many clients overlap, and would keep the writes waiting for ever.
  while (storage.hasHeldWrites) yield storage.writesBegun();
  const release = storage.holdWrites();
  try {
    if (storage.isBusy) yield storage.idle();
    return yield* outcome(execute());
  } finally {
    release();
  }
}
