import { BaseClient } from '../../src/page/client/base-client.ts';
import { connectInThread } from '../../src/page/connection/thread-engine.ts';
import type { Platform } from '../../src/platform/platform.ts';
import type { UnloadWriter } from '../../src/protocol/recovery-records.ts';
import type { Browser } from './browser.ts';
import { simEncryption } from './sim-encryption.ts';
import type { Owner } from './world.ts';

/** A script that a browser has ended: nothing in it hears of that. */
class ScriptEnded extends Error {}

/** A tab with a database that it has opened. */
export class Tab implements Owner {
  readonly id: number;
  readonly db: BaseClient;
  dead = false;
  closing = false;
  frozenUntil = 0;
  /** Why it cannot open the database, while it cannot. */
  refusal: Error | undefined;
  readonly #browser: Browser;
  #hiddenUntil = 0;
  readonly #hidden = new Set<() => void>();
  readonly #left = new Set<(mayReturn: boolean) => void>();
  readonly #returned = new Set<() => void>();
  /** Where the script is ended that writes what the page leaves behind. */
  #endedWhere: 'before' | 'after' | undefined;

  /** @param word The key of an encrypted database. */
  constructor(id: number, browser: Browser, word?: string) {
    this.id = id;
    this.#browser = browser;
    const platform = this.#platform();
    this.db = new BaseClient(
      {
        ...{ name: 'db', storage: undefined, durability: 'relaxed' },
        encryption: word ? simEncryption(browser, this, word, () => this.#writing()) : undefined,
      },
      (settings) => connectInThread(settings, platform),
    );
  }

  get frozen(): boolean {
    return this.frozenUntil > this.#browser.world.now;
  }

  /** Ends without a word, as by a crash. */
  kill(): void {
    this.dead = true;
    const { world, locks } = this.#browser;
    world.after(world.random.between(10, 120), undefined, () => void locks.free(this));
  }

  /** Ends as a tab does that is closed, after the page was told. */
  close(): void {
    this.closing = true;
    const { random } = this.#browser.world;
    // Firefox ends what runs when the last tab of a site is closed, and goes on with the next
    // listener.
    if (random.chance(0.3)) this.#endedWhere = random.chance(0.5) ? 'before' : 'after';
    for (let turn = 0; turn < 2; turn++) for (const listener of this.#left) this.#tell(listener);
    // What the page begins in this moment is begun; then it is gone.
    this.#browser.world.after(0, undefined, () => this.kill());
  }

  /** Whether the page is hidden. */
  get isHidden(): boolean {
    return this.#hiddenUntil > this.#browser.world.now;
  }

  hide(ms: number): void {
    const { isHidden } = this;
    this.#hiddenUntil = this.#browser.world.now + ms;
    if (!isHidden) for (const listener of this.#hidden) listener();
  }

  /**
   * Ends as the pages of Chromium do when it is quit: a visible one is hidden first, and nothing
   * else happens.
   */
  quit(): void {
    this.hide(1);
    this.#browser.world.after(0, undefined, () => this.kill());
  }

  /** Nothing happens in it for a while, and nobody tells it. */
  freeze(ms: number): void {
    this.frozenUntil = this.#browser.world.now + ms;
  }

  /** Goes into the back/forward cache, and comes back from it. */
  rest(ms: number): void {
    for (const listener of this.#left) listener(true);
    const { world } = this.#browser;
    world.after(0.01, undefined, () => this.freeze(ms));
    world.after(ms + 1, this, () => {
      for (const listener of this.#returned) listener();
    });
  }

  #tell(listener: (mayReturn: boolean) => void): void {
    try {
      listener(false);
    } catch (error) {
      if (!(error instanceof ScriptEnded)) throw error;
    }
  }

  #writing(): UnloadWriter {
    const writing = this.#browser.storage.pageWriting;
    const endAt = (where: 'before' | 'after') => {
      if (this.#endedWhere !== where) return;
      this.#endedWhere = undefined;
      throw new ScriptEnded();
    };
    return {
      ...writing,
      write: (left, prefersJournal) => {
        endAt('before');
        const isWritten = writing.write(left, prefersJournal);
        endAt('after');
        return isWritten;
      },
    };
  }

  #platform(): Platform {
    const tab = this;
    const { world, locks, broadcast, switchboard, storage } = this.#browser;
    const listen =
      <T>(set: Set<T>) =>
      (listener: T) => {
        set.add(listener);
        return () => void set.delete(listener);
      };
    const driver = storage.driverOf(this);
    let clients = 0;
    return {
      clock: {
        now: () => 1_700_000_000_000 + world.now + this.#browser.ahead,
        elapsed: () => world.now,
        after: (ms, call) => world.after(ms, this, call),
      },
      locks: locks.of(this),
      locked: true,
      checkpointAfter: 1,
      broadcast: broadcast.of(this),
      switchboard: switchboard.of(this),
      newPorts: () => switchboard.newPorts(this),
      storage: {
        ...driver,
        open: (name, events) =>
          tab.refusal ? Promise.reject(tab.refusal) : driver.open(name, events),
      },
      page: {
        get isHidden() {
          return tab.isHidden;
        },
        onHidden: listen(this.#hidden),
        onLeft: listen(this.#left),
        onReturned: listen(this.#returned),
      },
      pageWriting: () => this.#writing(),
      journals: storage.journals,
      newClient: () => `tab${this.id}.${++clients}`,
    };
  }
}
