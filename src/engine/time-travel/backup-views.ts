import type { CollectionBackups } from '../backups/collection-backups.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import { DocumentStore } from '../documents/document-store.ts';
import { KeyValueStore } from '../key-values/key-value-store.ts';
import type { BackupRead } from '../protocol/backup-protocol.ts';
import type { ReadOfBackup } from '../protocol/request-kinds.ts';
import type { Request } from '../protocol/requests.ts';
import { findReadable } from './find-readable.ts';
import { loadSnapshot } from './load-snapshot.ts';
import { OpenBackup } from './open-backup.ts';

/** After so long without a read a backup is closed: its keys leave memory, and its segments are no longer pinned. */
const IDLE_MS = 60_000;

/** Answers reads of backups. The first one of a backup brings its keys and index columns into memory. */
export class BackupViews {
  readonly #context: CollectionContext;
  readonly #backups: CollectionBackups;
  /** By name. */
  readonly #open = new Map<string, Promise<OpenBackup>>();
  /** Cancel the timers of open backups, by name. */
  readonly #timers = new Map<string, () => void>();

  constructor(context: CollectionContext, backups: CollectionBackups) {
    this.#context = context;
    this.#backups = backups;
  }

  /** @throws {BackupError} `backup_unknown`, `backup_damaged`; {CollectionError} `schema_newer`, `schema_older` */
  async execute(request: ReadOfBackup): Promise<unknown> {
    // Nothing is opened to end a scan.
    if (request.op === 'scanEnd') return this.endScan(request);
    const { backup, reader } = request.at;
    const opened = await this.#opened(request.at);
    opened.readers.add(reader);
    this.#closeLater(backup, opened);
    return opened.execute(request);
  }

  /** A reader reads no more. */
  async end(reader: number): Promise<undefined> {
    for (const [name, opening] of this.#open) {
      const opened = await opening.catch(() => undefined);
      if (opened?.readers.delete(reader) && opened.readers.size === 0) this.#close(name);
    }
  }

  /** Ends a scan, whichever backup it reads. */
  async endScan(request: Request<'scanEnd'>): Promise<undefined> {
    for (const opening of this.#open.values())
      (await opening.catch(() => undefined))?.endScan(request);
  }

  /** Closes all. A later read opens its backup again. */
  endAll(): void {
    for (const name of this.#open.keys()) this.#close(name);
  }

  #opened(read: BackupRead): Promise<OpenBackup> {
    const { backup } = read;
    let opening = this.#open.get(backup);
    if (!opening) {
      opening = this.#load(read);
      this.#open.set(backup, opening);
      opening.catch(() => this.#open.get(backup) === opening && this.#open.delete(backup));
    }
    return opening;
  }

  async #load({ backup, version }: BackupRead): Promise<OpenBackup> {
    const snapshot = await findReadable(this.#context, this.#backups, backup, version);
    const release = this.#backups.hold(snapshot.segments);
    try {
      const context = await loadSnapshot(this.#context, snapshot);
      const { type } = this.#context.settings;
      const store =
        type === 'DOCUMENT_BASED' ? new DocumentStore(context) : new KeyValueStore(context);
      return new OpenBackup(snapshot, store, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Waits anew until nobody has asked for a while. */
  #closeLater(name: string, opened: OpenBackup): void {
    this.#timers.get(name)?.();
    const look = () => (opened.isBusy ? this.#closeLater(name, opened) : this.#close(name));
    this.#timers.set(name, this.#context.clock.after(IDLE_MS, look, true));
  }

  #close(name: string): void {
    const opening = this.#open.get(name);
    this.#open.delete(name);
    this.#timers.get(name)?.();
    this.#timers.delete(name);
    // One that cannot be opened has unpinned its segments.
    opening?.then((opened) => opened.close()).catch(() => undefined);
  }
}
