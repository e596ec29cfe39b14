import type { FileHeader } from '../backup/file/file-contents.ts';
import { Leases } from '../backup/leases.ts';
import { asCairnError } from '../errors/as-cairn-error.ts';
import type { CairnError } from '../errors/cairn-error.ts';
import type { Durability, Storage } from '../storage/drivers/driver.ts';
import { FencedStorage } from '../storage/fenced-storage.ts';
import { EPOCH_SPAN } from '../storage/log/manifest.ts';
import { SegmentPool } from '../storage/segments/segment-pool.ts';
import type { Watermark } from '../storage/segments/watermarks.ts';
import { type CollectionHost, HostedCollection } from './collections/hosted-collection.ts';
import { sweepTombstones } from './collections/tombstones.ts';
import { DatabaseRequests } from './database-requests.ts';
import type { IdGenerator } from './documents/ids.ts';
import type { Change, EngineEvent, EngineStatus, Request } from './protocol/requests.ts';
import { type CollectionSettings, plainSettings } from './protocol/settings.ts';
import { Recovery, type RecoveryKey, type RecoveryRecord } from './recovery/recovery.ts';
import type { Clock } from './scheduling/clock.ts';
import type { GiveUp } from './sessions/open-reads.ts';
import { Session } from './sessions/session.ts';

/** What an engine stands on. */
export interface EngineOptions {
  readonly storage: Storage;
  /** What the storage calls itself. */
  readonly storageKind: string;
  readonly durability: Durability;
  readonly clock: Clock;
  readonly newId: IdGenerator;
  /** What is known of the leader before; left out: there was none, or it has ended. */
  readonly succession?: Succession | undefined;
}

/** How an engine came to lead. */
interface Succession {
  /** Whether a lock keeps others from leading meanwhile. */
  readonly locked: boolean;
  /** The lead was taken from a leader that was silent, and may wake up. */
  readonly stolen: boolean;
  /** Clients that may have something to hand on. */
  readonly expected: Promise<ReadonlySet<string>>;
  /** What pages left behind elsewhere than in storage. */
  readonly left: Promise<readonly RecoveryRecord[]>;
  /** Another leader has taken over: nothing that is written from now on counts. */
  readonly taken: () => void;
  /** These of the things that pages left behind are saved. */
  readonly forgotten: (left: readonly RecoveryKey[]) => void;
}

/**
 * The collections of one database, shared by all sessions: each open door is one.
 */
export class Engine {
  readonly recovery: Recovery;
  readonly #options: EngineOptions;
  readonly #storage: FencedStorage;
  readonly #host: CollectionHost;
  readonly #collections = new Map<string, HostedCollection>();
  /** What a collection of the name must not be read before: a drop, an import while it is not open. */
  readonly #ahead = new Map<string, Promise<unknown>>();
  readonly #sessions = new Set<Session>();
  readonly #database: DatabaseRequests;
  /** Changes to tell of at the end of the batch. Only kept while somebody listens. */
  readonly #changes = new Map<string, Change[]>();
  /** What pages left behind elsewhere than in storage, and is not saved yet. */
  #journals: Promise<readonly RecoveryRecord[]>;
  /** Ends when what earlier drops have left behind is cleared away. */
  #sweeping: Promise<unknown> = Promise.resolve();
  #turns = 0;
  /** Turns of this engine come after those of all engines before it. */
  #turnsFrom = 0;
  #lastSave: Date | undefined;
  #lastError: CairnError | undefined;
  #told = '';

  constructor(options: EngineOptions) {
    const { durability, clock, newId, succession } = options;
    this.#options = options;
    this.#journals = succession?.left ?? Promise.resolve([]);
    const storage = new FencedStorage(options.storage, {
      elapsed: () => clock.elapsed(),
      locked: succession?.locked ?? true,
      taken: () => succession?.taken(),
    });
    this.#storage = storage;
    // What is read before may still be appended to by a leader that was silent.
    const begun = succession?.stolen ? storage.claim() : Promise.resolve();
    const holds = new Leases();
    this.#host = {
      storage,
      stolen: succession?.stolen ?? false,
      pool: new SegmentPool(storage),
      durability,
      holds,
      clock,
      newId,
      isWatched: () => this.#isWatched(),
      changed: (collection, id, kind) => this.#noteChange(collection, { id, kind }),
      saved: (collection, changes) => this.#noteSave(collection, changes),
      settled: (watermarks) => this.#tellReleased(watermarks),
      indexing: (collection, documents, total) =>
        this.#emit({ type: 'index', detail: { collection, documents, total } }),
      failed: (collection, error) => this.reportError(error, collection),
      restored: (collection, backup, documents) =>
        this.#emit({ type: 'restore', detail: { collection, backup, documents } }),
      dropping: (collection, drop) => this.#noteDrop(collection, drop),
    };
    this.#database = new DatabaseRequests({
      storage,
      durability,
      clock,
      holds,
      open: () => [...this.#collections.values()].filter(({ failed }) => !failed),
      use: (header, use) => this.#use(header, use),
    });
    this.recovery = new Recovery(
      {
        clock,
        begun,
        left: () => this.#left(),
        standIn: (client) => this.join(() => undefined, client, true),
        forget: (left) => this.#forgetLeft(left),
        report: (error, collection) => this.reportError(error, collection),
        over: async (lastTurn) => {
          this.#turnsFrom = Math.max(lastTurn, (await storage.epoch()) * EPOCH_SPAN);
        },
      },
      succession?.expected,
    );
  }

  /** Executes a request about the whole database. */
  execute(request: Request): Promise<unknown> {
    return this.#database.execute(request);
  }

  /** Ends what nobody goes on with. */
  giveUp(request: GiveUp): void {
    const ended = this.#database.execute(request);
    ended.catch((error: unknown) => this.reportError(asCairnError(error)));
  }

  get status(): EngineStatus {
    let unsaved = 0;
    let since = Number.POSITIVE_INFINITY;
    for (const { records } of this.#collections.values()) {
      unsaved += records.unsaved;
      since = Math.min(since, records.unsavedSince ?? since);
    }
    return {
      storage: this.#options.storageKind,
      // A client's name begins with that of its page.
      tabs: new Set(Array.from(this.#sessions, ({ client }) => client.split('.', 1)[0])).size,
      unsaved,
      unsaved_since: since === Number.POSITIVE_INFINITY ? undefined : new Date(since),
      last_save: this.#lastSave,
      last_error: this.#lastError,
    };
  }

  /** The turn of a batch that begins now; what it returns says where that is among those of all leaders. */
  takeTurn(): () => number {
    this.#storage.touch();
    const turn = ++this.#turns;
    return () => this.#turnsFrom + turn;
  }

  /** Resolves once the engine has taken over from whoever led before. */
  get epoch(): Promise<number> {
    return this.#storage.epoch();
  }

  /** To be called when a client has ended: it may have left something behind. */
  takeOver(journals?: readonly RecoveryRecord[]): void {
    if (journals) this.#journals = Promise.resolve(journals);
    void this.recovery.recover();
  }

  /**
   * Begins a session; `emit` is called with what happens, in any session.
   *
   * @param client Whose it is; needed to replay changes.
   * @param isStandIn Whether the client is gone, and only its changes are replayed.
   */
  join(emit: (event: EngineEvent) => void, client = '', isStandIn = false): Session {
    const leave = () => {
      this.#sessions.delete(session);
      this.#tellStatus();
      return !Array.from(this.#sessions).some((other) => other.client === client);
    };
    const session: Session = new Session(this, client, emit, leave, isStandIn);
    this.#sessions.add(session);
    this.#tellStatus();
    return session;
  }

  /** The collection of these settings, opened if it is not open. */
  open(settings: CollectionSettings): HostedCollection {
    let collection = this.#collections.get(settings.name);
    if (!collection || collection.failed) {
      collection = new HostedCollection(settings, this.#host, this.#ahead.get(settings.name));
      this.#collections.set(settings.name, collection);
    }
    return collection;
  }

  /**
   * Lets a collection be used, whether it is open or not. One that is not is opened for as long, and whoever
   * constructs it meanwhile waits.
   */
  async #use<T>(
    { collection: name, type }: Pick<FileHeader, 'collection' | 'type'>,
    use: (collection: HostedCollection) => Promise<T>,
  ): Promise<T> {
    const open = this.#collections.get(name);
    if (open && !open.failed) return use(open);
    const before = this.#ahead.get(name);
    const own = new HostedCollection(plainSettings(name, type), this.#host, before);
    const using = use(own).finally(() => own.stop());
    this.#goAhead(
      name,
      using.catch(() => undefined),
    );
    return using;
  }

  /** What constructs the name waits until this has ended. */
  #goAhead(name: string, ended: Promise<unknown>): void {
    this.#ahead.set(name, ended);
    const forget = () => {
      if (this.#ahead.get(name) === ended) this.#ahead.delete(name);
    };
    // Whoever began it is told when it fails.
    ended.then(forget, forget);
  }

  /** To be called after a batch: saves what is due, tells what changed. */
  settle(touched: Iterable<HostedCollection>): void {
    for (const collection of touched) collection.settle();
    for (const [collection, changes] of this.#changes) {
      this.#emit({ type: 'change', detail: { collection, changes } });
    }
    this.#changes.clear();
    this.#tellStatus();
  }

  reportError(error: CairnError, collection?: string): void {
    this.#lastError = error;
    this.#emit({ type: 'error', detail: { collection, error } });
    this.#tellStatus();
  }

  /** Saves every collection. Rejects with the first failure, after all have been tried. */
  async save(): Promise<void> {
    const saves = Array.from(this.#collections.values(), (collection) => collection.flush());
    for (const result of await Promise.allSettled(saves)) {
      if (result.status === 'rejected') throw result.reason;
    }
  }

  /** Begins no write any more, as the lead is given away. */
  leave(): void {
    this.#storage.leave();
  }

  /** Ends everything. What is not saved by then is lost: save first. */
  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#collections.values(), (collection) => collection.stop()));
    await this.#sweeping;
    await this.#storage.close();
  }

  /** What pages left behind, most of it in two places. */
  async #left(): Promise<readonly RecoveryRecord[]> {
    const stored = (await this.#storage.left()) as RecoveryRecord[];
    const journals = await this.#journals;
    const isStored = (one: RecoveryRecord) =>
      stored.some(({ client, ending }) => isKeyOf([client, ending], one));
    return [...stored, ...journals.filter((one) => !isStored(one))];
  }

  async #forgetLeft(left: readonly RecoveryKey[]): Promise<void> {
    await this.save();
    await this.#storage.forget(left, this.#options.durability);
    const isForgotten = (one: RecoveryRecord) => left.some((key) => isKeyOf(key, one));
    this.#journals = this.#journals.then((all) => all.filter((one) => !isForgotten(one)));
    this.#options.succession?.forgotten(left);
  }

  #tellReleased(watermarks: readonly Watermark[]): void {
    for (const session of this.#sessions) session.tellReleased(watermarks);
  }

  #emit(event: EngineEvent): void {
    for (const session of this.#sessions) {
      if (event.type !== 'change' || session.watching) session.emit(event);
    }
  }

  #tellStatus(): void {
    const { status } = this;
    const { tabs, unsaved, unsaved_since, last_save, last_error } = status;
    const told = [
      tabs,
      unsaved,
      Number(unsaved_since),
      Number(last_save),
      last_error?.message,
    ].join();
    if (told === this.#told) return;
    this.#told = told;
    this.#emit({ type: 'status', detail: status });
  }

  #noteChange(collection: string, change: Change): void {
    const changes = this.#changes.get(collection);
    if (changes) changes.push(change);
    else if (this.#isWatched()) this.#changes.set(collection, [change]);
  }

  #isWatched(): boolean {
    for (const { watching } of this.#sessions) if (watching) return true;
    return false;
  }

  #noteSave(collection: string, changes: number): void {
    const at = new Date(this.#options.clock.now());
    this.#lastSave = at;
    this.#lastError = undefined;
    if (changes > 0) this.#emit({ type: 'save', detail: { collection, changes, at } });
    this.#tellStatus();
  }

  #noteDrop(collection: HostedCollection, drop: Promise<unknown>): void {
    const { name } = collection.settings;
    if (this.#collections.get(name) === collection) this.#collections.delete(name);
    // When it fails the collection is as it was. One that was opened meanwhile does not open, since two of a
    // name would overwrite each other's segments.
    const ended = drop.catch((error: unknown) => {
      this.#collections.set(name, collection);
      throw error;
    });
    this.#goAhead(name, ended);
    // Each drop leaves something behind, and clears away what earlier ones have left.
    this.#sweeping = Promise.allSettled([this.#sweeping, ended])
      .then(() => this.#sweep())
      .catch((error: unknown) => this.reportError(asCairnError(error)));
  }

  #sweep(): Promise<void> {
    const { durability, clock } = this.#options;
    const isUsed = (name: string) => this.#collections.has(name) || this.#ahead.has(name);
    return sweepTombstones(this.#storage, durability, clock.now(), isUsed);
  }
}

function isKeyOf([client, ending]: RecoveryKey, left: RecoveryRecord): boolean {
  return client === left.client && ending === left.ending;
}
