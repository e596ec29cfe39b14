import { run } from '../../../async/coroutine.ts';
import type { Snapshot } from '../../../backup/snapshot.ts';
import type { BackupRead } from '../../../protocol/backup-protocol.ts';
import type { ReadOfBackup } from '../../../protocol/operations.ts';
import type { Request } from '../../../protocol/requests.ts';
import type { CollectionSettings } from '../../../protocol/settings.ts';
import type { CollectionContext, OperationContext } from '../../collection-context.ts';
import type { DocumentIndexes } from '../../documents/document-indexes.ts';
import { type CollectionStore, DocumentStore, storeOf } from '../../documents/document-store.ts';
import { Loading } from '../../loading.ts';
import { RecordStore } from '../../records/record-store.ts';
import type { CollectionBackups } from '../collection-backups.ts';
import { backupDamage, checkCount } from '../restore.ts';
import { findReadable } from './backup-diff.ts';

/**
 * After so long without a read a backup is closed: its keys leave memory, and its segments are no
 * longer pinned.
 */
const IDLE_MS = 60_000;

interface View {
  readonly opening: Promise<OpenBackup>;
  readonly readers: Set<number>;
  stopWaiting: () => void;
}

/**
 * Answers reads of backups. The first one of a backup brings its keys and index columns into
 * memory. docs/decisions/043-time-travel.md has the reasons.
 */
export class BackupViews {
  readonly #context: CollectionContext;
  readonly #backups: CollectionBackups;
  /** By the name of the backup. */
  readonly #open = new Map<string, View>();

  constructor(context: CollectionContext, backups: CollectionBackups) {
    this.#context = context;
    this.#backups = backups;
  }

  /**
   * @throws {BackupError} `backup_unknown`, `backup_damaged`; {CollectionError} `schema_newer`,
   *   `schema_older`
   */
  async execute(request: ReadOfBackup): Promise<unknown> {
    // Nothing is opened to end a scan.
    if (request.op === 'scanEnd') return this.endScan(request);
    const view = this.#viewOf(request.at);
    const opened = await view.opening;
    this.#closeLater(request.at.backup, view, opened);
    return opened.execute(request);
  }

  end(reader: number): undefined {
    for (const [name, { readers }] of this.#open)
      if (readers.delete(reader) && readers.size === 0) this.#close(name);
  }

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
    const { release } = this.#backups.hold(snapshot.segments);
    try {
      const context = await loadSnapshot(this.#context, snapshot);
      return new OpenBackup(snapshot, storeOf(context), release);
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

/**
 * Brings the records of a snapshot into memory, beside those of the collection: keys, managed
 * values and what segments keep of indexes. Bodies stay in storage. An index that a segment has no
 * column of answers nothing.
 *
 * @returns what operations work with; it must be used for reads alone.
 * @throws {BackupError} `backup_damaged`
 */
async function loadSnapshot(
  context: CollectionContext,
  snapshot: Snapshot,
): Promise<OperationContext> {
  const { settings, clock, records: present } = context;
  const { log } = present;
  const { segments, version = 1, created_at } = snapshot;
  const loading = new Loading(context, version, false);
  try {
    const states = await log.read(segments, (segment, hashes) => loading.fold(segment, hashes));
    await log.bodies.check(segments);
    loading.open(states);
  } catch (error) {
    throw backupDamage(snapshot, error);
  }
  const records = new RecordStore(log, clock, false, {}, present.guard);
  records.open(loading.records);
  const view = { records, indexes: loading.indexes };
  checkCount(snapshot, view.records.size);
  hideExpired(view, settings, created_at);
  return { ...context, ...view };
}

/** Leaves out what had expired, and was not removed yet, when the backup was made. */
function hideExpired(
  { records, indexes }: { readonly records: RecordStore; readonly indexes: DocumentIndexes },
  { expire_after: expiry }: CollectionSettings,
  time: number,
): void {
  const { expiring } = indexes;
  if (!expiry || !expiring) return;
  for (const record of records.list()) {
    const key = expiring.keyOf(record);
    if (!(key instanceof Date) || key.getTime() + expiry.seconds * 1000 > time) continue;
    indexes.delete(record);
    records.table.delete(record.key);
  }
}

/** A backup that is being read: its records in memory, its segments pinned in storage. */
class OpenBackup {
  readonly #snapshot: Snapshot;
  readonly #store: CollectionStore;
  readonly #release: () => void;
  #running = 0;
  #isClosed = false;

  /** @param release Unpins the segments. */
  constructor(snapshot: Snapshot, store: CollectionStore, release: () => void) {
    this.#snapshot = snapshot;
    this.#store = store;
    this.#release = release;
  }

  /** Whether a reader waits for an answer, or has not read a scan to its end. */
  get isBusy(): boolean {
    return this.#running > 0 || this.#documents?.scans.isOpen === true;
  }

  /** @throws {BackupError} `backup_damaged` */
  async execute(request: Request): Promise<unknown> {
    this.#running++;
    try {
      return await run(this.#store.execute(request));
    } catch (error) {
      throw backupDamage(this.#snapshot, error);
    } finally {
      this.#running--;
      this.#unpin();
    }
  }

  endScan(request: Request<'scanEnd'>): void {
    this.#documents?.execute(request);
  }

  /** Unpins the segments once the last answer is given. */
  close(): void {
    this.#isClosed = true;
    this.#documents?.endScans();
    this.#unpin();
  }

  get #documents(): DocumentStore | undefined {
    return this.#store instanceof DocumentStore ? this.#store : undefined;
  }

  #unpin(): void {
    if (this.#isClosed && this.#running === 0) this.#release();
  }
}
