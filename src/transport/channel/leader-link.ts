import { notInMemory } from '../../engine/collection-errors.ts';
import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import type {
  BatchReply,
  ClientEvent,
  EngineEvent,
  EngineStatus,
  LiveEvent,
  Request,
} from '../../engine/protocol/requests.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { WorkerError } from '../../errors/worker-error.ts';
import { LeaderFinder } from '../leadership/leader-finder.ts';
import { isShared } from '../platform/platform.ts';
import { type GuardedClient, UnloadGuard } from '../unload/unload-guard.ts';
import {
  type DatabaseSettings,
  type EnginePlace,
  type Started,
  UNKNOWN_STATUS,
} from './channel.ts';
import type { EngineAccess } from './engine-access.ts';
import { InFlightRequests } from './in-flight-requests.ts';
import { OpenHandles } from './open-handles.ts';
import { ReplayBuffer } from './replay-buffer.ts';
import { Replayer } from './replayer.ts';
import type { Route, RouteEvents } from './route.ts';

/** What a link tells its channel. */
export interface LinkEvents {
  /** There is a route: requests may be sent. */
  readonly up: () => void;
  /** The engine is lost; the link looks for the next. */
  readonly down: () => void;
  /** No engine can be had any more. */
  readonly failed: (error: CairnError) => void;
  readonly event: (event: ClientEvent | LiveEvent) => void;
}

/**
 * A client's link to the engine that leads. When that engine is lost, the link finds the next, opens the client's
 * handles with it, replays the unsaved changes and retries what is in flight.
 */
export class LeaderLink {
  readonly requests: InFlightRequests;
  readonly #events: LinkEvents;
  readonly #client: string;
  readonly #finder: LeaderFinder;
  readonly #guard: UnloadGuard | undefined;
  readonly #handles = new OpenHandles();
  readonly #unsaved = new ReplayBuffer();
  readonly #replayer: Replayer;
  #route: Route | undefined;
  /** Counts attempts to take a route: only the latest counts. */
  #attempt = 0;
  #started: Started = 'thread';
  #watching = false;
  /** The last that an engine reported. */
  #status: EngineStatus | undefined;
  #wasUp = false;
  #ended = false;

  constructor(
    settings: DatabaseSettings,
    { leadership, platform }: EngineAccess,
    events: LinkEvents,
  ) {
    const { name } = settings;
    this.#events = events;
    this.#client = platform.newClient();
    this.requests = new InFlightRequests(name, this.#handles, (batch, first, reply) =>
      this.#noteReply(batch, first, reply),
    );
    this.#replayer = new Replayer(this.#unsaved, this.#handles, platform.clock, (error, request) =>
      this.#report(error, request),
    );
    this.#finder = new LeaderFinder(name, this.#client, leadership, platform, {
      found: (make) => void this.#take(make),
      gone: (cause) => this.#lose(cause),
      failed: (error) => this.#fail(error),
    });
    const { page } = platform;
    const shared = isShared(settings, platform);
    if (page && shared)
      this.#guard = new UnloadGuard(this.#guarded(), page, platform.pageWriting(name));
    this.#finder.begin(shared);
  }

  get place(): EnginePlace {
    const started = this.#started;
    const engine = started === 'thread' || started === 'tab' ? started : 'worker';
    return { engine, started, leader: this.#route?.own === true };
  }

  /** @throws {CollectionError} `sync_unavailable` while the engine is not in this thread: another tab may lead by now. */
  executeSync(request: Request): unknown {
    const execute = this.#route?.executeSync;
    if (execute) return this.requests.executeSync(request, execute);
    throw notInMemory(
      this.#handles.nameOf(request),
      'another tab leads the database; use the methods that return promises',
    );
  }

  /** Whether changes are to be reported. */
  watch(on: boolean): Promise<void> {
    this.#watching = on;
    return this.requests.run((route) => route.watch(on));
  }

  /** Saves every collection. */
  save(): Promise<void> {
    return this.requests.run(async (route) => {
      await this.#replayer.finish();
      await route.save();
    });
  }

  /** Leaves the engine, and ends it if nobody else uses it. */
  async close(): Promise<void> {
    this.#end();
    await this.#finder.leave();
    // All is saved by then; the engine reports it to nobody any more.
    const detail = this.#status && { ...this.#status, unsaved: 0, unsaved_since: undefined };
    if (detail) this.#events.event({ type: 'status', detail });
  }

  #noteReply(
    batch: readonly Request[],
    first: FirstSequenceNumbers,
    reply: BatchReply,
  ): Promise<void> | undefined {
    this.#finder.confirm();
    this.#handles.noteReplies(batch, reply);
    this.#unsaved.note(batch, first, reply);
    return this.#unsaved.size > 0 ? this.#guard?.secure() : undefined;
  }

  /** Goes over to another engine. */
  async #take(make: (events: RouteEvents) => Promise<Route>): Promise<void> {
    const attempt = ++this.#attempt;
    this.#leaveRoute();
    const isCurrent = () => this.#attempt === attempt && !this.#ended;
    const events: RouteEvents = {
      event: (event) => isCurrent() && this.#takeEvent(event),
      keeps: () => isCurrent() && this.#unsaved.size > 0,
      gap: () => {
        if (!isCurrent()) return;
        this.#lose(undefined);
        this.#finder.doubt(true);
      },
      silent: (error) => isCurrent() && this.#suspect(error),
    };
    let route: Route | undefined;
    try {
      route = await make(events);
      if (!isCurrent()) return route.leave();
      const replayed = this.#replayer.replay(route);
      if (this.#wasUp) {
        await replayed;
        if (!isCurrent()) return route.leave();
      } else {
        // A new client has nothing to replay: its first requests may travel at once, the engine keeps the order.
        replayed.catch((error: unknown) => isCurrent() && this.#miss(asCairnError(error)));
      }
    } catch (error) {
      route?.leave();
      if (isCurrent()) this.#miss(asCairnError(error));
      return;
    }
    this.#route = route;
    this.#started = route.started;
    this.#wasUp = true;
    // Live queries must start anew before the engine reports on what is retried.
    this.#events.up();
    if (!isCurrent()) return;
    // Before the requests: what is retried is reported too.
    if (this.#watching) route.watch(true).catch(() => undefined);
    this.requests.start(route);
  }

  /** The engine that was found did not let this client in. */
  #miss(error: CairnError): void {
    // An engine of this page that cannot open its storage says why; one of another tab may be replaced.
    if (error.code === 'worker_lost' || error.code === 'worker_unresponsive') this.#finder.doubt();
    else this.#fail(error);
  }

  #lose(cause: CairnError | undefined): void {
    this.#attempt++;
    // Data in memory is lost with its engine.
    if (cause && this.#status?.storage === 'memory') {
      this.#fail(cause);
      return;
    }
    if (cause?.code === 'worker_unresponsive') this.#refuseHanging(cause);
    this.#leaveRoute();
  }

  /** The leader in another tab is silent. */
  #suspect(error: CairnError): void {
    // The loss of an engine of this page is reported by the leadership.
    if (this.#route?.own) return;
    this.#lose(error);
    this.#finder.doubt();
  }

  #refuseHanging(cause: CairnError): void {
    const hung = (request: Request) => hungError(this.#handles.nameOf(request), cause);
    const request = this.requests.refuseHanging(hung);
    if (!request) return;
    this.#finder.confirm();
    this.#report(hung(request), request);
  }

  #report(error: CairnError, request: Request): void {
    const detail = { collection: this.#handles.nameOf(request), error };
    this.#events.event({ type: 'error', detail });
  }

  #leaveRoute(): void {
    const route = this.#route;
    if (!route) return;
    this.#route = undefined;
    this.requests.stop();
    route.leave();
    this.#events.down();
  }

  #takeEvent(event: EngineEvent): void {
    if (event.type === 'released') {
      const { handle, number, missed } = event.detail;
      this.#unsaved.release(handle, number, missed);
      this.#guard?.noteReleased();
      return;
    }
    if (event.type === 'status') this.#status = event.detail;
    this.#events.event(event);
  }

  #fail(error: CairnError): void {
    if (this.#ended) return;
    this.#end();
    // The status says why: for example, another tab runs a newer version of the app.
    const detail = { ...(this.#status ?? UNKNOWN_STATUS), last_error: error };
    this.#events.event({ type: 'status', detail });
    this.#events.failed(error);
    // Another client of the page may have more luck with the leadership.
    this.#finder.leave().catch(() => undefined);
  }

  #end(): void {
    this.#ended = true;
    this.#attempt++;
    this.#route?.leave();
    this.#route = undefined;
    this.requests.stop();
    this.#replayer.stop();
    this.#guard?.close();
  }

  /** The client as the end of its page sees it. */
  #guarded(): GuardedClient {
    const link = this;
    return {
      id: link.#client,
      get isLeader() {
        return link.#route?.own === true;
      },
      get isInThread() {
        return link.#route?.executeSync !== undefined;
      },
      get opened() {
        return link.#handles.all();
      },
      get unsaved() {
        return link.#unsaved.all();
      },
      get journalSize() {
        return link.#unsaved.journalSize;
      },
      get inFlight() {
        return link.requests.changes();
      },
      save: () => {
        // The engine reports its failures.
        link.#route?.save().catch(() => undefined);
      },
      whenSaved: () => link.save(),
      suspend: (mayReturn) => {
        link.#attempt++;
        link.#leaveRoute();
        link.#finder.rest(mayReturn);
      },
      resume: () => link.#finder.wake(),
    };
  }
}

function hungError(place: string | undefined, cause: CairnError): WorkerError {
  return new WorkerError(
    'query_hung',
    'A pattern of this call or live query did not come to an end, so the worker was restarted. Only ' +
      'this one failed. Make the pattern one that cannot backtrack without end: no repetition of a repetition, as in (a+)+.',
    { place, cause },
  );
}
