import { untilNextCheck } from '../../backup/daily.ts';
import type { FileHeader } from '../../backup/file/file-contents.ts';
import type { Snapshot } from '../../backup/snapshot.ts';
import { SnapshotReader } from '../../backup/snapshot-reader.ts';
import { putSnapshot } from '../../backup/snapshots.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { StorageError } from '../../errors/storage-error.ts';
import type { BuildProgress } from '../documents/index-builder.ts';
import type { Verification } from '../protocol/backup-protocol.ts';
import type { BackupRequest } from '../protocol/request-kinds.ts';
import type { Request } from '../protocol/requests.ts';
import { type BackupHost, CollectionBackups, type PinnedSnapshot } from './collection-backups.ts';
import { Exports } from './exports.ts';
import { headerOf } from './file-header.ts';
import { Imports, severalCollections } from './imports.ts';
import type { ReplaceHost } from './replacement.ts';
import { restore } from './restore.ts';
import { SectionImport } from './section-import.ts';

/** What requests about backups need of their collection. */
export interface BackupRequestHost extends BackupHost {
  readonly indexing: BuildProgress;
  /** Why the collection could not be opened, if it could not. */
  readonly damage: () => Error | undefined;
  /** Other records have taken the place of all. */
  readonly restored: (backup: string | undefined) => void;
  /** Something failed that nobody waits for. */
  readonly failed: (error: CairnError) => void;
}

/** A collection as of one instant, with what a file says of it. */
export interface PinnedCollection extends Pick<PinnedSnapshot, 'segments' | 'release'> {
  readonly header: Omit<FileHeader, 'documents'>;
}

/** Everything about backups that a collection can be asked for, and what it does about them by itself. */
export class BackupRequests {
  readonly backups: CollectionBackups;
  readonly #host: BackupRequestHost;
  readonly #exports = new Exports();
  readonly #imports = new Imports();
  #stopLooking: (() => void) | undefined;
  #stopped = false;
  /** Ends with what is done unasked, one thing at a time: two at once would both make the backup of the day. */
  #tending: Promise<void> = Promise.resolve();

  constructor(host: BackupRequestHost) {
    this.#host = host;
    this.backups = new CollectionBackups(host);
  }

  async execute(request: BackupRequest): Promise<unknown> {
    const damage = this.#host.damage();
    switch (request.op) {
      case 'createBackup': {
        if (damage) throw damage;
        const { label, asked } = request;
        const { name } = await this.backups.create({ label, asked });
        return name;
      }
      case 'listBackups':
        return this.backups.list();
      case 'loadBackup':
        await this.#load(request.name);
        return true;
      case 'deleteBackup':
        await this.backups.remove([await this.backups.snapshots.find(request.name)]);
        return true;
      case 'verify':
        return damage ? this.#verifyDamaged(damage) : this.backups.verify();
      case 'exportBackup':
        return this.#export(request.name);
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

  /** Executes an import when it is its turn. Its parts may come from now on, until it has ended. */
  async expect({ call }: Request<'importBackup'>, execute: () => unknown): Promise<unknown> {
    this.#imports.expect(call);
    try {
      return await execute();
    } finally {
      this.#imports.forget(call);
    }
  }

  abort(call: number): void {
    this.#imports.abort(call);
  }

  endExport(cursor: number): Promise<undefined> {
    return this.#exports.end(cursor);
  }

  /** To be called once the collection is open: from now on backups are made and expire by themselves. */
  look(): void {
    this.#stopLooking?.();
    if (this.#stopped) return;
    this.#tending = this.#tending.then(() => this.#tend());
    const { clock } = this.#host.context;
    this.#stopLooking = clock.after(untilNextCheck(clock.now()), () => this.look(), true);
  }

  /** Resolves when nothing is done unasked any more. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#stopLooking?.();
    return this.#tending;
  }

  /** Goes on after a stop. */
  resume(): void {
    this.#stopped = false;
    this.look();
  }

  /** A backup that stays when the collection is dropped, `undefined` where there is nothing to keep. */
  async keepAlone() {
    const snapshot = this.#host.damage()
      ? await this.#remains()
      : await this.backups.create({ reason: 'drop' });
    return snapshot && { snapshot: putSnapshot(snapshot), segments: new Set(snapshot.segments) };
  }

  /** The error of a collection that cannot be opened, with what can be done about it. */
  async explain(error: StorageError): Promise<StorageError> {
    const { name: place } = this.#host.context.settings;
    let whole: string[];
    try {
      const { backups } = await this.backups.verifyDamaged();
      whole = backups.filter(({ whole }) => whole).map(({ name }) => name);
    } catch {
      // That the data is damaged is what counts; verify() tells what else is wrong.
      return error;
    }
    const remedy =
      whole.length > 0
        ? `Whole backups: ${whole.join(', ')}. loadBackup('${whole[0]}') restores the newest.`
        : 'There is no whole backup.';
    return new StorageError('data_damaged', `${error.message} ${remedy}`, { place, cause: error });
  }

  async #tend(): Promise<void> {
    try {
      if (!this.#stopped) await this.backups.tend();
    } catch (error) {
      this.#host.failed(asCairnError(error));
    }
  }

  async #load(name: string): Promise<void> {
    const snapshot = await this.backups.snapshots.find(name);
    const host = await this.#replaceHost('restore', name);
    // It may expire meanwhile.
    await this.backups.holding([snapshot], () => restore(host, snapshot));
  }

  async #export(name: string): Promise<{ cursor: number }> {
    const { settings } = this.#host.context;
    const snapshot = await this.backups.snapshots.find(name);
    const { segments, created_at, label } = snapshot;
    const release = this.backups.hold(segments);
    try {
      const reader = await SnapshotReader.open(this.#host.storage, settings.name, segments);
      const header = headerOf(settings, { created_at, label });
      return this.#exports.begin(reader.section(header), release);
    } catch (error) {
      release();
      throw error;
    }
  }

  #import({ call, merge }: Request<'importBackup'>): Promise<number> {
    let sections = 0;
    return this.#imports.run(call, {
      section: (header, read) => {
        if (++sections > 1) throw severalCollections(this.#host.context.settings.name);
        return this.importSection(header, merge, read);
      },
      commit: async ([importing]) => importing?.replacement.write(),
    });
  }

  /**
   * Reads a collection of a file into the place of this one, or on top of it, with the storage to itself until
   * `read` ends.
   */
  async importSection<T>(
    header: FileHeader,
    merge: boolean,
    read: (importing: SectionImport) => Promise<T>,
  ): Promise<T> {
    const why = this.#host.damage();
    // There is nothing that the file could be merged with.
    if (why && merge) throw why;
    const host = await this.#replaceHost('import', undefined);
    return this.#host.saves.alone(() => read(new SectionImport(host, header, merge)));
  }

  /** What the collection holds, as of now, for a file. */
  async freeze(): Promise<PinnedCollection> {
    const { segments, created_at, release } = await this.backups.freeze();
    const header = headerOf(this.#host.context.settings, { created_at });
    return { header, segments, release };
  }

  /** Gets ready to replace what the collection holds: everything is saved, or what is there is known. */
  async #replaceHost(
    reason: 'restore' | 'import',
    backup: string | undefined,
  ): Promise<ReplaceHost> {
    const { context, saves, indexing, damage, restored } = this.#host;
    const remains = damage() ? await this.#remains() : undefined;
    if (!damage()) await saves.flush();
    let snapshot: Snapshot | undefined;
    const present = async () => {
      snapshot = damage() ? remains : await this.backups.present(reason);
      return snapshot && putSnapshot(snapshot);
    };
    const presentWritten = (stored: boolean) => {
      this.backups.snapshots.forget();
      if (snapshot && !stored) this.backups.snapshots.noteFailed(snapshot);
    };
    return {
      context,
      saves,
      indexing,
      present,
      presentWritten,
      replaced: () => restored(backup),
    };
  }

  /** What can be read of damaged data; from now on the collection can be written to. */
  async #remains(): Promise<Snapshot | undefined> {
    await this.#host.context.records.log.openDamaged();
    return this.backups.remains();
  }

  async #verifyDamaged(damage: Error): Promise<Verification> {
    const verification = await this.backups.verifyDamaged();
    if (!verification.whole) return verification;
    // What is there is whole, but something that should be there is not.
    const { message } = damage;
    const problem = { code: 'segment_missing', segment: undefined, message } as const;
    return { ...verification, whole: false, problems: [problem] };
  }
}
