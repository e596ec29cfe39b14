import { asCairnError, type CairnError, notInMemory, StorageError } from '../../errors/errors.ts';
import { type Announcement, type Leader, PROTOCOL } from '../../platform/announcements.ts';
import { isShared, type Platform } from '../../platform/platform.ts';
import { Presence } from '../../platform/presence.ts';
import {
  type DatabaseSettings,
  type EnginePlace,
  placeOf,
  type Started,
  UNKNOWN_STATUS,
} from '../../protocol/database-settings.ts';
import type {
  ClientEvent,
  EngineEvent,
  EngineStatus,
  LiveEvent,
} from '../../protocol/event-protocol.ts';
import type { Request } from '../../protocol/requests.ts';
import { databaseDestroyed } from '../../storage/drivers/database-id.ts';
import { type GuardedClient, UnloadGuard } from '../unload/unload-guard.ts';
import type { InFlightRequests, NoteReply } from './in-flight-requests.ts';
import type {
  EngineAccess,
  LeaderEngine,
  Leadership,
  LeadershipMember,
  StartEngine,
} from './leadership.ts';
import { hasCompleteChange, ReplayBuffer, Replayer } from './replay.ts';
import type { EngineInThread, Route, RouteEvents } from './route.ts';
import { busy, checkEngineKey, tabRoute, tooOld } from './tab-route.ts';

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

interface FoundLeader {
  /** Whether its engine is this page's. */
  readonly isOwn: boolean;
  /** Its name, in another tab. */
  readonly name?: string;
  open(events: RouteEvents): Promise<Route>;
}

interface Seeking {
  readonly is: 'seeking';
  /** Whether a tab has announced since the first query that it is starting an engine. */
  isStarting: boolean;
  /** Ends the wait for an announcement. */
  cancel: () => void;
}

type LinkState =
  /** Nothing yet, or the page is frozen or ends. */
  | { readonly is: 'idle' }
  | Seeking
  /** Opens the client's handles with a leader's engine, and replays its unsaved changes. */
  | { readonly is: 'joining'; readonly leader: FoundLeader; readonly route: Route | undefined }
  | { readonly is: 'up'; readonly leader: FoundLeader; readonly route: Route }
  /** The client has closed or failed. */
  | { readonly is: 'ended' };

/**
 * A client's link to the leader's engine. It finds the leader: this page, or another tab, which
 * announces itself. When the engine is lost, it finds the next, opens the client's handles with it,
 * replays the unsaved changes and retries the requests in flight.
 *
 * ```
 * idle ──▶ seeking ──leader found──▶ joining ──replayed──▶ up
 *  ▲         ▲                          │                  │
 *  │         └──────── engine lost ─────┴──────────────────┤
 *  └──────────── page suspended, from each ────────────────┘     each ──close, failure──▶ ended
 * ```
 */
export class LeaderLink implements LeadershipMember, GuardedClient {
  readonly client: string;
  readonly start: StartEngine | undefined;
  readonly replayer: Replayer;
  readonly requests: InFlightRequests;
  readonly unsaved = new ReplayBuffer();
  readonly #settings: DatabaseSettings;
  readonly #events: LinkEvents;
  readonly #leadership: Leadership;
  readonly #platform: Platform;
  readonly #presence: Presence;
  /** The highest epoch of an announcement. */
  #epoch = 0;
  #guard: UnloadGuard | undefined;
  #state: LinkState = { is: 'idle' };
  /** How the last engine started; `undefined` before the first is up. */
  #started: Started | undefined;
  #watching = false;
  #status: EngineStatus | undefined;

  constructor(
    settings: DatabaseSettings,
    { leadership, platform, start }: EngineAccess,
    requests: InFlightRequests,
    events: LinkEvents,
  ) {
    const { name, encryption } = settings;
    this.client = platform.newClient();
    this.start = start;
    this.requests = requests;
    this.#settings = settings;
    this.#events = events;
    this.#leadership = leadership;
    this.#platform = platform;
    this.#presence = new Presence(name, this.client, platform, (said) => this.#receive(said));
    requests.noteReply = this.#noteReply;
    this.replayer = new Replayer(this.unsaved, requests.handles, platform.clock, (error, request) =>
      this.#report(error, request),
    );
    const { page } = platform;
    const shared = isShared(settings, platform);
    if (shared) {
      if (page) this.#guard = new UnloadGuard(this, page, platform.pageWriting(name));
      this.#enterTabs();
      encryption?.prepare(name);
    }
    leadership.join(this);
    if (shared) this.#seek(FIRST_SILENT_MS);
  }

  get place(): EnginePlace {
    return placeOf(this.#started ?? 'thread', this.route?.own === true);
  }

  /** The route to the engine, while it is up. */
  get route(): Route | undefined {
    return this.#state.is === 'up' ? this.#state.route : undefined;
  }

  get database(): string | undefined {
    return this.replayer.database;
  }

  /**
   * The engine in this thread. @throws {CollectionError} `sync_unavailable` while another tab is
   * the leader.
   */
  inThread(handle: number): EngineInThread {
    const engine = this.route?.inThread;
    if (engine) return engine;
    throw notInMemory(
      this.requests.handles.nameOf(handle),
      'another tab leads the database; use the methods that return promises',
    );
  }

  /** Turns the reports of changes on or off. */
  watch(on: boolean): Promise<void> {
    this.#watching = on;
    return this.requests.run((route) => route.watch(on));
  }

  /** Saves every collection, with this engine or the next. */
  save(): Promise<void> {
    return this.requests.run(async (route) => {
      await this.replayer.finish();
      await route.save();
    });
  }

  /** Leaves the engine; the last client of the page ends it. */
  async close(): Promise<void> {
    this.#end();
    await this.#leave();
    // Everything is saved, which the engine no longer reports to this client.
    const detail = this.#status && { ...this.#status, unsaved: 0, unsaved_since: undefined };
    if (detail) this.#events.event({ type: 'status', detail });
  }

  /**
   * Stops listening, too: Chromium evicts a page from the back/forward cache when a message arrives
   * for it.
   */
  suspend(mayReturn: boolean): void {
    this.#enter({ is: 'idle' });
    this.#presence.end();
    // Epochs start again in a database that another tab deletes meanwhile.
    this.#epoch = 0;
    this.#leadership.resign(mayReturn);
  }

  resume(): void {
    this.#enterTabs();
    this.#leadership.campaign();
    this.#seek(FIRST_SILENT_MS);
  }

  elected(engine: LeaderEngine): void {
    const { name, encryption } = this.#settings;
    const open = async (events: RouteEvents) => {
      // One with the same key as well: it may have been changed since.
      if (engine.starter !== this.start)
        await checkEngineKey(name, encryption, engine).catch((error) => {
          if (encryption && error.code === 'key_missing')
            this.#leadership.giveWay(engine.starter, error);
          throw error;
        });
      return engine.join(this.client, events);
    };
    void this.#join({ isOwn: true, open });
  }

  deposed(cause: CairnError | undefined): void {
    this.#lose(cause, FIRST_SILENT_MS);
  }

  /** The status says why: for example, another tab runs a newer version of the app. */
  delayed(error: CairnError): void {
    const detail = { ...(this.#status ?? UNKNOWN_STATUS), last_error: error };
    this.#events.event({ type: 'status', detail });
  }

  destroyed(database: string | undefined): void {
    if (database === undefined || database === this.database)
      this.failed(databaseDestroyed(this.#settings.name));
  }

  /**
   * Ends the client for good. What is acknowledged and not saved is written first, except to a
   * database that is gone: the next client that opens the database applies it.
   */
  failed(error: CairnError): void {
    if (this.#state.is === 'ended') return;
    const isGone = error.code === 'database_destroyed' || this.#status?.storage === 'memory';
    if (!isGone) this.#guard?.giveUp(error);
    this.#end();
    this.delayed(error);
    this.#events.failed(error);
    if (error.code === 'database_destroyed') this.#showError(error);
    // Frees the lock for other clients of the page.
    this.#leave().catch(() => undefined);
    // Other tabs hear of a journal by themselves.
    if (!isGone) this.#leadership.replayJournals();
  }

  /** Enters a state, and leaves the one before. */
  #enter(next: LinkState): void {
    const before = this.#state;
    if (before.is === 'ended') return;
    this.#state = next;
    if (before.is === 'seeking') before.cancel();
    if (!('leader' in before) || ('leader' in next && next.leader === before.leader)) return;
    if (before.is === 'up') {
      // Replies that wait for the id of the database settle.
      this.replayer.joined();
      this.requests.stop();
    }
    this.replayer.stop();
    before.route?.leave();
    if (before.is === 'up' && next.is !== 'ended') this.#events.down();
  }

  /** Looks for a leader; steals the lock of one that does not announce itself in time. */
  #seek(ms: number): void {
    const seeking: Seeking = { is: 'seeking', isStarting: false, cancel: () => undefined };
    this.#enter(seeking);
    this.#query(seeking, ms, QUERIES);
  }

  #query(seeking: Seeking, ms: number, queries: number): void {
    // A client may fail on the loss of its engine, amid the event.
    if (this.#state !== seeking) return;
    this.#presence.announcements?.say({ type: 'who' });
    seeking.cancel = this.#platform.clock.after(ms / QUERIES, () => {
      // An engine that starts here reports how that ends.
      if (this.#leadership.hosts) return;
      if (queries > 1) return this.#query(seeking, ms, queries - 1);
      if (!this.#platform.broadcast) return this.failed(busy(this.#settings.name));
      // Two tabs that steal from each other while their storage opens would never stop.
      if (!seeking.isStarting) this.#leadership.steal();
      this.#seek(FIRST_SILENT_MS);
    });
  }

  #receive(said: Announcement): void {
    const state = this.#state;
    if (said.type === 'destroyed') this.destroyed(said.database);
    else if (said.type === 'begin' && state.is === 'seeking') state.isStarting = true;
    else if (said.type === 'who' && this.#leadership.hosts && !this.#isLeader)
      this.#presence.announcements?.say({ type: 'begin' });
    if (said.type !== 'lead' || (said.lacksKey && this.#settings.encryption)) return;
    const { epoch = this.#epoch } = said;
    if (epoch < this.#epoch) return;
    this.#epoch = epoch;
    if (said.protocol === PROTOCOL) this.#follow(said);
    else if (said.protocol > PROTOCOL) this.failed(tooOld(this.#settings.name));
    // Any script may have said anything here.
    else if (said.protocol < PROTOCOL) this.#leadership.steal();
  }

  #follow(said: Leader): void {
    const state = this.#state;
    // Storage reports to an engine of this page that another leader superseded it.
    if (this.#isLeader || ('leader' in state && state.leader.name === said.leader)) return;
    const { broadcast, newClient, clock, switchboard } = this.#platform;
    const { announcements } = this.#presence;
    if (!broadcast || !announcements) return;
    const { name, encryption } = this.#settings;
    const { client } = this;
    const channel = `cairn:${name}:${newClient()}`;
    const prove = encryption?.proving(name);
    const open = async (events: RouteEvents) => {
      // The leader waits on the same lock for the end of this client.
      await this.#presence.held;
      const options = { client, channel, broadcast, announcements, clock, switchboard, prove };
      return tabRoute(said, options, events);
    };
    void this.#join({ isOwn: false, name: said.leader, open });
  }

  /** Whether the engine of this page is the leader's. */
  get #isLeader(): boolean {
    return 'leader' in this.#state && this.#state.leader.isOwn;
  }

  async #join(leader: FoundLeader): Promise<void> {
    const isCurrent = () => 'leader' in this.#state && this.#state.leader === leader;
    this.#enter({ is: 'joining', leader, route: undefined });
    try {
      const route = await leader.open(this.#routeEvents(isCurrent));
      if (!isCurrent()) return route.leave();
      this.#enter({ is: 'joining', leader, route });
      const replayed = this.#replay(route, isCurrent);
      if (this.#started) await replayed;
      // A new client has nothing to replay: its first requests travel at once, in order.
      else replayed.catch((error: unknown) => isCurrent() && this.#miss(asCairnError(error)));
      if (isCurrent()) this.#up(leader, route);
    } catch (error) {
      if (isCurrent()) this.#miss(asCairnError(error));
    }
  }

  #routeEvents(isCurrent: () => boolean): RouteEvents {
    return {
      event: (event) => isCurrent() && this.#takeEvent(event),
      hasUnsaved: () => isCurrent() && this.unsaved.size > 0,
      lost: (error) => {
        // The leadership reports the loss of an engine of this page.
        if (!isCurrent() || this.#isLeader) return;
        this.#lose(error, error ? SILENT_MS : FIRST_SILENT_MS);
      },
    };
  }

  #up(leader: FoundLeader, route: Route): void {
    this.#started = route.started;
    const up: LinkState = { is: 'up', leader, route };
    this.#enter(up);
    if (this.#status?.storage === 'memory') this.#dropGuard();
    this.#guard?.begin();
    // Live queries must start anew before the engine reports the changes of retried requests.
    this.#events.up();
    if (this.#state !== up) return;
    // Before the requests, whose changes are reported too.
    if (this.#watching) route.watch(true).catch(() => undefined);
    this.requests.start(route);
  }

  /**
   * Replays the unsaved changes, unless the database is another and the client is to start again
   * with that.
   */
  async #replay(route: Route, isCurrent: () => boolean): Promise<void> {
    try {
      await this.replayer.replay(route);
    } catch (cause) {
      const error = asCairnError(cause);
      const startsAgain = this.#settings.on_deleted === 'start_again';
      if (error.code !== 'database_destroyed' || !startsAgain || !isCurrent()) throw error;
      this.replayer.forget();
      this.#guard?.noteReleased();
      this.#showError(error);
      await this.replayer.replay(route);
    }
  }

  /** The leader refused this client or did not answer. */
  #miss(error: CairnError): void {
    // A leader may be replaced; other errors are final.
    if (error.code === 'worker_lost' || error.code === 'worker_unresponsive') this.#seek(SILENT_MS);
    else this.failed(error);
  }

  /** @param ms Time for the next leader to announce itself. */
  #lose(cause: CairnError | undefined, ms: number): void {
    // An engine in memory takes its data along.
    if (cause && this.#status?.storage === 'memory') this.failed(cause);
    else {
      if (cause?.code === 'worker_unresponsive') this.#refuseHanging(cause);
      this.#seek(ms);
    }
  }

  #refuseHanging(cause: CairnError): void {
    const refused = this.requests.refuseHanging(cause);
    if (!refused) return;
    this.#confirm();
    this.#report(refused.error, refused.request);
  }

  /** The engine has replied, or the request that ended it is refused. */
  #confirm(): void {
    if (this.#isLeader) this.#leadership.confirm();
  }

  readonly #noteReply: NoteReply = (batch, first, reply) => {
    this.#confirm();
    this.requests.handles.noteOpens(batch, reply.values);
    const added = this.unsaved.note(batch, first, reply);
    if (this.unsaved.size === 0) return undefined;
    const secure = () => (hasCompleteChange(added) ? this.#guard?.secure(added) : undefined);
    const { joining } = this.replayer;
    return joining ? joining.then(secure) : secure();
  };

  #takeEvent(event: EngineEvent): void {
    if (event.type === 'released') {
      const { handle, number, missed } = event.detail;
      // One with its number may have been opened since.
      if (number < 0) this.requests.handles.forget(handle);
      else this.unsaved.release(handle, number, missed);
      this.#guard?.noteReleased();
      return;
    }
    if (event.type === 'status') {
      const before = this.#status?.storage ?? 'memory';
      // What the client has stored is elsewhere: memory would pass for a database that was deleted.
      if (event.detail.storage === 'memory' && before !== 'memory') {
        this.failed(storageGone(event.detail.storage_reason));
        return;
      }
      this.#status = event.detail;
    }
    this.#events.event(event);
  }

  #report(error: CairnError, request: Request): void {
    this.#showError(error, this.requests.handles.nameOf(request.handle));
  }

  #showError(error: CairnError, collection?: string): void {
    this.#events.event({ type: 'error', detail: { collection, error } });
  }

  #end(): void {
    this.#enter({ is: 'ended' });
    this.#dropGuard();
  }

  /** Memory ends with the page, and must outlive its stay in the back/forward cache. */
  #dropGuard(): void {
    this.#guard?.close();
    this.#guard = undefined;
  }

  async #leave(): Promise<void> {
    this.#presence.end();
    await this.#leadership.leave(this);
  }

  #enterTabs(): void {
    this.#presence.begin().catch((error: unknown) => this.failed(asCairnError(error)));
  }
}

function storageGone(why: string | undefined): StorageError {
  return new StorageError(
    'storage_unavailable',
    `The storage of the database cannot be opened any more: ${why} What was not saved is kept: connect again.`,
  );
}

interface LinkEvents {
  /** A route is open: requests may be sent. */
  readonly up: () => void;
  /** The engine is lost; the link looks for the next. */
  readonly down: () => void;
  /** No engine can be reached any more. */
  readonly failed: (error: CairnError) => void;
  readonly event: (event: ClientEvent | LiveEvent) => void;
}
