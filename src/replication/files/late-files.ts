import type { Clock } from '../../async/clock.ts';
import { retryDelay } from '../../async/retries.ts';
import { asCairnError, type CairnError, loadFailed } from '../../errors/errors.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import type { DocumentCollection } from '../../page/collections/document-collection.ts';
import type { ReplicationAccess } from '../../page/collections/replication-access.ts';
import type { FilesSettings, FilesStatus } from '../protocol/files.ts';
import type { ReplicationSettings } from '../replication-options.ts';
import { RemoteCalls } from '../rounds/remote-calls.ts';
import type { FilesEvents, SyncedFiles } from './synced-files.ts';

interface LateEvents extends FilesEvents {
  /** Files that could not be loaded are due. */
  due(): void;
}

interface Times {
  readonly clock: Clock;
  /** From 0 to 1. */
  random(): number;
}

/** The files of a replication, whose code loads when they are used first. */
export class LateFiles {
  /** Once the code is there. */
  now: SyncedFiles | undefined;
  readonly #access: ReplicationAccess;
  readonly #settings: ReplicationSettings;
  readonly #times: Times;
  readonly #events: LateEvents;
  readonly #ended = new AbortController();
  #opening: Promise<SyncedFiles> | undefined;
  #isFetching = false;
  /** Why files are not loaded for now, and how often that has failed in a row. */
  #error: CairnError | undefined;
  #failures = 0;
  #cancelRetry: (() => void) | undefined;

  constructor(
    access: ReplicationAccess,
    settings: ReplicationSettings,
    times: Times,
    events: LateEvents,
  ) {
    this.#access = access;
    this.#settings = settings;
    this.#times = times;
    this.#events = events;
  }

  get status(): FilesStatus | undefined {
    const status = this.now?.status;
    return status && Object.freeze(this.#error ? { ...status, error: this.#error } : status);
  }

  /** Loads what shall come by itself, beside rounds. What fails is due again, ever later. */
  fetchWanted(): void {
    const { now: files } = this;
    // A full disk is not tried with each round.
    const isFull = this.#cancelRetry && this.#error?.code === 'storage_full';
    if (!files || this.#isFetching || isFull) return;
    this.#cancelRetry?.();
    this.#isFetching = true;
    files.fetchWanted().then(
      () => this.#fetched(undefined),
      (error: unknown) => this.#fetched(asCairnError(error)),
    );
  }

  #fetched(error: CairnError | undefined): void {
    this.#isFetching = false;
    this.#failures = error ? this.#failures + 1 : 0;
    const isOver = this.#ended.signal.aborted;
    if (error && !isOver) {
      const { clock, random } = this.#times;
      const due = () => {
        this.#cancelRetry = undefined;
        this.#events.due();
      };
      this.#cancelRetry = clock.after(retryDelay(this.#failures, random), due, true);
    }
    if (error === this.#error || isOver) return;
    this.#error = error;
    this.#events.changed();
  }

  /** @throws {CairnError} `load_failed`; the next call tries again. */
  open(): Promise<SyncedFiles> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  end(why: Error): void {
    this.#cancelRetry?.();
    this.#ended.abort(why);
  }

  async #open(): Promise<SyncedFiles> {
    const { SyncedFiles } = await import('./synced-files.ts').catch(loadFailed);
    const { remote, files, collection } = this.#settings;
    const channel = await this.#access.channel();
    const { born } = await channel.send({ op: 'replicaOpen', remote: remote.id, scopes: null });
    this.now = await SyncedFiles.open(
      this.#access.owner as unknown as DatabaseClient,
      collection as DocumentCollection<object>,
      born,
      files as FilesSettings,
      (ended = this.#ended.signal) => new RemoteCalls(remote, ended, this.#times.clock),
      this.#events,
    );
    this.#events.changed();
    return this.now;
  }
}
