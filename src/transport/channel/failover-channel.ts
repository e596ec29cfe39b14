import { notInMemory } from '../../engine/collection-errors.ts';
import type { FirstSequenceNumbers } from '../../engine/protocol/idempotency-key.ts';
import type {
  BatchReply,
  EngineEvent,
  EngineStatus,
  Request,
} from '../../engine/protocol/requests.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { WorkerError } from '../../errors/worker-error.ts';
import { LeaderFinder } from '../leadership/leader-finder.ts';
import type { Leadership } from '../leadership/leadership.ts';
import { isShared, type Platform } from '../platform/platform.ts';
import { type GuardedClient, UnloadGuard } from '../unload/unload-guard.ts';
import { ChangeNumbers } from './change-numbers.ts';
import type { Channel, ChannelEvents, DatabaseSettings, EnginePlace, Started } from './channel.ts';
import { InFlightRequests, isTaken } from './in-flight-requests.ts';
import { OpenHandles } from './open-handles.ts';
import { ReplayBuffer } from './replay-buffer.ts';
import { Replayer } from './replayer.ts';
import type { Route, RouteEvents } from './route.ts';

/**
 * A client's channel to whatever engine leads. When that is gone, the client opens its collections with the next,
 * hands on the changes it was told of that are not known to be saved, and asks again what was not answered. Each
 * request has a number, by which engines know a change again that they have made.
 */
export class FailoverChannel implements Channel {
  readonly #events: ChannelEvents;
  readonly #client: string;
  readonly #finder: LeaderFinder;
  readonly #guard: UnloadGuard | undefined;
  readonly #handles = new OpenHandles();
  readonly #kept = new ReplayBuffer();
  readonly #handingOn: Replayer;
  readonly #asked: InFlightRequests;
  #route: Route | undefined;
  /** Counts the ways that were tried: of two at once the later counts. */
  #ways = 0;
  #started: Started = 'thread';
  readonly #numbers = new ChangeNumbers();
  #watching = false;
  /** What the engine said of itself last. */
  #status: EngineStatus | undefined;
  #isOpen = false;
  #ended = false;
  readonly #opened: { resolve: () => void; reject: (error: unknown) => void };
  readonly #opening: Promise<void>;

  /** Resolves once there is an engine. */
  static async open(
    settings: DatabaseSettings,
    seat: Leadership,
    events: ChannelEvents,
    platform: Platform,
  ): Promise<Channel> {
    const channel = new FailoverChannel(settings, seat, events, platform);
    try {
      channel.#finder.begin(isShared(settings, platform));
      await channel.#opening;
      return channel;
    } catch (error) {
      channel.#end();
      // Its failure is that of the opening.
      await channel.#finder.leave().catch(() => undefined);
      throw asCairnError(error);
    }
  }

  private constructor(
    settings: DatabaseSettings,
    seat: Leadership,
    events: ChannelEvents,
    platform: Platform,
  ) {
    this.#events = events;
    this.#client = platform.newClient();
    this.#asked = new InFlightRequests(
      (...answer) => this.#note(...answer),
      (request) => this.#handles.nameOf(request) ?? settings.name,
    );
    let resolve: () => void = () => undefined;
    let reject: (error: unknown) => void = () => undefined;
    this.#opening = new Promise<void>((done, failed) => {
      resolve = done;
      reject = failed;
    });
    this.#opening.catch(() => undefined);
    this.#opened = { resolve, reject };
    this.#handingOn = new Replayer({
      clock: platform.clock,
      kept: this.#kept,
      opened: () => this.#handles.all(),
      route: () => this.#route,
      lost: (error, request) => this.#report(error, request),
    });
    this.#finder = new LeaderFinder(settings.name, this.#client, seat, platform, {
      found: (make) => void this.#take(make),
      gone: (cause) => this.#lose(cause),
      failed: (error) => this.#fail(error),
    });
    const { page } = platform;
    if (!page || !isShared(settings, platform)) return;
    this.#guard = new UnloadGuard(this.#guarded(), page, platform.pageWriting(settings.name));
  }

  get place(): EnginePlace {
    const started = this.#started;
    const engine = started === 'thread' || started === 'tab' ? started : 'worker';
    return { engine, started, leader: this.#route?.own === true };
  }

  /** @throws {CollectionError} `sync_unavailable` while the engine is not in this thread: another tab may lead by now. */
  executeNow(request: Request): unknown {
    const execute = this.#route?.executeNow;
    if (!execute)
      throw notInMemory(
        this.#handles.nameOf(request),
        'another tab leads the database; use the methods that return promises',
      );
    const batch = [request];
    const first = this.#number(batch);
    const reply = execute(request, first);
    this.#note(batch, first, reply);
    return reply.values[0];
  }

  execute(batch: readonly Request[]): BatchReply | Promise<BatchReply> {
    const first = this.#number(batch);
    const route = this.#route;
    let begun: BatchReply | Promise<BatchReply> | undefined;
    if (route?.executeNow && this.#asked.size === 0) {
      begun = route.execute(batch, first);
      if (!(begun instanceof Promise) && !isTaken(begun)) {
        const reply = begun;
        const saved = this.#note(batch, first, reply);
        return saved ? saved.then(() => reply) : reply;
      }
    }
    return this.#asked.ask(
      (on) => (on === route && begun ? begun : on.execute(batch, first)),
      batch,
      first,
    );
  }

  watch(on: boolean): Promise<void> {
    this.#watching = on;
    return this.#asked.ask((route) => route.watch(on));
  }

  save(): Promise<void> {
    return this.#asked.ask(async (route) => {
      await this.#handingOn.finish();
      await route.save();
    });
  }

  async close(): Promise<void> {
    this.#end();
    await this.#finder.leave();
    // All is saved by then. The engine says so too, to nobody any more.
    const detail = this.#status && { ...this.#status, unsaved: 0, unsaved_since: undefined };
    if (detail) this.#events.event({ type: 'status', detail });
  }

  #number(batch: readonly Request[]): FirstSequenceNumbers {
    this.#handles.note(batch);
    return this.#numbers.take(batch);
  }

  /** @returns resolves when the changes in a batch may be acknowledged; `undefined` where that is now. */
  #note(
    batch: readonly Request[],
    first: FirstSequenceNumbers,
    reply: BatchReply,
  ): Promise<void> | undefined {
    this.#finder.confirm();
    this.#handles.noteAnswers(batch, reply);
    this.#kept.note(batch, first, reply);
    return this.#kept.size > 0 ? this.#guard?.secure() : undefined;
  }

  /** Goes on with another engine. */
  async #take(make: (events: RouteEvents) => Promise<Route>): Promise<void> {
    const way = ++this.#ways;
    this.#leaveRoute();
    const isCurrent = () => this.#ways === way && !this.#ended;
    const events: RouteEvents = {
      event: (event) => isCurrent() && this.#hear(event),
      keeps: () => isCurrent() && this.#kept.size > 0,
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
      const replayed = this.#handingOn.replay(route);
      if (this.#isOpen) {
        await replayed;
        if (!isCurrent()) return route.leave();
      } else {
        // With nothing to hand on, what is asked first may travel at once; the engine sees to the order.
        replayed.catch((error: unknown) => isCurrent() && this.#missWay(asCairnError(error)));
      }
    } catch (error) {
      route?.leave();
      if (isCurrent()) this.#missWay(asCairnError(error));
      return;
    }
    this.#route = route;
    this.#started = route.started;
    // Live queries must know before the engine tells anything of what is asked again.
    if (this.#isOpen) this.#events.state('open');
    this.#isOpen = true;
    this.#opened.resolve();
    if (!isCurrent()) return;
    // First: what is asked again is told of.
    if (this.#watching) route.watch(true).catch(() => undefined);
    this.#asked.start(route);
  }

  /** The engine that was found did not let this client in. */
  #missWay(error: CairnError): void {
    // An engine of this page that cannot open its storage says why; one of another tab may be replaced.
    if (error.code === 'worker_lost' || error.code === 'worker_unresponsive') this.#finder.doubt();
    else this.#fail(error);
  }

  #lose(cause: CairnError | undefined): void {
    this.#ways++;
    // What is saved does not outlive such an engine.
    if (cause && this.#status?.storage === 'memory') {
      this.#fail(cause);
      return;
    }
    if (cause?.code === 'worker_unresponsive') this.#accuse(cause);
    this.#leaveRoute();
  }

  /** The engine of another tab is silent. */
  #suspect(error: CairnError): void {
    // An engine of this page is lost then, which its seat tells.
    if (this.#route?.own) return;
    this.#lose(error);
    this.#finder.doubt();
  }

  #accuse(cause: CairnError): void {
    const collectionOf = (request: Request) => this.#handles.nameOf(request);
    const request = this.#asked.accuse((one) => hungError(collectionOf(one), cause));
    if (!request) return;
    this.#finder.confirm();
    this.#report(hungError(collectionOf(request), cause), request);
  }

  #report(error: CairnError, request: Request): void {
    const detail = { collection: this.#handles.nameOf(request), error };
    this.#events.event({ type: 'error', detail });
  }

  #leaveRoute(): void {
    const route = this.#route;
    if (!route) return;
    this.#route = undefined;
    this.#asked.stop();
    route.leave();
    this.#events.state('opening');
  }

  #hear(event: EngineEvent): void {
    if (event.type === 'released') {
      const { handle, number, missed } = event.detail;
      this.#kept.settle(handle, number, missed);
      this.#guard?.noteReleased();
      return;
    }
    if (event.type === 'status') this.#status = event.detail;
    this.#events.event(event);
  }

  #fail(error: CairnError): void {
    if (this.#ended) return;
    this.#end();
    this.#asked.rejectAll(error);
    this.#opened.reject(error);
    // Whoever shows the status sees why: an app that is older than another tab's has to be loaded again.
    this.#events.event({
      type: 'status',
      detail: { ...(this.#status ?? unknownYet), last_error: error },
    });
    this.#events.lost(error);
    // Whatever this one could not have, another may.
    this.#finder.leave().catch(() => undefined);
  }

  #end(): void {
    this.#ended = true;
    this.#ways++;
    this.#route?.leave();
    this.#route = undefined;
    this.#asked.stop();
    this.#handingOn.stop();
    this.#guard?.close();
  }

  #saveNow(): void {
    // The engine reports its failures.
    this.#route?.save().catch(() => undefined);
  }

  /** The client as the end of its page sees it. */
  #guarded(): GuardedClient {
    const channel = this;
    return {
      id: channel.#client,
      get isLeader() {
        return channel.#route?.own === true;
      },
      get isInThread() {
        return channel.#route?.executeNow !== undefined;
      },
      get opened() {
        return channel.#handles.all();
      },
      get unsaved() {
        return channel.#kept.all();
      },
      get journalSize() {
        return channel.#kept.journalSize;
      },
      get inFlight() {
        return channel.#asked.changes();
      },
      save: () => channel.#saveNow(),
      whenSaved: () => channel.save(),
      suspend: (mayReturn) => {
        channel.#ways++;
        channel.#leaveRoute();
        channel.#finder.rest(mayReturn);
      },
      resume: () => channel.#finder.wake(),
    };
  }
}

/** What is said of an engine that was never there. */
const unknownYet: EngineStatus = {
  storage: undefined,
  tabs: 0,
  unsaved: 0,
  unsaved_since: undefined,
  last_save: undefined,
  last_error: undefined,
};

function hungError(place: string | undefined, cause: CairnError): WorkerError {
  return new WorkerError(
    'query_hung',
    'A pattern of this call or live query did not come to an end, so the worker was restarted. Only ' +
      'this one failed. Make the pattern one that cannot backtrack without end: no repetition of a repetition, as in (a+)+.',
    { place, cause },
  );
}
