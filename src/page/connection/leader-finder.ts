import { asCairnError, type CairnError, StorageError } from '../../errors/errors.ts';
import {
  type Announcement,
  Announcements,
  type Leader,
  PROTOCOL,
} from '../../platform/announcements.ts';
import type { Platform } from '../../platform/platform.ts';
import { Presence } from '../../platform/presence.ts';
import type { ClientEncryption } from '../../protocol/client-encryption.ts';
import { keyMissing, notEncrypted } from '../../storage/drivers/encryption-key.ts';
import type {
  EngineAccess,
  LeaderEngine,
  Leadership,
  LeadershipMember,
  StartEngine,
} from './leadership.ts';
import type { Route, RouteEvents } from './route.ts';
import { tabRoute } from './tab-route.ts';

/**
 * A leader that was silent before and does not announce itself within this time is frozen: the lock
 * is stolen.
 */
const SILENT_MS = 1000;

/**
 * The same for a leader that was not silent before: after a reload the browser takes half a second
 * to free the old page's lock, and a leader that was silent for less than two seconds does not know
 * that it may have been replaced.
 */
const FIRST_SILENT_MS = 5000;

/** Queries in that time: a query or its answer may get lost. */
const QUERIES = 4;

/** Events of the search for a leader. */
export interface FinderEvents {
  /** A leader is known: `make` opens a route to it. */
  readonly found: (make: (events: RouteEvents) => Promise<Route>) => void;
  /** This page's engine is lost; `cause` where it failed. */
  readonly lost: (cause: CairnError | undefined) => void;
  /** This page's engine does not start for now. */
  readonly delayed: (error: CairnError) => void;
  /** No leader can be reached. */
  readonly failed: (error: CairnError) => void;
  /** The client's database is being deleted. */
  readonly destroyed: () => void;
  /** The id of the client's database, once known. */
  readonly database: () => string | undefined;
}

/** Finds the leader: this page, or another tab, which announces itself. */
export class LeaderFinder implements LeadershipMember {
  readonly client: string;
  readonly start: StartEngine | undefined;
  readonly #encryption: ClientEncryption | undefined;
  readonly #database: string;
  readonly #leadership: Leadership;
  readonly #platform: Platform;
  readonly #events: FinderEvents;
  readonly #presence: Presence;
  /**
   * Resolves when the presence lock is held. Locks are granted in the order of requests: this one
   * before the leader's.
   */
  #present = Promise.resolve();
  #announcements: Announcements | undefined;
  /** The leader in another tab; `undefined` while this page leads or no leader is known. */
  #leader: Leader | undefined;
  /** The highest epoch of an announcement. */
  #epoch = 0;
  /** Whether this page is the leader. */
  #isLeader = false;
  #cancelWait: (() => void) | undefined;
  /** Whether a tab has announced since the query that it is starting an engine. */
  #isStarting = false;
  /** Whether the client has left. */
  #hasLeft = false;

  constructor(
    database: string,
    client: string,
    { leadership, platform, start }: EngineAccess,
    encryption: ClientEncryption | undefined,
    events: FinderEvents,
  ) {
    this.client = client;
    this.#database = database;
    this.start = start;
    this.#leadership = leadership;
    this.#encryption = encryption;
    this.#platform = platform;
    this.#events = events;
    this.#presence = new Presence(database, client, platform.locks);
  }

  /** @param shared Whether other tabs may lead. */
  begin(shared: boolean): void {
    if (shared) this.#enter();
    if (shared) this.#encryption?.prepare(this.#database);
    this.#leadership.join(this);
    if (shared && !this.#isLeader) this.#query(FIRST_SILENT_MS);
  }

  /**
   * Looks for another leader, as this one does not answer or refused the client.
   *
   * @param heard Whether the leader has answered just now.
   */
  doubt(heard = false): void {
    if (this.#isLeader) return;
    this.#leader = undefined;
    this.#query(heard ? FIRST_SILENT_MS : SILENT_MS);
  }

  /** The engine has replied, or the request that ended it is refused. */
  confirm(): void {
    if (this.#isLeader) this.#leadership.confirm();
  }

  /**
   * Resigns, as the page ends or is frozen. Stops listening, too: Chromium evicts a page from the
   * back/forward cache when a message arrives for it.
   *
   * @param mayReturn As for {@link Leadership.resign}.
   */
  suspend(mayReturn: boolean): void {
    this.end();
    this.#isLeader = false;
    this.#leader = undefined;
    // Epochs start again in a database that another tab deletes meanwhile.
    this.#epoch = 0;
    this.#leadership.resign(mayReturn);
  }

  /** The page is back: looks for a leader anew. */
  resume(): void {
    this.#enter();
    this.#leadership.campaign();
    this.#query(FIRST_SILENT_MS);
  }

  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.end();
    await this.#leadership.leave(this);
  }

  /** Ends the search. */
  end(): void {
    this.#stopWaiting();
    this.#leaveAnnouncements();
    this.#presence.end();
  }

  #leaveAnnouncements(): void {
    this.#announcements?.close();
    this.#announcements = undefined;
  }

  elected(engine: LeaderEngine): void {
    this.#stopWaiting();
    this.#isLeader = true;
    this.#leader = undefined;
    this.#events.found(async (events) => {
      // One with the same key as well: it may have been changed since.
      if (engine.starter !== this.start) await checkKey(this.#database, this.#encryption, engine);
      return engine.join(this.client, events);
    });
  }

  deposed(cause: CairnError | undefined): void {
    this.#events.lost(cause);
    this.#isLeader = false;
    this.#query(FIRST_SILENT_MS);
  }

  delayed(error: CairnError): void {
    this.#events.delayed(error);
  }

  failed(error: CairnError): void {
    this.#events.failed(error);
  }

  get database(): string | undefined {
    return this.#events.database();
  }

  destroyed(database: string | undefined): void {
    if (database === undefined || database === this.database) this.#events.destroyed();
  }

  /** Listens to announcements, and takes the presence lock. */
  #enter(): void {
    const { broadcast } = this.#platform;
    this.#announcements ??=
      broadcast && new Announcements(this.#database, broadcast, (said) => this.#receive(said));
    this.#present = this.#presence.begin();
    this.#present.then(
      () => {
        // The browser has refused the lock: no tab can know that another lives.
        if (!this.#platform.broadcast) this.#leaveAnnouncements();
      },
      (error: unknown) => this.#events.failed(asCairnError(error)),
    );
  }

  #query(ms: number, queries = QUERIES): void {
    // A client that fails on the loss of its engine leaves amid the event.
    if (this.#hasLeft) return;
    this.#stopWaiting();
    if (queries === QUERIES) this.#isStarting = false;
    this.#announcements?.say({ type: 'who' });
    this.#cancelWait = this.#platform.clock.after(ms / QUERIES, () => {
      // An engine that starts here reports how that ends.
      if (this.#isLeader || this.#leader || this.#leadership.hosts) return;
      if (queries > 1) return this.#query(ms, queries - 1);
      if (!this.#platform.broadcast) return this.#events.failed(busy(this.#database));
      // Two tabs that steal from each other while their storage opens would never stop.
      if (!this.#isStarting) this.#leadership.steal();
      this.#query(FIRST_SILENT_MS);
    });
  }

  #stopWaiting(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
  }

  #receive(said: Announcement): void {
    if (said.type === 'destroyed') this.destroyed(said.database);
    else if (said.type === 'begin') this.#isStarting = true;
    else if (said.type === 'who' && this.#leadership.hosts && !this.#isLeader)
      this.#announcements?.say({ type: 'begin' });
    if (said.type !== 'lead') return;
    const { epoch = this.#epoch } = said;
    if (epoch < this.#epoch) return;
    this.#epoch = epoch;
    if (said.protocol === PROTOCOL) this.#follow(said);
    else if (said.protocol > PROTOCOL) this.#events.failed(tooOld(this.#database));
    else if (said.protocol < PROTOCOL) this.#leadership.steal();
  }

  #follow(said: Leader): void {
    // Storage reports to an engine of this page that another leader superseded it.
    if (this.#isLeader || this.#leader?.leader === said.leader) return;
    this.#stopWaiting();
    this.#leader = said;
    const { broadcast, newClient, clock, switchboard } = this.#platform;
    const announcements = this.#announcements;
    if (!broadcast || !announcements) return;
    const channel = `cairn:${this.#database}:${newClient()}`;
    const { client } = this;
    const prove = this.#encryption?.proving(this.#database);
    this.#events.found(async (events) => {
      // The leader waits on the same lock for the end of this client.
      await this.#present;
      const options = { client, channel, broadcast, announcements, clock, switchboard, prove };
      return tabRoute(said, options, events);
    });
  }
}

/** @throws {StorageError} `key_wrong`, `key_missing`, `not_encrypted` */
async function checkKey(
  name: string,
  encryption: ClientEncryption | undefined,
  { isEncrypted, keyRecord }: LeaderEngine,
): Promise<void> {
  if (encryption && !isEncrypted) throw notEncrypted();
  if (!encryption && isEncrypted) throw keyMissing();
  await encryption?.check(name, await keyRecord?.());
}

function busy(place: string): StorageError {
  return new StorageError(
    'database_busy',
    `Database "${place}" is open elsewhere: in another tab, or through another client. Close it there first.`,
    { place },
  );
}

function tooOld(place: string): StorageError {
  return new StorageError(
    'format_newer',
    `Database "${place}" is open in a tab with a newer version of cairndb. Reload this page.`,
    { place },
  );
}
