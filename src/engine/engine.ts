import type { Clock } from '../async/clock.ts';
import type { CairnError } from '../errors/errors.ts';
import type { EngineEvent, EngineStatus } from '../protocol/event-protocol.ts';
import {
  type RecoveryKey,
  type RecoveryRecord,
  RecoveryRecords,
} from '../protocol/recovery-records.ts';
import type { Durability, Storage } from '../storage/drivers/driver.ts';
import { FencedStorage } from '../storage/fenced-storage.ts';
import { SegmentPool } from '../storage/segments/log-bodies.ts';
import { DatabaseExecutor } from './database-executor.ts';
import type { IdGenerator } from './documents/ids.ts';
import { EngineEventHub } from './engine-events.ts';
import { OpenCollections } from './open-collections.ts';
import { parts } from './parts.ts';
import { BatchNumbers, Recovery } from './recovery.ts';
import { SaveLinks, type SaveSchedule, type Tidy } from './save-schedule.ts';
import { Session, type SessionContext } from './sessions/session.ts';

export interface EngineOptions {
  readonly storage: Storage;
  /** The name of the storage's kind, for the status. */
  readonly storageKind: string;
  /** Why it is another than requested, for the status. */
  readonly storageReason?: string | undefined;
  /** Whether what is stored is encrypted, for the status. @default false */
  readonly isEncrypted?: boolean | undefined;
  /** What storage has lost as a whole, found while it was opened. */
  readonly damage?: readonly CairnError[] | undefined;
  readonly durability: Durability;
  readonly clock: Clock;
  readonly newId: IdGenerator;
  /** Bytes of segments below which a collection has no checkpoint. @default 2 MB */
  readonly checkpointAfter?: number | undefined;
  /** Whether the thread is terminated when a request hangs. @default false */
  readonly terminable?: boolean | undefined;
  /** Left out where there was no leader before, or it has ended. */
  readonly succession?: Succession | undefined;
}

/** How an engine became the leader's. */
interface Succession {
  /** Whether a lock keeps others from leading meanwhile. */
  readonly locked: boolean;
  /** The leadership was stolen from a silent leader, which may wake up. */
  readonly stolen: boolean;
  /** Clients that may have changes to replay. */
  readonly expected: Promise<ReadonlySet<string>>;
  /** The unload journals of pages that have ended. */
  readonly left: Promise<readonly RecoveryRecord[]>;
  /** Called when another leader has taken over: no later write counts. */
  readonly taken: () => void;
  /** Called with the keys of journals whose changes are saved. */
  readonly forgotten: (keys: readonly RecoveryKey[]) => void;
}

/**
 * In WebKit a worker that ends amid a write can block its database in all tabs
 * (docs/decisions/017). A page that stays goes on after this time.
 */
const PAUSE_MS = 1000;

/** The engine of one database: its collections, shared by the sessions of all clients. */
export class Engine {
  readonly recovery: Recovery;
  readonly #clock: Clock;
  readonly #storage: FencedStorage;
  readonly #events: EngineEventHub;
  readonly #collections: OpenCollections;
  readonly #records: RecoveryRecords;
  readonly #sessions: SessionContext;

  constructor(options: EngineOptions) {
    const { storage, durability, clock, newId, succession } = options;
    const stolen = succession?.stolen ?? false;
    this.#clock = clock;
    this.#storage = new FencedStorage(storage, {
      elapsed: () => clock.elapsed(),
      locked: succession?.locked ?? true,
      taken: () => succession?.taken(),
    });
    // A silent leader may still append; the claim ends that before anything is read.
    const begun = stolen ? this.#storage.claim() : Promise.resolve();
    this.#events = new EngineEventHub(
      options,
      () => this.#collections.backlog,
      () => parts.loaded,
    );
    const environment = {
      ...{ durability, clock, newId, stolen, terminable: options.terminable === true },
      checkpointAfter: options.checkpointAfter,
      storage: this.#storage,
      pool: new SegmentPool(this.#storage),
      snapshots: {},
      isRecovered: () => this.recovery.isOver,
      events: this.#events,
      links: new SaveLinks<SaveSchedule>(),
      tidy: tidyWhenLoaded,
    };
    this.#collections = new OpenCollections(environment);
    this.#records = new RecoveryRecords(
      this.#storage,
      durability,
      succession?.left ?? Promise.resolve([]),
      (keys) => succession?.forgotten(keys),
    );
    const common = {
      collections: this.#collections,
      batchNumbers: new BatchNumbers(this.#storage),
      events: this.#events,
    };
    const standIn = (client: string) => this.join(() => undefined, client, true);
    const databaseId = () => this.#storage.databaseId();
    const recovering = { ...common, clock, records: this.#records, standIn, databaseId };
    this.recovery = new Recovery(recovering, begun, succession?.expected);
    const database = new DatabaseExecutor(environment, this.#collections);
    const { snapshots } = environment;
    this.#sessions = { ...common, recovery: this.recovery, database, snapshots, databaseId };
  }

  get status(): EngineStatus {
    return this.#events.status;
  }

  /** Resolves once the engine has claimed its epoch. */
  get epoch(): Promise<number> {
    return this.#storage.epoch();
  }

  /**
   * Begins a session.
   *
   * @param emit Called with the events of all sessions.
   * @param client The name of its client; needed to replay changes.
   * @param isStandIn Whether the client has ended, and only its changes are replayed.
   */
  join(emit: (event: EngineEvent) => void, client = '', isStandIn = false): Session {
    return new Session(this.#sessions, { client, emit, isStandIn });
  }

  /** Must be called when a client has ended: it may have left a recovery record or journals. */
  takeOver(journals?: readonly RecoveryRecord[]): void {
    if (journals) this.#records.setJournals(journals);
    void this.recovery.recover();
  }

  sendStatus(): void {
    this.#events.sendStatus();
  }

  reportError(error: CairnError): void {
    this.#events.reportError(error);
  }

  /** Begins no write for a second: the page may end, and unload journals have the changes. */
  pause(): void {
    this.#clock.after(PAUSE_MS, this.#storage.holdWrites());
  }

  /** Begins no further write: the leader resigns. */
  leave(): void {
    this.#storage.leave();
  }

  /**
   * Writes what the next opening is faster by; to be called before {@link stop}. Never rejects:
   * failures are reported.
   */
  finish(): Promise<void> {
    return this.#collections.finish();
  }

  /** Ends everything. Unsaved changes are lost: save first. */
  async stop(): Promise<void> {
    await this.#collections.stop();
    await this.#storage.close();
  }
}

/** No write waits for the code of what makes room. */
export const tidyWhenLoaded: Tidy = async (records, again) => {
  if (!records.log.isUntidy) return false;
  const loading = parts.load('upkeep');
  if (parts.has('upkeep')) return (await loading).tidyLog(records.log, (key) => records.saved(key));
  // Where it fails, the next save asks again.
  loading.then(again, () => undefined);
  return false;
};
