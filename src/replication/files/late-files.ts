import type { Clock } from '../../async/clock.ts';
import { loadFailed } from '../../errors/errors.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import type { DocumentCollection } from '../../page/collections/document-collection.ts';
import type { ReplicationAccess } from '../../page/collections/replication-access.ts';
import type { FilesSettings } from '../protocol/files.ts';
import type { ReplicationSettings } from '../replication-options.ts';
import { RemoteCalls } from '../rounds/remote-calls.ts';
import type { FilesEvents, SyncedFiles } from './synced-files.ts';

/** The files of a replication, whose code loads when they are used first. */
export class LateFiles {
  /** Once the code is there. */
  now: SyncedFiles | undefined;
  readonly #access: ReplicationAccess;
  readonly #settings: ReplicationSettings;
  readonly #clock: Clock;
  readonly #events: FilesEvents;
  readonly #ended = new AbortController();
  #opening: Promise<SyncedFiles> | undefined;

  constructor(
    access: ReplicationAccess,
    settings: ReplicationSettings,
    clock: Clock,
    events: FilesEvents,
  ) {
    this.#access = access;
    this.#settings = settings;
    this.#clock = clock;
    this.#events = events;
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
    this.#ended.abort(why);
  }

  async #open(): Promise<SyncedFiles> {
    const { SyncedFiles } = await import('./synced-files.ts').catch(loadFailed);
    const { remote, files, collection } = this.#settings;
    this.now = await SyncedFiles.open(
      this.#access.owner as unknown as DatabaseClient,
      collection as DocumentCollection<object>,
      files as FilesSettings,
      (ended = this.#ended.signal) => new RemoteCalls(remote, ended, this.#clock),
      this.#events,
    );
    this.#events.changed();
    return this.now;
  }
}
