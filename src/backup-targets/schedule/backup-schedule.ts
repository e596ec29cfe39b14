import type { Clock } from '../../async/clock.ts';
import type { Runtime } from '../../page/calls/runtime.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import { markKey, marksOf } from '../../platform/page-store.ts';
import type { RemoteBackupStatus } from '../../protocol/database-settings.ts';
import type { BackupEnvironment } from './page-environment.ts';

const HOUR_MS = 60 * 60 * 1000;

/** The first delay after a failure; each further one doubles it, up to an hour. */
const RETRY_MS = 60_000;

interface ScheduledRun {
  readonly isLeader: () => boolean;
  /** When the last check ended, in this page or an earlier one: Unix milliseconds. */
  readonly last: () => Promise<number | undefined>;
  /**
   * Backs up if something has changed. @returns whether it is done; it reports a failure itself.
   */
  readonly run: () => Promise<boolean>;
  /** Reports that it cannot be found out whether a backup is due. */
  readonly failed: (error: Error) => void;
}

/** Runs a backup when it is due, in the leader alone. */
export class BackupSchedule {
  readonly #every: 'day' | number;
  readonly #task: ScheduledRun;
  readonly #clock: Clock;
  #cancel: () => void = () => undefined;
  #checking = false;
  #failures = 0;
  #isStopped = false;
  #next: number | undefined;

  constructor(every: 'day' | number, task: ScheduledRun, clock: Clock) {
    this.#every = every;
    this.#task = task;
    this.#clock = clock;
  }

  /** When the next check is due, in Unix milliseconds. */
  get next(): number | undefined {
    return this.#next;
  }

  /** Checks whether a backup is due: at the start, and when the leader may be another. */
  async check(): Promise<void> {
    if (this.#checking || this.#isStopped || !this.#task.isLeader()) return;
    this.#checking = true;
    this.#cancel();
    try {
      const wait = await this.#wait();
      if (wait > 0) return this.#checkIn(wait);
      if (!(await this.#task.run())) return this.#retry();
      this.#failures = 0;
      this.#checkIn(await this.#wait());
    } catch (error) {
      this.#task.failed(error as Error);
      this.#retry();
    } finally {
      this.#checking = false;
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#next = undefined;
  }

  /** Milliseconds until a backup is due. */
  async #wait(): Promise<number> {
    const last = await this.#task.last();
    const now = this.#clock.now();
    // A check in the future: the clock was set back.
    if (last === undefined || last > now) return 0;
    const due = this.#every === 'day' ? nextDay(last) : last + this.#every * 1000;
    return due - now;
  }

  #retry(): void {
    this.#checkIn(Math.min(RETRY_MS * 2 ** this.#failures++, HOUR_MS));
  }

  #checkIn(ms: number): void {
    if (this.#isStopped) return;
    this.#next = this.#clock.now() + ms;
    // At least hourly: the clock may jump, and a device may sleep.
    const delay = Math.min(Math.max(ms, 1000), HOUR_MS);
    this.#cancel = this.#clock.after(delay, () => void this.check(), true);
  }
}

/** The beginning of the next day of the user's calendar. */
function nextDay(at: number): number {
  const day = new Date(at);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime();
}

/** A client of a database, as this package knows it. */
interface RuntimeOwner {
  readonly loadRuntime: () => Promise<Runtime>;
}

interface Shown {
  readonly status: RemoteBackupStatus;
}

/** The backups of each client. */
const shown = new WeakMap<object, Set<Shown>>();

export function isClient(value: unknown): value is DatabaseClient {
  return typeof (value as Partial<RuntimeOwner> | null | undefined)?.loadRuntime === 'function';
}

/** Adds backups to `db.status.backups`, or removes stopped ones, and reports the status anew. */
export function showStatus(db: DatabaseClient, backups: Shown, isStopped = false): void {
  const all = shown.get(db) ?? new Set();
  shown.set(db, all);
  if (isStopped) all.delete(backups);
  else all.add(backups);
  (db as unknown as RuntimeOwner).loadRuntime().then(
    ({ channel }) =>
      channel.show('backups', () => ({ backups: Array.from(all, ({ status }) => status) })),
    // The first call of the client rejects with it.
    () => undefined,
  );
}

/** Begins the names of marks that say when a target was last checked. */
const TARGET = 'target';

/**
 * The ids of the targets that a database of this browser was backed up to, such as
 * `webdav:https://…/`; without credentials. An app whose data was evicted knows by them where to
 * restore from, if it does not know anyway.
 *
 * @param name The name of the database.
 */
export function rememberedTargets(name: string): string[] {
  return marksOf(name).flatMap(([kind, id]) => (kind === TARGET && id ? id : []));
}

/** The number of saves seen by this page; `undefined` while something is unsaved. */
type Seen = number | undefined;

/** When a backup was last made or found unnecessary, and whether something has changed since. */
export class LastCheck {
  readonly #db: DatabaseClient;
  readonly #key: string | undefined;
  readonly #environment: BackupEnvironment;
  #at: number | undefined;
  #saves = 0;
  #seen: Seen;

  /** @param target The id of the target; without one the target itself is asked. */
  constructor(db: DatabaseClient, target: string | undefined, environment: BackupEnvironment) {
    this.#db = db;
    this.#key = target && markKey(db.name, TARGET, target);
    this.#environment = environment;
  }

  async read(ask: () => Promise<number | undefined>): Promise<number | undefined> {
    const stored = this.#key ? Number(this.#environment.memory.read(this.#key)) : 0;
    this.#at ??= stored > 0 ? stored : await ask();
    return this.#at;
  }

  /** Counts the saves of changes. @returns the function that ends that. */
  watch(): () => void {
    return this.#db.on('save', () => void this.#saves++);
  }

  get now(): Seen {
    return this.#db.status.unsaved > 0 ? undefined : this.#saves;
  }

  /** Whether something may have changed since this page has noted. */
  get hasChanged(): boolean {
    return this.#seen === undefined || this.#seen !== this.now;
  }

  /** @param seen As of before the backup. */
  note(seen: Seen): void {
    this.#seen = seen;
    this.#at = this.#environment.clock.now();
    if (this.#key) this.#environment.memory.write(this.#key, String(this.#at));
  }
}
