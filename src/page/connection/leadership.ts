import { Backoff, type Clock } from '../../async/clock.ts';
import { asCairnError, type CairnError, PASSING } from '../../errors/errors.ts';
import { lockName } from '../../platform/lock-names.ts';
import type { Platform } from '../../platform/platform.ts';
import { livingClients } from '../../platform/presence.ts';
import type {
  DatabaseSettings,
  PendingTerm,
  TermEvents,
} from '../../protocol/database-settings.ts';
import type { RecoveryRecord } from '../../protocol/recovery-records.ts';
import type { Route, RouteEvents } from './route.ts';

export interface LeaderEngine {
  /** Whether other tabs can use it: not where it keeps data in memory. */
  readonly shared: boolean;
  /** How it was started: who did is served, others prove their keys. */
  readonly starter?: StartEngine | undefined;
  readonly isEncrypted?: boolean;
  /** What is stored of its key, where it is encrypted. */
  readonly keyRecord?: (() => Promise<unknown>) | undefined;
  join(client: string, events: RouteEvents): Promise<Route>;
  /** Ends it once it has saved. @param deleting Whether the database is being deleted. */
  stop(deleting: boolean): Promise<void>;
  replayJournals(journals: readonly RecoveryRecord[]): void;
  /** Refuses followers, and reports no further save to them: another page may lead. */
  resign(): void;
  /** Ends it at once, without a save. */
  abandon(): void;
}

export interface LeaderEngineEvents extends TermEvents {
  /** The engine crashed or hangs, and ends; another may take its place. */
  readonly lost: (error: CairnError) => void;
  /** Storage does not open for now; it is tried again. */
  readonly delayed: (error: CairnError) => void;
  readonly isWanted: () => boolean;
}

export type StartEngine = (term: PendingTerm, events: LeaderEngineEvents) => Promise<LeaderEngine>;

/** A client of this page that uses its engine while the page is the leader. */
export interface LeadershipMember {
  readonly client: string;
  /** Starts an engine with its options; left out for that of the leadership. */
  readonly start?: StartEngine | undefined;
  /** This page is the leader and its engine runs. */
  elected(engine: LeaderEngine): void;
  /** The engine is lost: to another leader, or to a failure, the `cause`. */
  deposed(cause: CairnError | undefined): void;
  /** The engine of this page does not start for now, and is tried again. */
  delayed(error: CairnError): void;
  /** No engine starts in this page. */
  failed(error: CairnError): void;
  /** The id of its database, once it has joined an engine. */
  readonly database: string | undefined;
  /** The database with this id is being deleted; without one, any. Other members stay. */
  destroyed(database: string | undefined): void;
}

/** Time between two steals: enough for the new leader to announce itself. */
const STEAL_MS = 1500;

/** Time for an engine to stop as its database is deleted. */
const STOP_MS = 1000;

/**
 * Restarts in a row of an engine that fails before its first reply. More than the retries of a
 * request, so that a request that ends every engine is refused first, alone.
 */
const ATTEMPTS = 5;

/** Codes of errors that are about the key of one client. */
const OF_KEY = ['key_wrong', 'key_not_derived', 'not_encrypted'];

/**
 * A page's part in the leadership of a database: one engine per name and origin may write. The page
 * that holds a Web Lock is the leader, and runs the engine; the others queue for it. All clients of
 * the page that can share an engine share one.
 *
 * When a page closes or crashes, the browser grants the lock to the next within 15 to 120 ms. A
 * frozen page keeps it, so another one has to steal it. docs/decisions/007-single-writer.md and
 * 017-tabs.md have the reasons.
 */
export class Leadership {
  readonly #name: string;
  readonly #platform: Platform;
  readonly #startEngine: StartEngine;
  readonly #shared: boolean;
  readonly #members = new Set<LeadershipMember>();
  #lock: { isHeld: boolean; readonly end: () => void } | undefined;
  /** The engine, running or starting; `undefined` while another page leads. */
  #engine: Promise<LeaderEngine> | undefined;
  /** Whether the engine is ending, as the last member has left. */
  #stopping = false;
  /** Settles when the last engine that was ended has stopped. */
  #stopped: Promise<unknown> = Promise.resolve();
  /** How many clients are deleting the database. */
  #destroying = 0;
  #attempts = 0;
  /** Whether an engine was ended in the midst of what it did, or has ended so. */
  hasEnded = false;
  #stopListening: () => void = () => undefined;

  /** @param shared Whether other pages may lead the database. */
  constructor(name: string, shared: boolean, platform: Platform, start: StartEngine) {
    this.#name = name;
    this.#shared = shared;
    this.#platform = platform;
    this.#startEngine = start;
  }

  /** Whether an engine runs or starts here. */
  get hosts(): boolean {
    return this.#engine !== undefined;
  }

  join(member: LeadershipMember): void {
    if (this.#members.size === 0) this.#attempts = 0;
    if (this.#members.size === 0 && this.#shared)
      this.#stopListening = this.#platform.journals.onWritten(this.#name, () =>
        this.replayJournals(),
      );
    this.#members.add(member);
    this.#engine?.then(
      (running) => this.#members.has(member) && member.elected(running),
      // The start reports its failure to all members.
      () => undefined,
    );
    this.campaign();
  }

  /** Queues for the lock of the leader. */
  campaign(): void {
    // Two engines would damage their common storage. One that keeps its data in memory runs without
    // the lock.
    if (this.#engine || this.#stopping || this.#destroying > 0) return;
    if (!this.#shared || this.#lock?.isHeld) this.#lead(false);
    else if (!this.#lock) this.#requestLock(false);
  }

  /**
   * The engine has replied, or the request that ended it is refused: the next failure is a new one.
   */
  confirm(): void {
    this.#attempts = 0;
  }

  /** Steals the lock from a silent leader, unless another page is just doing so. */
  steal(): void {
    if (!this.#shared || this.#destroying > 0 || this.#lock?.isHeld) return;
    const { locks, clock } = this.#platform;
    const name = `${lockName(this.#name)}:steal`;
    const steal = locks.request(name, { ifAvailable: true }, (free) => {
      if (!free || this.#lock?.isHeld) return undefined;
      this.#releaseLock();
      this.#requestLock(true);
      return new Promise<void>((resolve) => clock.after(STEAL_MS, resolve));
    });
    steal.catch((error: unknown) => this.#fail(asCairnError(error)));
  }

  /**
   * Runs a task that deletes the database, while no engine runs or starts here. The clients of the
   * page fail; the engine saves nothing any more.
   *
   * @param database The id of the database. Where clients have another one already, there is
   *   nothing to do.
   */
  async destroy(database: string | undefined, task: () => Promise<void>): Promise<void> {
    this.#destroying++;
    try {
      const engine = this.#engine;
      for (const member of [...this.#members]) member.destroyed(database);
      const joined = [...this.#members].some((member) => member.database !== undefined);
      if (joined) return;
      // They were constructed since, and get the next engine.
      if (this.#members.size > 0) this.#depose();
      await new Promise<void>((resolve) => {
        const cancel = this.#platform.clock.after(STOP_MS, () => {
          this.#abandon(engine);
          resolve();
        });
        void this.#stopped.then(() => {
          cancel();
          resolve();
        });
      });
      await task();
    } finally {
      this.#destroying--;
      if (this.#members.size > 0) this.campaign();
    }
  }

  /** The last that leaves ends the engine. */
  async leave(member: LeadershipMember): Promise<void> {
    this.#members.delete(member);
    if (this.#members.size > 0) return;
    this.#stopListening();
    const engine = this.#engine;
    this.#engine = undefined;
    this.#stopping = true;
    const stopping = engine?.then(
      (running) => running.stop(this.#destroying > 0),
      () => undefined,
    );
    this.#stopped = Promise.allSettled([stopping]);
    try {
      await stopping;
    } catch (error) {
      this.hasEnded = true;
      throw error;
    } finally {
      this.#stopping = false;
      // Not earlier: until here the engine writes.
      if (this.#members.size === 0 || this.#destroying > 0) this.#releaseLock();
      else this.campaign();
    }
  }

  /** A client has ended, here or in another page, and left an unload journal. */
  replayJournals(): void {
    this.#engine
      ?.then(
        (running) =>
          running.shared && running.replayJournals(this.#platform.journals.read(this.#name)),
      )
      // The start reports its failure.
      .catch(() => undefined);
  }

  /**
   * Resigns at once, as the page ends or is frozen.
   *
   * @param mayReturn Whether the page may return: its engine must not write then. Otherwise a save
   *   that has begun may finish.
   */
  resign(mayReturn: boolean): void {
    const engine = this.#engine;
    this.#engine = undefined;
    // The start reports its failure.
    if (mayReturn) this.#abandon(engine);
    else engine?.then((running) => running.resign()).catch(() => undefined);
    this.#releaseLock();
  }

  #requestLock(steal: boolean): void {
    const waiting = new AbortController();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const end = () => {
      waiting.abort();
      release();
    };
    const lock = { isHeld: false, end };
    this.#lock = lock;
    const options = steal ? { steal } : { signal: waiting.signal };
    const request = this.#platform.locks.request(lockName(this.#name), options, () => {
      if (this.#lock !== lock) return undefined;
      lock.isHeld = true;
      this.#lead(steal);
      return held;
    });
    request.catch((error: unknown) => {
      if (this.#lock !== lock) return;
      this.#lock = undefined;
      // Another page has stolen it, maybe before it was granted here.
      if (lock.isHeld) this.#depose();
      else if ((error as { name?: string }).name === 'AbortError') this.#requestLock(false);
      else this.#fail(asCairnError(error));
    });
  }

  /** Releases the lock, or leaves the queue. */
  #releaseLock(): void {
    this.#lock?.end();
    this.#lock = undefined;
  }

  /** @param stolen Whether the old leader may not know yet. */
  #lead(stolen: boolean): void {
    // A steal may succeed after the last member has left, or beside an engine that needs no lock.
    if (this.#engine || this.#members.size === 0) {
      this.#releaseLock();
      return;
    }
    const { locks, locked, newClient, journals, switchboard } = this.#platform;
    let current = true;
    const isCurrent = () => current && this.#engine === engine;
    const expected = this.#shared
      ? livingClients(this.#name, locks)
      : Promise.resolve(Array.from(this.#members, ({ client }) => client));
    const events: LeaderEngineEvents = {
      superseded: () => {
        if (isCurrent()) this.#depose();
      },
      lost: (error) => {
        if (!isCurrent()) return;
        current = false;
        this.#replace(error);
      },
      delayed: (error) => {
        for (const member of this.#members) member.delayed(error);
      },
      isWanted: isCurrent,
      recovered: (keys) => journals.forget(this.#name, keys),
      bring: (address, port) => switchboard?.bring(address, port),
    };
    // In a microtask: the first access to localStorage takes milliseconds, in which the engine
    // starts.
    const pending = Promise.resolve().then(() => (this.#shared ? journals.read(this.#name) : []));
    const [starter] = this.#members;
    const engine: Promise<LeaderEngine> = (starter?.start ?? this.#startEngine)(
      { leader: newClient(), locked, stolen, journals: pending, expected },
      events,
    );
    this.#engine = engine;
    engine.then(
      (running) => {
        if (this.#engine !== engine) return running.abandon();
        // Each tab has a memory of its own, and so an engine.
        if (!running.shared) this.#releaseLock();
        for (const member of this.#members) member.elected(running);
      },
      (error: unknown) => {
        if (this.#engine !== engine) return;
        this.#engine = undefined;
        this.#releaseLock();
        this.#miss(asCairnError(error), starter);
      },
    );
  }

  /** No engine starts as a member would have it. */
  #miss(error: CairnError, starter: LeadershipMember | undefined): void {
    if (!starter || !OF_KEY.includes(error.code)) {
      this.#fail(error);
      return;
    }
    // Other clients of the page may have the right key.
    starter.failed(error);
    this.#members.delete(starter);
    if (this.#members.size > 0) this.campaign();
  }

  /** The engine lacks the key of what is stored, which another client of the page has. */
  giveWay(starter: StartEngine | undefined, error: CairnError): void {
    for (const member of this.#members) if (member.start === starter) member.failed(error);
    this.#depose();
  }

  /** Replaces an engine that failed. */
  #replace(cause: CairnError): void {
    this.#engine = undefined;
    this.hasEnded = true;
    for (const member of this.#members) member.deposed(cause);
    if (!this.#shared || ++this.#attempts > ATTEMPTS) {
      this.#releaseLock();
      this.#fail(cause);
    } else if (this.#lock?.isHeld) this.#lead(false);
  }

  /** Another page is the leader now. */
  #depose(): void {
    const engine = this.#engine;
    this.#engine = undefined;
    this.#abandon(engine);
    this.#releaseLock();
    for (const member of this.#members) member.deposed(undefined);
    this.campaign();
  }

  #abandon(engine: Promise<LeaderEngine> | undefined): void {
    if (engine) this.hasEnded = true;
    // The start reports its failure.
    engine?.then((running) => running.abandon()).catch(() => undefined);
  }

  #fail(error: CairnError): void {
    for (const member of this.#members) member.failed(error);
  }
}

/** A client's access to engines: the page's leadership, and its platform. */
export interface EngineAccess {
  readonly leadership: Leadership;
  readonly platform: Platform;
  /** Starts an engine with the options of this client. */
  readonly start?: StartEngine | undefined;
}

/** Access of a client that can start engines itself. */
export interface StartingAccess extends EngineAccess {
  readonly start: StartEngine;
}

/** Loads the code to reach an engine in this thread, or in a worker. */
export type Connect = (settings: DatabaseSettings) => EngineAccess | Promise<EngineAccess>;

/**
 * Deletes a database.
 *
 * @param database Its id, where the client knows it.
 */
export type DestroyDatabase = (
  settings: DatabaseSettings,
  access: EngineAccess,
  database: string | undefined,
) => Promise<void>;

/**
 * Wait before the second attempt; a browser that has just started often opens a database some
 * milliseconds later.
 */
const FIRST_MS = 100;

/** No attempt begins later. */
const PATIENCE_MS = 15_000;

/** Opens storage, again after a while where that fails for a reason that may pass. */
export async function openPatiently<T>(
  open: () => Promise<T>,
  { delayed, isWanted }: Pick<LeaderEngineEvents, 'delayed' | 'isWanted'>,
  clock: Clock,
): Promise<T> {
  const deadline = clock.elapsed() + PATIENCE_MS;
  const backoff = new Backoff(FIRST_MS);
  for (;;) {
    try {
      return await open();
    } catch (cause) {
      const error = asCairnError(cause);
      const wait = backoff.failed();
      const mayPass = PASSING.includes(error.code) && clock.elapsed() + wait <= deadline;
      if (!mayPass || !isWanted()) throw error;
      delayed(error);
      await new Promise<void>((resolve) => clock.after(wait, resolve));
      if (!isWanted()) throw error;
    }
  }
}
