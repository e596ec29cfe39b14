import type { LiveNews } from '../../engine/protocol/live-protocol.ts';
import type {
  BatchReply,
  ClientEvent,
  LiveEvent,
  Request,
} from '../../engine/protocol/requests.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { CollectionError } from '../../errors/collection-error.ts';
import { serverRuntime } from '../platform/server-runtime.ts';
import type { Channel, Connect, DatabaseSettings } from './channel.ts';

/** A request with what waits for its answer. */
interface Call {
  readonly request: Request;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Whether it alone is no reason to start an engine over an empty memory. */
  readonly canWait: boolean;
}

/**
 * States of a link: `idle ──▶ opening ──▶ open ──▶ closing ──▶ closed`, and from each of them but the last
 * to `failed`. A close whose save failed goes back to `open`. While a worker that hung is replaced by another
 * it is `opening` again; calls wait as they did the first time.
 */
export type LinkState = 'idle' | 'opening' | 'open' | 'closing' | 'closed' | 'failed';

/** What a link tells. */
export interface LinkEvents {
  readonly event: (event: ClientEvent) => void;
  readonly state: (state: LinkState) => void;
}

/**
 * A door's way to its engine. Requests made in one microtask travel together as one batch. The engine is
 * started by the first request. Every call settles, also when the engine dies.
 */
export class Link {
  readonly #settings: DatabaseSettings;
  readonly #connect: Connect;
  readonly #events: LinkEvents;
  #state: LinkState = 'idle';
  #channel: Channel | undefined;
  #connecting: Promise<Channel> | undefined;
  #closing: Promise<void> | undefined;
  /** Why nothing can be asked any more. */
  #ended: CairnError | undefined;
  /** Made in this microtask, or before the channel was there. */
  #queue: Call[] = [];
  #flushing = false;
  /** Batches under way, each with a promise that resolves once its calls are settled. */
  readonly #sent = new Map<readonly Call[], Promise<void>>();
  /** Rejections of whatever else waits for the engine. */
  readonly #rejections = new Set<(error: unknown) => void>();
  /** Who hears of each live query, by its number. */
  readonly #lives = new Map<number, (signal: LiveNews) => void>();
  #lastHandle = 0;

  constructor(settings: DatabaseSettings, connect: Connect, events: LinkEvents) {
    this.#settings = settings;
    this.#connect = connect;
    this.#events = events;
  }

  get state(): LinkState {
    return this.#state;
  }

  get channel(): Channel | undefined {
    return this.#channel;
  }

  /** A number for a new collection handle. */
  takeHandle(): number {
    return ++this.#lastHandle;
  }

  /**
   * Hears what is told of a live query, under a number that requests call it by. The last that is heard,
   * when the engine is left or lost, is the error of every later call.
   */
  hear(tell: (signal: LiveNews) => void): number {
    const live = this.takeHandle();
    this.#lives.set(live, tell);
    return live;
  }

  unhear(live: number): void {
    this.#lives.delete(live);
  }

  /**
   * Sends a request with the others of this microtask.
   *
   * @param canWait Whether it may wait for the first request that cannot, where nothing is stored.
   */
  send(request: Request, canWait = false): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // What has begun goes on while the door is closing: it stays open where it cannot save.
      const refusal = request.urgent || 'live' in request ? this.#ended : this.#refusal;
      if (refusal) return reject(refusal);
      this.#queue.push({ request, resolve, reject, canWait });
      if (this.#flushing) return;
      this.#flushing = true;
      queueMicrotask(() => this.#flush());
    });
  }

  /** Takes back what was not sent yet of an aborted call. */
  withdraw(aborted: number, reason: unknown): void {
    this.#queue = this.#queue.filter(({ request, reject }) => {
      const mine = 'call' in request && request.call === aborted;
      if (mine) reject(reason);
      return !mine;
    });
  }

  /** Executes a request at once, after all that were sent before it; only on a channel that can. */
  sendNow(request: Request): unknown {
    const refusal = this.#refusal;
    if (refusal) throw refusal;
    this.#flush();
    return this.#channel?.executeNow?.(request);
  }

  /** Starts the engine if it is not running. */
  open(): Promise<Channel> {
    if (this.#ended) return Promise.reject(this.#ended);
    this.#connecting ??= this.#start();
    return this.#connecting;
  }

  /** Saves every collection. */
  async save(): Promise<void> {
    if (this.#ended) throw this.#ended;
    if (this.#state === 'idle') return;
    const channel = await this.open();
    this.#flush();
    await this.#orLost(channel.save());
  }

  /**
   * Saves, then releases everything; what is called meanwhile is refused, since it could not be saved any
   * more. When saving fails the link stays open, with its changes.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#ended) return;
    let channel: Channel | undefined;
    if (this.#state !== 'idle' || (this.#queue.length > 0 && !this.#mayWait)) {
      channel = await this.open();
      this.#flush();
      this.#enter('closing');
      try {
        await this.#orLost(channel.save());
        await this.#orLost(Promise.all(this.#sent.values()));
      } catch (error) {
        if (!this.#ended) this.#enter('open');
        throw error;
      }
    }
    this.#end('closed', closedError(this.#settings.name));
    await channel?.close();
  }

  /** A server renders pages that make collections and call none of them: those cost no engine. */
  get #mayWait(): boolean {
    const { storage } = this.#settings;
    const isEmpty =
      storage === 'memory' || (storage === undefined && typeof indexedDB === 'undefined');
    return (
      isEmpty &&
      this.#state === 'idle' &&
      serverRuntime() !== undefined &&
      this.#queue.every(({ canWait }) => canWait)
    );
  }

  /** Why nothing can be asked now. */
  get #refusal(): CairnError | undefined {
    return this.#state === 'closing' ? closedError(this.#settings.name) : this.#ended;
  }

  async #start(): Promise<Channel> {
    this.#enter('opening');
    try {
      const channel = await this.#connect(this.#settings, {
        event: (event) => this.#take(event),
        state: (state) => {
          if (this.#state === 'opening' || this.#state === 'open') this.#enter(state);
          if (state === 'open') for (const tell of this.#lives.values()) tell({ restarted: true });
        },
        lost: (error) => this.#end('failed', error),
      });
      this.#channel = channel;
      if (!this.#ended) this.#enter('open');
      this.#flush();
      return channel;
    } catch (cause) {
      const error = asCairnError(cause);
      this.#end('failed', error);
      throw error;
    }
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#queue.length === 0) return;
    const channel = this.#channel;
    if (!channel) {
      if (this.#mayWait) return;
      // Whoever waits for an answer is told when this fails.
      this.open().catch(() => undefined);
      return;
    }
    const calls = this.#queue;
    this.#queue = [];
    let batch: Call[] = [];
    for (const call of calls) {
      const { mayHang, urgent, once } = call.request;
      if (mayHang || urgent || once) {
        this.#dispatch(channel, batch);
        this.#dispatch(channel, [call]);
        batch = [];
      } else batch.push(call);
    }
    this.#dispatch(channel, batch);
  }

  #dispatch(channel: Channel, calls: readonly Call[]): void {
    if (calls.length === 0) return;
    try {
      const reply = channel.execute(calls.map(({ request }) => request));
      if (reply instanceof Promise) this.#await(calls, reply);
      else settle(calls, reply);
    } catch (error) {
      refuse(calls, error);
    }
  }

  #await(calls: readonly Call[], reply: Promise<BatchReply>): void {
    const answered = reply.then(
      (answer) => {
        if (this.#sent.delete(calls)) settle(calls, answer);
      },
      (error: unknown) => {
        if (this.#sent.delete(calls)) refuse(calls, error);
      },
    );
    this.#sent.set(calls, answered);
  }

  /** Settles as the promise does, or rejects when the engine is lost first. */
  #orLost<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#rejections.add(reject);
      const done = () => this.#rejections.delete(reject);
      promise.then(resolve, reject).then(done);
    });
  }

  #take(event: ClientEvent | LiveEvent): void {
    if (event.type === 'live') this.#lives.get(event.detail.live)?.(event.detail.news);
    else this.#events.event(event);
  }

  #end(state: 'closed' | 'failed', error: CairnError): void {
    if (this.#ended) return;
    this.#ended = error;
    const calls = [...this.#queue, ...[...this.#sent.keys()].flat()];
    this.#queue = [];
    this.#sent.clear();
    refuse(calls, error);
    for (const reject of this.#rejections) reject(error);
    for (const tell of this.#lives.values()) tell({ error });
    this.#enter(state);
  }

  #enter(state: LinkState): void {
    this.#state = state;
    this.#events.state(state);
  }
}

function settle(calls: readonly Call[], { values, failures }: BatchReply): void {
  calls.forEach(({ resolve, reject }, index) => {
    if (failures?.has(index)) reject(failures.get(index));
    else resolve(values[index]);
  });
}

function refuse(calls: readonly Call[], error: unknown): void {
  for (const { reject } of calls) reject(asCairnError(error));
}

/** The error of every call after a close. */
export function closedError(name: string): CollectionError {
  return new CollectionError('closed', `Database "${name}" was closed; open it again.`, {
    place: name,
  });
}
