import type { Snapshot } from '../../backup/snapshot.ts';
import { BackupError } from '../../errors/backup-error.ts';
import { StorageError } from '../../errors/storage-error.ts';
import type { SegmentState } from '../../storage/compaction.ts';
import { checkFormat } from '../../storage/open-log.ts';
import { typeMismatch } from '../collection-errors.ts';
import type { StoreContext } from '../context.ts';
import type { BuildProgress } from '../documents/index-builder.ts';
import { Loading } from '../loading.ts';
import type { SaveSchedule } from '../records/save-schedule.ts';
import { run } from '../work.ts';

/** What restoring needs of its collection. */
export interface RestoreHost {
  readonly context: StoreContext;
  readonly saves: SaveSchedule;
  readonly indexing: BuildProgress;
  /** Makes a backup of what the collection holds. */
  readonly keepPresent: () => Promise<void>;
  /** Called when other records have taken the place of all. */
  readonly restored: () => void;
}

/**
 * Puts a list of segments in the place of what a collection holds, all or nothing: the list is brought into
 * memory aside, then one write makes it the live one.
 */
export class Restoring {
  readonly #host: RestoreHost;

  constructor(host: RestoreHost) {
    this.#host = host;
  }

  /** @throws {BackupError} `backup_damaged` */
  async restore(snapshot: Snapshot): Promise<void> {
    const { name, type } = this.#host.context.settings;
    checkFormat(name, snapshot.format);
    if (snapshot.type !== type) throw typeMismatch(name, snapshot.type, type);
    const loading = new Loading(this.#host.context);
    const states = await this.#read(snapshot, loading);
    await this.#host.keepPresent();
    await this.#host.saves.alone(() => this.#putInPlace(states, loading));
    await this.#settleIn(loading);
  }

  async #read(snapshot: Snapshot, loading: Loading): Promise<ReadonlyMap<number, SegmentState>> {
    const { context, indexing } = this.#host;
    const { log } = context.records;
    try {
      const states = await log.read(snapshot.segments, loading.fold);
      await log.checkBodies(snapshot.segments);
      await run(loading.build(states, indexing, false));
      const { size } = loading.records.records;
      if (size === snapshot.documents) return states;
      const wrong = `It holds ${size} documents instead of ${snapshot.documents}.`;
      throw damaged(snapshot, wrong);
    } catch (cause) {
      if (!(cause instanceof StorageError) || cause.code !== 'data_damaged') throw cause;
      throw damaged(snapshot, cause.message, cause);
    }
  }

  async #putInPlace(states: ReadonlyMap<number, SegmentState>, loading: Loading): Promise<void> {
    await this.#host.context.records.log.relist(states);
    // Within the same write: nothing may be merged by what was there before.
    loading.take();
    this.#host.restored();
  }

  /** Brings back what caching keeps, and writes what indexes lack. */
  async #settleIn(loading: Loading): Promise<void> {
    const { context, saves } = this.#host;
    if (loading.isIncomplete) await saves.alone(async () => run(loading.complete()));
    if (context.settings.caching) await context.records.load();
  }
}

function damaged({ collection, name }: Snapshot, why: string, cause?: unknown): BackupError {
  return new BackupError(
    'backup_damaged',
    `Backup "${name}" of collection "${collection}" is damaged: ${why} The collection is as it was; verify() says which backups are whole.`,
    { place: collection, cause },
  );
}
