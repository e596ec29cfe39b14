import type { CollectionBackups } from '../backups/collection-backups.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import { DocumentStore } from '../documents/document-store.ts';
import { KeyValueStore } from '../key-values/key-value-store.ts';
import type { BackupRead } from '../protocol/backup-protocol.ts';
import type { ReadOfBackup } from '../protocol/operations.ts';
import type { Request } from '../protocol/requests.ts';
import { findReadable } from './find-readable.ts';
import { loadSnapshot } from './load-snapshot.ts';
import { OpenBackup } from './open-backup.ts';

/** After so long without a read a backup is closed: its keys leave memory, and its segments are no longer pinned. */
const IDLE_MS = 60_000;

/** A backup that is open, or being opened. */
interface View {
  readonly opening: Promise<OpenBackup>;
  /** Numbers of the readers that have asked. */
  readonly readers: Set<number>;
  /** Cancels the timer. */
  stopWaiting: () => void;
}

/** Answers reads of backups. The first one of a backup brings its keys and index columns into memory. */
export class BackupViews {
  readonly #context: CollectionContext;
  readonly #backups: CollectionBackups;
  /** By the name of the backup. */
  readonly #open = new Map<string, View>();

  constructor(context: CollectionContext, backups: CollectionBackups) {
    this.#context = context;
    this.#backups = backups;
  }

  /** @throws {BackupError} `backup_unknown`, `backup_damaged`; {CollectionError} `schema_newer`, `schema_older` */
  async execute(request: ReadOfBackup): Promise<unknown> {
    // Nothing is opened to end a scan.
    if (request.op === 'scanEnd') return this.endScan(request);
    const view = this.#viewOf(request.at);
    const opened = await view.opening;
    this.#closeLater(request.at.backup, view, opened);
    return opened.execute(request);
  }

  /** A reader reads no more. */
  end(reader: number): undefined {
    for (const [name, { readers }] of this.#open)
      if (readers.delete(reader) && readers.size === 0) this.#close(name);
  }

  /** Ends a scan, whichever backup it reads. */
  async endScan(request: Request<'scanEnd'>): Promise<undefined> {
    for (const { opening } of this.#open.values())
      (await opening.catch(() => undefined))?.endScan(request);
  }

  /** Closes all. A later read opens its backup again. */
  endAll(): void {
    for (const name of this.#open.keys()) this.#close(name);
  }

  /** At once, so that the backup stays open for the reader. */
  #viewOf(read: BackupRead): View {
    const { backup, reader } = read;
    let view = this.#open.get(backup);
    if (!view) {
      view = { opening: this.#load(read), readers: new Set(), stopWaiting: () => undefined };
      this.#open.set(backup, view);
      view.opening.catch(() => this.#open.get(backup) === view && this.#open.delete(backup));
    }
    view.readers.add(reader);
    return view;
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
  #closeLater(name: string, view: View, opened: OpenBackup): void {
    view.stopWaiting();
    if (this.#open.get(name) !== view) return;
    const look = () => (opened.isBusy ? this.#closeLater(name, view, opened) : this.#close(name));
    view.stopWaiting = this.#context.clock.after(IDLE_MS, look, true);
  }

  #close(name: string): void {
    const view = this.#open.get(name);
    this.#open.delete(name);
    view?.stopWaiting();
    // One that cannot be opened has unpinned its segments.
    view?.opening.then((opened) => opened.close()).catch(() => undefined);
  }
}
