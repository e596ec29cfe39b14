import { asCairnError, type CairnError, notInMemory, StorageError } from '../../errors/errors.ts';
import { isShared } from '../../platform/platform.ts';
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
import type { BatchReply, FirstSequenceNumbers, Request } from '../../protocol/requests.ts';
import { databaseDestroyed } from '../../storage/drivers/database-id.ts';
import { type GuardedClient, UnloadGuard } from '../unload/unload-guard.ts';
import type { InFlightRequests } from './in-flight-requests.ts';
import { LeaderFinder } from './leader-finder.ts';
import type { EngineAccess, Leadership } from './leadership.ts';
import { hasCompleteChange, ReplayBuffer, Replayer } from './replay.ts';
import type { EngineInThread, Route, RouteEvents } from './route.ts';

/**
 * A client's link to the leader's engine. When that engine is lost, the link finds the next, opens
 * the client's handles with it, replays the unsaved changes and retries the requests in flight.
 */
export class LeaderLink {
  readonly replayer: Replayer;
  readonly #requests: InFlightRequests;
  readonly #events: LinkEvents;
  readonly #client: string;
  readonly #leadership: Leadership;
  readonly #finder: LeaderFinder;
  #guard: UnloadGuard | undefined;
  readonly #unsaved = new ReplayBuffer();
  #route: Route | undefined;
  /** The next route, until its engine has answered the replay. */
  #joining: Route | undefined;
  /**
   * Counts attempts to take a route: only the latest counts, and an earlier one has left its route.
   */
  #attempt = 0;
  #started: Started = 'thread';
  #watching = false;
  /** The latest status of an engine. */
  #status: EngineStatus | undefined;
  #wasUp = false;
  #ended = false;
  /** Whether the client goes on where its database was deleted. */
  readonly #startsAgain: boolean;

  constructor(
    settings: DatabaseSettings,
    access: EngineAccess,
    requests: InFlightRequests,
    events: LinkEvents,
  ) {
    const { name, encryption } = settings;
    this.#startsAgain = settings.on_deleted === 'start_again';
    const { leadership, platform } = access;
    this.#events = events;
    this.#client = platform.newClient();
    this.#leadership = leadership;
    this.#requests = requests;
    requests.noteReply = (batch, first, reply) => this.#noteReply(batch, first, reply);
    this.replayer = new Replayer(
      this.#unsaved,
      requests.handles,
      platform.clock,
      (error, request) => this.#report(error, request),
    );
    this.#finder = new LeaderFinder(name, this.#client, access, encryption, {
      found: (make) => void this.#take(make),
      lost: (cause) => this.#lose(cause),
      delayed: (error) => this.#showError(error),
      failed: (error) => this.fail(error),
      destroyed: () => this.fail(databaseDestroyed(name)),
      database: () => this.replayer.database,
    });
    const { page } = platform;
    const shared = isShared(settings, platform);
    if (page && shared)
      this.#guard = new UnloadGuard(this.#guarded(), page, platform.pageWriting(name));
    this.#finder.begin(shared);
  }

  get place(): EnginePlace {
    return placeOf(this.#started, this.#route?.own === true);
  }

  /**
   * The engine in this thread. @throws {CollectionError} `sync_unavailable` while another tab is
   * the leader.
   */
  inThread(handle: number): EngineInThread {
    const engine = this.#route?.inThread;
    if (engine) return engine;
    throw notInMemory(
      this.#requests.handles.nameOf(handle),
      'another tab leads the database; use the methods that return promises',
    );
  }

  /** Turns the reports of changes on or off. */
  watch(on: boolean): Promise<void> {
    this.#watching = on;
    return this.#requests.run((route) => route.watch(on));
  }

  /** Saves every collection. */
  save(): Promise<void> {
    return this.#requests.run(async (route) => {
      await this.replayer.finish();
      await route.save();
    });
  }

  /** Leaves the engine; the last client of the page ends it. */
  async close(): Promise<void> {
    this.#end();
    await this.#finder.leave();
    // Everything is saved, which the engine no longer reports to this client.
    const detail = this.#status && { ...this.#status, unsaved: 0, unsaved_since: undefined };
    if (detail) this.#events.event({ type: 'status', detail });
  }

  #noteReply(
    batch: readonly Request[],
    first: FirstSequenceNumbers,
    reply: BatchReply,
  ): Promise<void> | undefined {
    this.#finder.confirm();
    this.#requests.handles.noteReplies(batch, reply);
    const added = this.#unsaved.note(batch, first, reply);
    if (this.#unsaved.size === 0) return undefined;
    const secure = () => (hasCompleteChange(added) ? this.#guard?.secure(added) : undefined);
    const { joining } = this.replayer;
    return joining ? joining.then(secure) : secure();
  }

  /** Switches to another engine. */
  async #take(make: (events: RouteEvents) => Promise<Route>): Promise<void> {
    this.#leaveRoute();
    const attempt = this.#attempt;
    const isCurrent = () => this.#attempt === attempt && !this.#ended;
    const events: RouteEvents = {
      event: (event) => isCurrent() && this.#takeEvent(event),
      hasUnsaved: () => isCurrent() && this.#unsaved.size > 0,
      gap: () => {
        if (!isCurrent()) return;
        this.#lose(undefined);
        this.#finder.doubt(true);
      },
      silent: (error) => isCurrent() && this.#suspect(error),
    };
    let route: Route;
    try {
      route = await make(events);
      if (!isCurrent()) return route.leave();
      this.#joining = route;
      const replayed = this.#replay(route, isCurrent);
      if (this.#wasUp) {
        await replayed;
        if (!isCurrent()) return;
      } else {
        // A new client has nothing to replay: its first requests travel at once, in order.
        replayed.catch((error: unknown) => isCurrent() && this.#miss(asCairnError(error)));
      }
    } catch (error) {
      if (!isCurrent()) return;
      this.#leaveRoute();
      this.#miss(asCairnError(error));
      return;
    }
    this.#joining = undefined;
    this.#route = route;
    this.#started = route.started;
    this.#wasUp = true;
    if (this.#status?.storage === 'memory') this.#dropGuard();
    this.#guard?.begin();
    // Live queries must start anew before the engine reports the changes of retried requests.
    this.#events.up();
    if (!isCurrent()) return;
    // Before the requests, whose changes are reported too.
    if (this.#watching) route.watch(true).catch(() => undefined);
    this.#requests.start(route);
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
      if (error.code !== 'database_destroyed' || !this.#startsAgain || !isCurrent()) throw error;
      this.replayer.forget();
      this.#guard?.noteReleased();
      this.#events.event({ type: 'error', detail: { collection: undefined, error } });
      await this.replayer.replay(route);
    }
  }

  /** The leader refused this client or did not answer. */
  #miss(error: CairnError): void {
    // A leader in another tab may be replaced; other errors are final.
    if (error.code === 'worker_lost' || error.code === 'worker_unresponsive') this.#finder.doubt();
    else this.fail(error);
  }

  #lose(cause: CairnError | undefined): void {
    // An engine in memory takes its data along.
    if (cause && this.#status?.storage === 'memory') {
      this.fail(cause);
      return;
    }
    if (cause?.code === 'worker_unresponsive') this.#refuseHanging(cause);
    this.#leaveRoute();
  }

  /** The leader in another tab is silent. */
  #suspect(error: CairnError): void {
    // The leadership reports the loss of an engine of this page.
    if (this.#route?.own) return;
    this.#lose(error);
    this.#finder.doubt();
  }

  #refuseHanging(cause: CairnError): void {
    const refused = this.#requests.refuseHanging(cause);
    if (!refused) return;
    this.#finder.confirm();
    this.#report(refused.error, refused.request);
  }

  #report(error: CairnError, request: Request): void {
    const detail = { collection: this.#requests.handles.nameOf(request.handle), error };
    this.#events.event({ type: 'error', detail });
  }

  #leaveRoute(): void {
    this.#attempt++;
    this.#joining?.leave();
    this.#joining = undefined;
    const route = this.#route;
    if (!route) return;
    this.#route = undefined;
    // Replies that wait for the id of the database settle.
    this.replayer.joined();
    this.#requests.stop();
    route.leave();
    if (!this.#ended) this.#events.down();
  }

  #takeEvent(event: EngineEvent): void {
    if (event.type === 'released') {
      const { handle, number, missed } = event.detail;
      this.#unsaved.release(handle, number, missed);
      this.#guard?.noteReleased();
      return;
    }
    if (event.type === 'status') {
      const before = this.#status?.storage ?? 'memory';
      // What the client has stored is elsewhere: memory would pass for a database that was deleted.
      if (event.detail.storage === 'memory' && before !== 'memory') {
        this.fail(storageGone(event.detail.storage_reason));
        return;
      }
      this.#status = event.detail;
    }
    this.#events.event(event);
  }

  /**
   * Ends the client for good. What is acknowledged and not saved is written first, except to a
   * database that is gone: the next client that opens the database applies it.
   */
  fail(error: CairnError): void {
    if (this.#ended) return;
    const isGone = error.code === 'database_destroyed' || this.#status?.storage === 'memory';
    if (!isGone) this.#guard?.giveUp(error);
    this.#end();
    // The status says why: for example, another tab runs a newer version of the app.
    this.#showError(error);
    this.#events.failed(error);
    if (error.code === 'database_destroyed')
      this.#events.event({ type: 'error', detail: { collection: undefined, error } });
    // Frees the lock for other clients of the page.
    this.#finder.leave().catch(() => undefined);
    // Other tabs hear of a journal by themselves.
    if (!isGone) this.#leadership.replayJournals();
  }

  #showError(error: CairnError): void {
    const detail = { ...(this.#status ?? UNKNOWN_STATUS), last_error: error };
    this.#events.event({ type: 'status', detail });
  }

  #end(): void {
    this.#ended = true;
    this.#leaveRoute();
    this.replayer.stop();
    this.#dropGuard();
  }

  /** Memory ends with the page, and must outlive its stay in the back/forward cache. */
  #dropGuard(): void {
    this.#guard?.close();
    this.#guard = undefined;
  }

  /** This client, as the unload guard sees it. */
  #guarded(): GuardedClient {
    const link = this;
    return {
      id: link.#client,
      get isLeader() {
        return link.#route?.own === true;
      },
      get isFollower() {
        return link.#route?.own === false;
      },
      get isInThread() {
        return link.#route?.inThread !== undefined;
      },
      get database() {
        return link.replayer.database;
      },
      get opened() {
        return link.#requests.handles.all();
      },
      get unsaved() {
        return link.#unsaved.all();
      },
      get fitsJournal() {
        return link.#unsaved.fitsJournal;
      },
      get inFlight() {
        return link.#requests.changes();
      },
      save: () => {
        // The engine reports its failures.
        link.#route?.save().catch(() => undefined);
      },
      whenSaved: () => link.save(),
      suspend: (mayReturn) => {
        link.#leaveRoute();
        link.#finder.suspend(mayReturn);
      },
      resume: () => link.#finder.resume(),
    };
  }
}

function storageGone(why: string | undefined): StorageError {
  return new StorageError(
    'storage_unavailable',
    `The storage of the database cannot be opened any more: ${why} What was not saved is kept: connect again.`,
  );
}

/** Events of a link. */
interface LinkEvents {
  /** A route is open: requests may be sent. */
  readonly up: () => void;
  /** The engine is lost; the link looks for the next. */
  readonly down: () => void;
  /** No engine can be reached any more. */
  readonly failed: (error: CairnError) => void;
  readonly event: (event: ClientEvent | LiveEvent) => void;
}
