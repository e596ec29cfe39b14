import { untilNextLook } from '../../backup/daily.ts';
import type { BackupReason } from '../../backup/snapshot.ts';
import { putSnapshot } from '../../backup/snapshots.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { StorageError } from '../../errors/storage-error.ts';
import { ValueError } from '../../errors/value-error.ts';
import type { BackupOperations, Verification } from '../backup-protocol.ts';
import type { BuildProgress } from '../documents/index-builder.ts';
import type { Request } from '../protocol.ts';
import { type BackupHost, CollectionBackups } from './collection-backups.ts';
import { Restoring } from './restoring.ts';

export type BackupRequest = Request<keyof BackupOperations>;

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

/** Everything about backups that a collection can be asked for, and what it does about them by itself. */
export class BackupRequests {
  readonly backups: CollectionBackups;
  readonly #host: BackupRequestHost;
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
        const { name } = await this.backups.create(request.label);
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
      default:
        throw new ValueError('document_invalid', `"${request.op}" is not there yet.`);
    }
  }

  /** To be called once the collection is open: from now on backups are made and expire by themselves. */
  look(): void {
    this.#stopLooking?.();
    if (this.#stopped) return;
    this.#tending = this.#tending.then(() => this.#tend());
    const { clock } = this.#host.context;
    this.#stopLooking = clock.after(untilNextLook(clock.now()), () => this.look(), true);
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

  /** Makes a backup before something that replaces or rewrites what is stored. */
  async keep(reason: BackupReason): Promise<void> {
    if (this.#host.damage()) await this.backups.keepRemains();
    else await this.backups.create(undefined, reason);
  }

  /** A backup that stays when the collection is dropped. */
  async keepAlone() {
    const snapshot = await this.backups.create(undefined, 'drop');
    return { snapshot: putSnapshot(snapshot), segments: new Set(snapshot.segments) };
  }

  /** The error of a collection that cannot be opened, with what can be done about it. */
  async explain(error: unknown): Promise<unknown> {
    if (!(error instanceof StorageError) || error.code !== 'data_damaged') return error;
    const { name: place } = this.#host.context.settings;
    const { backups } = await this.backups.verifyDamaged();
    const whole = backups.filter(({ whole }) => whole).map(({ name }) => name);
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
    const { context, saves, indexing, damage, restored } = this.#host;
    const snapshot = await this.backups.snapshots.find(name);
    if (damage()) await context.records.log.takeStock();
    const restoring = new Restoring({
      context,
      saves,
      indexing,
      keepPresent: () => this.keep('restore'),
      restored: () => restored(name),
    });
    // It may expire meanwhile.
    await this.backups.holding([snapshot], () => restoring.restore(snapshot));
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
