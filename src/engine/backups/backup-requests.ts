import { untilNextCheck } from '../../backup/daily.ts';
import type { FileHeader } from '../../backup/file/file-contents.ts';
import { putSnapshots } from '../../backup/named-snapshots.ts';
import type { Snapshot } from '../../backup/snapshot.ts';
import { SnapshotReader } from '../../backup/snapshot-reader.ts';
import { asCairnError, StorageError } from '../../errors/errors.ts';
import type { Verification } from '../../protocol/backup-protocol.ts';
import { otherVersion, typeMismatch } from '../../protocol/collection-errors.ts';
import { type BackupRequest, isOfBackup, type ReadOfBackup } from '../../protocol/operations.ts';
import type { Request } from '../../protocol/requests.ts';
import { openDamaged } from '../../storage/log/replace-log.ts';
import type { CollectionContext } from '../collection-context.ts';
import type { LiveQueries } from '../live/live-queries.ts';
import { CollectionBackups, type PinnedSnapshot } from './collection-backups.ts';
import { Exports, headerOf, importedVersion } from './exports.ts';
import { Imports, severalCollections } from './imports.ts';
import { Migrations } from './migrations.ts';
import { type ReplacedBy, Replacement, SafetyBackup } from './replacement.ts';
import { restore } from './restore.ts';
import { SectionImport } from './section-import.ts';
import { openDiff } from './time-travel/backup-diff.ts';
import { BackupViews } from './time-travel/backup-views.ts';

/** A collection as of one instant, with what a file says of it. */
export interface PinnedCollection extends Pick<PinnedSnapshot, 'lease'> {
  readonly header: Omit<FileHeader, 'documents'>;
}

/** What goes on with other records. */
interface RestoredCollection {
  readonly parts: {
    readonly lives: LiveQueries;
    readonly checkpoints: { found(checkpoint: undefined): void };
  };
  finishOpening(): void;
}

/** Executes the requests about a collection's backups, and makes and expires backups by itself. */
export class BackupRequests {
  readonly backups: CollectionBackups;
  readonly views: BackupViews;
  readonly #context: CollectionContext;
  readonly #collection: RestoredCollection;
  readonly #exports = new Exports();
  readonly #imports: Imports;
  readonly #migrations: Migrations;
  #stopLooking: (() => void) | undefined;
  #stopped = true;
  /** The automatic work under way. One at a time: two at once would both make the daily backup. */
  #tending: Promise<void> = Promise.resolve();

  constructor(context: CollectionContext, collection: RestoredCollection) {
    this.#context = context;
    this.#collection = collection;
    this.#imports = new Imports(context.clock);
    this.backups = new CollectionBackups(context);
    this.views = new BackupViews(context, this.backups);
    this.#migrations = new Migrations(context, this.backups, (reason, by) =>
      this.#replacement(reason, by),
    );
  }

  async execute(request: BackupRequest | ReadOfBackup): Promise<unknown> {
    if (isOfBackup(request)) return this.views.execute(request);
    const damage = this.#context.availability.error;
    switch (request.op) {
      case 'migrate':
        return this.#migrations.run(request);
      case 'migratePart':
        return this.#migrations.part(request);
      case 'createBackup': {
        if (damage) throw damage;
        const { label, asked } = request;
        const { name } = await this.backups.create({ label, asked });
        return name;
      }
      case 'listBackups':
        return this.backups.list();
      case 'loadBackup':
        return this.#load(request);
      case 'deleteBackup':
        await this.backups.remove([await this.backups.named.findAny(request.name)]);
        return true;
      case 'verify':
        return damage ? this.#verifyDamaged(damage) : this.backups.verify();
      case 'exportBackup':
        return this.#export(request.name);
      case 'diffBackups':
        return this.#diff(request);
      case 'viewEnd':
        return this.views.end(request.reader);
      case 'exportNext':
        return this.#exports.next(request.cursor);
      case 'exportEnd':
        return this.endExport(request.cursor);
      case 'importBackup':
        return this.#import(request);
      case 'importPart':
        return this.#imports.push(request.call, request.part);
    }
  }

  /** Accepts parts of an import or migration, until {@link forget}. */
  expect({ op, call }: Request<'importBackup' | 'migrate'>): void {
    if (op === 'migrate') this.#migrations.expect(call);
    else this.#imports.expect(call);
  }

  forget(call: number): void {
    this.#migrations.forget(call);
    this.#imports.forget(call);
  }

  abort(call: number): void {
    this.#imports.abort(call);
    this.#migrations.abort(call);
  }

  endExport(cursor: number): Promise<undefined> {
    return this.#exports.end(cursor);
  }

  /** Looks for what automatic backups and their expiry have to do, and looks again later. */
  #look(): void {
    this.#stopLooking?.();
    this.#tending = this.#tending.then(() => this.#tend());
    const { clock } = this.#context;
    this.#stopLooking = clock.after(untilNextCheck(clock.now()), () => this.#look(), true);
  }

  /** Stops the automatic work; resolves when it has ended. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#stopLooking?.();
    this.views.endAll();
    return this.#tending;
  }

  /** Begins the automatic work, at first or after a stop. */
  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#look();
  }

  /** The backup that survives a drop; `undefined` where there is nothing to keep. */
  async keepAlone() {
    const snapshot = this.#context.availability.error
      ? await this.#remains()
      : await this.backups.create({ reason: 'drop' });
    if (!snapshot) return undefined;
    const stored = { whole: [snapshot], lost: [] };
    const { collection, segments } = snapshot;
    return { snapshot: putSnapshots(collection, stored), segments: new Set(segments) };
  }

  /** The error of a collection that cannot be opened, with the remedy. */
  async explain(error: StorageError): Promise<StorageError> {
    const { name: place } = this.#context.settings;
    let whole: string[];
    try {
      const { backups } = await this.backups.verifyDamaged();
      whole = backups.filter(({ whole }) => whole).map(({ name }) => name);
    } catch {
      // The damage matters most; verify() reports the rest.
      return error;
    }
    const remedy =
      whole.length > 0
        ? `Whole backups: ${whole.join(', ')}. loadBackup('${whole[0]}') restores the newest.`
        : 'There is no whole backup; Drop({ backup: true }) keeps what is whole as one.';
    return new StorageError('data_damaged', `${error.message} ${remedy}`, { place, cause: error });
  }

  async #tend(): Promise<void> {
    try {
      if (!this.#stopped) await this.backups.tend();
    } catch (error) {
      this.#context.events.failed(asCairnError(error));
    }
  }

  async #load({ name, version: own }: Request<'loadBackup'>): Promise<boolean> {
    const snapshot = await this.backups.named.find(name);
    const { version = 1 } = snapshot;
    if (version !== own) {
      const { name: place } = this.#context.settings;
      if (version > own) throw otherVersion(place, version, own, `backup "${name}"`);
      return false;
    }
    // It may expire meanwhile.
    await this.backups.holding([snapshot], async () => {
      const replacement = await this.#replacement('restore', { version, backup: name });
      return restore(this.#context, replacement, snapshot);
    });
    return true;
  }

  async #export(name: string): Promise<{ cursor: number }> {
    const { settings, storage } = this.#context;
    const snapshot = await this.backups.named.find(name);
    const { segments, created_at, label, version = 1 } = snapshot;
    const lease = this.backups.hold(segments);
    try {
      const reader = await SnapshotReader.open(storage, settings.name, segments);
      const header = headerOf(this.#context, version, { created_at, label });
      return this.#exports.begin(reader.section(header), lease);
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  async #diff(request: Request<'diffBackups'>): Promise<{ cursor: number }> {
    const { error } = this.#context.availability;
    if (error && request.to === undefined) throw error;
    const { parts, lease } = await openDiff(this.#context, this.backups, request);
    return this.#exports.begin(parts, lease);
  }

  #import({ call, merge }: Request<'importBackup'>): Promise<number> {
    let sections = 0;
    return this.#imports.run(call, {
      section: (header, read) => {
        if (++sections > 1) throw severalCollections(this.#context.settings.name);
        return this.importSection(header, merge, read);
      },
      commit: async ([importing]) => importing?.replacement.write(),
    });
  }

  /** Reads a collection of a file in place of this one, or on top, with the storage to itself. */
  async importSection<T>(
    header: FileHeader,
    merge: boolean,
    read: (importing: SectionImport) => Promise<T>,
  ): Promise<T> {
    const context = this.#context;
    const { name, type } = context.settings;
    if (header.type !== type) throw typeMismatch(name, type, header.type);
    const why = context.availability.error;
    // Damaged data cannot be merged with a file.
    if (why && merge) throw why;
    const version = importedVersion(context, header, merge);
    const replacement = await this.#replacement('import', { version });
    // Files that backups of their documents name may be nowhere else.
    const [first = ''] = context.records.table.keys();
    merge ||= !why && / file(s| parts)$/.test(name) && /^(device$|[\da-f]{64})/.test(first);
    return context.saves.alone(() => read(new SectionImport(context, replacement, { merge })));
  }

  /** Pins the present state, for a file. */
  async freeze(): Promise<PinnedCollection> {
    const { lease, created_at } = await this.backups.freeze();
    const { version } = this.#context.records.log;
    const header = headerOf(this.#context, version, { created_at });
    return { header, lease };
  }

  /** Prepares the replacement of all records, or of the readable part of damaged data. */
  async #replacement(
    reason: 'restore' | 'import' | 'migration',
    { version, backup, isMigration, migrated }: ReplacedBy,
  ): Promise<Replacement> {
    const context = this.#context;
    const { records, events } = context;
    const { version: before } = records.log;
    const isDamaged = context.availability.error !== undefined;
    if (!isDamaged && !isMigration) evictExpired(context);
    // Only that: what is refused must not leave an empty collection.
    if (!isDamaged && records.unsaved > 0) await context.saves.flush();
    const remains = isDamaged ? await this.#remains() : undefined;
    const safety = new SafetyBackup(this.backups, async () =>
      isDamaged ? remains : this.backups.present(reason),
    );
    const report = (): void => {
      if (migrated) events.tell('migration', { ...migrated, backup: safety.name });
      if (!isMigration) events.tell('restore', { backup, documents: records.table.size });
    };
    const replaced = () => this.#restored(before, report);
    return new Replacement(context, { safety, version, isMigration, replaced });
  }

  /** All records were replaced. @param before The version of those before. */
  #restored(before: number, report: () => void): void {
    const { availability, settings, records, keeper } = this.#context;
    const { lives, checkpoints } = this.#collection.parts;
    const { version } = records.log;
    availability.error = undefined;
    checkpoints.found(undefined);
    keeper.opened();
    if (version === before) lives.reload();
    // Their handles cannot use the new documents.
    else lives.fail(otherVersion(settings.name, version, before));
    report();
    this.#collection.finishOpening();
  }

  /** The readable part of damaged data. From now on the collection can be written to. */
  async #remains(): Promise<Snapshot | undefined> {
    await openDamaged(this.#context.records.log);
    return this.backups.remains();
  }

  async #verifyDamaged(damage: Error): Promise<Verification> {
    const verification = await this.backups.verifyDamaged();
    if (!verification.whole) return verification;
    // Every segment that is there is whole, but one is missing.
    const { message } = damage;
    const problem = { code: 'segment_missing', segment: undefined, message } as const;
    return { ...verification, whole: false, problems: [problem] };
  }
}

/**
 * Expired documents must not keep keys of unique indexes from the documents of a file, nor be
 * removed from a server.
 */
function evictExpired({ records }: CollectionContext): void {
  const { expiry } = records;
  if (expiry?.hidden) for (const record of records.list()) expiry.evict(record);
}
