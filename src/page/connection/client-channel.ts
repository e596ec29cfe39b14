import { bytesRefusal } from '../../codec/platform-values.ts';
import { asCairnError, type CairnError, closedError } from '../../errors/errors.ts';
import type {
  ChannelObserver,
  ChannelState,
  DatabaseSettings,
  EnginePlace,
} from '../../protocol/database-settings.ts';
import type { ClientEvent, LiveEvent } from '../../protocol/event-protocol.ts';
import type { LiveUpdate } from '../../protocol/live-protocol.ts';
import { isEditing } from '../../protocol/operations.ts';
import type { Request } from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import { databaseDestroyed } from '../../storage/drivers/database-id.ts';
import { InFlightRequests } from './in-flight-requests.ts';
import { LeaderLink } from './leader-link.ts';
import type { Connect, DestroyDatabase, EngineAccess } from './leadership.ts';

/**
 * A client's channel to the engine. The first request starts the engine. Every request settles,
 * also when the engine dies.
 */
export class ClientChannel {
  /** The link to the engine, from the first request on. */
  link: LeaderLink | undefined;
  readonly requests: InFlightRequests;
  readonly #settings: DatabaseSettings;
  readonly #connect: Connect;
  readonly #events: ChannelObserver;
  #state: ChannelState = 'idle';
  #access: EngineAccess | undefined;
  #destroying: Promise<void> | undefined;
  #opening: Promise<LeaderLink> | undefined;
  #closing: Promise<void> | undefined;
  /** Set when the channel has closed or failed. */
  #ended: CairnError | undefined;
  /** Settles {@link ClientChannel.open}. */
  #opened: { resolve: (link: LeaderLink) => void; reject: (error: CairnError) => void } | undefined;
  /** Listeners of live queries, by number. */
  readonly #lives = new Map<number, (update: LiveUpdate) => void>();
  readonly #shown = new Map<string, () => Partial<EnginePlace>>();
  #lastHandle = 0;
  #engines = 0;

  constructor(settings: DatabaseSettings, connect: Connect, events: ChannelObserver) {
    this.#settings = settings;
    this.#connect = connect;
    this.#events = events;
    this.requests = new InFlightRequests({
      name: settings.name,
      refusal: (request) => this.#refusalOf(request),
      reaches: () => this.#reaches(),
    });
  }

  get state(): ChannelState {
    return this.#state;
  }

  /** Whether the client waits for its calls, to close. */
  get isClosing(): boolean {
    return this.#events.isClosing();
  }

  /** `undefined` before the engine has run. */
  get place(): EnginePlace | undefined {
    const place = this.#opened ? undefined : this.link?.place;
    return place && Object.assign({}, place, ...Array.from(this.#shown.values(), (show) => show()));
  }

  /** Adds to the status, in place of what had the name before, and reports it. */
  show(name: string, show: () => Partial<EnginePlace>): void {
    this.#shown.set(name, show);
    this.#events.state(this.#state);
  }

  /** How many engines there have been: one that is lost takes its open transactions along. */
  get engines(): number {
    return this.#engines;
  }

  /** A number for a new collection handle: one that a handle like it has left, if there is one. */
  newHandle(settings?: CollectionSettings): number {
    return (settings && this.requests.handles.take(settings)) ?? ++this.#lastHandle;
  }

  /** Must be called once nobody has the handle any more. */
  freeHandle(number: number): void {
    this.requests.handles.free(number);
  }

  /**
   * Listens to a live query. When the client closes or fails, the last update is the error of every
   * later call.
   *
   * @returns the number of the live query in requests.
   */
  listen(listener: (update: LiveUpdate) => void): number {
    const live = this.newHandle();
    this.#lives.set(live, listener);
    return live;
  }

  unlisten(live: number): void {
    this.#lives.delete(live);
  }

  /**
   * Executes a request at once, after all requests sent before it.
   *
   * @throws {CollectionError} `sync_unavailable` where the engine is not in this thread.
   */
  sendSync(request: Request): unknown {
    const engine = this.#atHand(request).inThread(request.handle);
    return this.requests.executeSync(request, engine);
  }

  /**
   * What reads of a handle look into, after all requests sent before. @throws as
   * {@link ClientChannel.sendSync}
   */
  near(handle: number): object {
    return this.#atHand().inThread(handle).context(handle);
  }

  #atHand(request?: Request): LeaderLink {
    const refusal = this.#refusalOf(request);
    if (refusal) throw refusal;
    this.requests.flush();
    return this.link as LeaderLink;
  }

  /** Starts the engine if it is not running. */
  async open(): Promise<void> {
    await this.#connected();
  }

  /** Turns the reports of changes on or off. */
  watch(on: boolean): Promise<void> | undefined {
    return this.link?.watch(on);
  }

  /** Saves every collection. */
  async save(): Promise<void> {
    if (this.#ended) throw this.#ended;
    if (this.#state === 'idle') return;
    const link = await this.#connected();
    this.requests.flush();
    await link.save();
  }

  /**
   * Saves, then releases everything; refuses requests meanwhile. If the save fails, the channel
   * stays open.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  }

  /**
   * Ends the client without a save, and deletes the database.
   *
   * @param task Deletes it. Begins before anything is awaited where the client was open.
   */
  destroy(task: DestroyDatabase): Promise<void> {
    this.#destroying ??= this.#destroy(task).catch((error: unknown) => {
      // It may be called again.
      this.#destroying = undefined;
      throw error;
    });
    return this.#destroying;
  }

  async #destroy(task: DestroyDatabase): Promise<void> {
    if (this.#state === 'closed' && this.#ended?.code === 'closed') throw this.#ended;
    this.#end('closed', databaseDestroyed(this.#settings.name));
    this.#access ??= await this.#connect(this.#settings);
    await task(this.#settings, this.#access, this.link?.replayer.database);
  }

  async #close(): Promise<void> {
    if (this.#ended) return;
    let link: LeaderLink | undefined;
    if (this.#state !== 'idle' || this.requests.hasQueued) {
      link = await this.#connected();
      this.requests.flush();
      this.#enter('closing');
      try {
        await link.save();
        await this.requests.drained();
        if (this.#ended) throw this.#ended;
      } catch (error) {
        if (!this.#ended) this.#enter('open');
        throw error;
      }
    }
    this.#end('closed', closedError(this.#settings.name));
    await link?.close();
  }

  /** Set while requests are refused, or this one is. */
  #refusalOf(request?: Request): CairnError | undefined {
    if (this.#state === 'closing') return closedError(this.#settings.name);
    const { encryption, storage } = this.#settings;
    const writesBytes = encryption || storage === 'opfs' || typeof storage === 'object';
    const isChecked = writesBytes && request && isEditing(request.op);
    return this.#ended ?? (isChecked ? bytesRefusal(request) : undefined);
  }

  #connected(): Promise<LeaderLink> {
    if (this.#ended) return Promise.reject(this.#ended);
    this.#opening ??= this.#start();
    return this.#opening;
  }

  async #start(): Promise<LeaderLink> {
    this.#enter('opening');
    try {
      this.#access ??= await this.#connect(this.#settings);
      const access = this.#access;
      if (this.#ended) throw this.#ended;
      return await new Promise<LeaderLink>((resolve, reject) => {
        this.#opened = { resolve, reject };
        this.link = new LeaderLink(this.#settings, access, this.requests, {
          up: () => this.#up(),
          down: () => this.#enterIfOpen('opening'),
          failed: (error) => {
            if (error.code === 'load_failed' && this.#opened) this.#opened.reject(error);
            else this.#end('failed', error);
          },
          event: (event) => this.#take(event),
        });
      });
    } catch (cause) {
      const error = asCairnError(cause);
      if (error.code === 'load_failed' && !this.#ended) {
        // Nothing is lost yet: the next call tries again, and opens the handles.
        this.#opening = this.#opened = this.link = undefined;
        this.requests.refuseUnreached(error);
        this.#enter('idle');
      } else this.#end('failed', error);
      throw error;
    }
  }

  #up(): void {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#engines++;
    this.#enterIfOpen('open');
    if (opened) opened.resolve(this.link as LeaderLink);
    else for (const listener of this.#lives.values()) listener({ restarted: true });
    this.requests.flush();
  }

  #reaches(): boolean {
    if (this.link && !this.#opened) return true;
    this.#connected().catch(() => undefined);
    return false;
  }

  #take(event: ClientEvent | LiveEvent): void {
    if (event.type === 'live') this.#lives.get(event.detail.live)?.(event.detail.news);
    else this.#events.event(event);
  }

  #end(state: 'closed' | 'failed', error: CairnError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#opened?.reject(error);
    this.requests.refuseAll(error);
    for (const listener of this.#lives.values()) listener({ error });
    this.#enter(state);
  }

  #enterIfOpen(state: 'opening' | 'open'): void {
    if (this.#state === 'opening' || this.#state === 'open') this.#enter(state);
  }

  #enter(state: ChannelState): void {
    this.#state = state;
    this.#events.state(state);
  }
}
