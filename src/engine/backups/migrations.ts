import type { Snapshot } from '../../backup/snapshot.ts';
import { SnapshotReader } from '../../backup/snapshot-reader.ts';
import { otherVersion } from '../collection-errors.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type { MigrationPart } from '../protocol/backup-protocol.ts';
import type { Request } from '../protocol/requests.ts';
import type { CollectionBackups } from './collection-backups.ts';
import { headerOf } from './file-header.ts';
import { Migration } from './migration.ts';
import type { ReplacedBy, Replacement } from './replacement.ts';
import { backupDamage, checkSnapshot } from './restore.ts';
import { SectionImport } from './section-import.ts';

/** A least number of documents between two events. */
const MIN_STEP = 1000;

/** Prepares the replacement of all records. */
type Replace = (reason: 'restore' | 'migration', by: ReplacedBy) => Promise<Replacement>;

/** The migrations of a collection that run or wait for their turn, by the number of their call. */
export class Migrations {
  readonly #context: CollectionContext;
  readonly #backups: CollectionBackups;
  readonly #replace: Replace;
  readonly #open = new Map<number, Migration>();

  constructor(context: CollectionContext, backups: CollectionBackups, replace: Replace) {
    this.#context = context;
    this.#backups = backups;
    this.#replace = replace;
  }

  /** Takes in parts, until {@link forget}. */
  expect(call: number): void {
    this.#open.set(call, new Migration(this.#context.clock));
  }

  forget(call: number): void {
    this.#open.get(call)?.end();
    this.#open.delete(call);
  }

  async part(request: Request<'migratePart'>): Promise<MigrationPart | undefined> {
    return this.#open.get(request.call)?.part(request);
  }

  abort(call: number): void {
    this.#open.get(call)?.abort();
  }

  /** Migrates the documents, or those of a backup, unless another tab has done it. */
  async run({ call, version: to, backup }: Request<'migrate'>): Promise<undefined> {
    const context = this.#context;
    const { availability, records, settings } = context;
    if (availability.error && backup === undefined) throw availability.error;
    const snapshot = backup === undefined ? undefined : await this.#backups.snapshots.find(backup);
    if (snapshot) checkSnapshot(context, snapshot);
    const { version: from = 1 } = snapshot ?? records.log;
    if (from > to) throw otherVersion(settings.name, from, to);
    // Another tab was quicker.
    if (from === to && !snapshot) return;
    const total = snapshot?.documents ?? records.size;
    const isMigration = !snapshot;
    const reason = isMigration ? 'migration' : 'restore';
    const options = {
      version: to,
      backup,
      isMigration,
      migrated: { from, to, done: total, total },
    };
    const replacement = await this.#replace(reason, options);
    const migration = this.#open.get(call) as Migration;
    const due = { migration, replacement, from, to, snapshot };
    await this.#backups.holding(snapshot ? [snapshot] : [], () => migrateCollection(context, due));
  }
}

/** A migration whose turn has come. */
interface DueMigration {
  readonly migration: Migration;
  readonly replacement: Replacement;
  readonly from: number;
  readonly to: number;
  /** The backup whose documents are migrated, in the place of the present ones. */
  readonly snapshot: Snapshot | undefined;
}

/**
 * Lets a page migrate the documents of a collection, or of a backup, and makes the result live, all or nothing. All of the
 * collection must be saved; it is locked until the end.
 */
async function migrateCollection(
  context: CollectionContext,
  { migration, replacement, from, to, snapshot }: DueMigration,
): Promise<void> {
  const { settings, storage, records, clock, events, saves } = context;
  const isMigration = snapshot === undefined;
  const section = new SectionImport(context, replacement, settings.type, {
    merge: false,
    isMigration,
  });
  const total = snapshot?.documents ?? records.size;
  const header = headerOf(context, from, { created_at: clock.now() });
  let told = Number.NEGATIVE_INFINITY;
  const progress = (done: number): void => {
    if (done < told + Math.max(MIN_STEP, total / 100)) return;
    told = done;
    events.migrated({ from, to, done, total, backup: undefined });
  };
  await saves.alone(async () => {
    try {
      const segments = snapshot?.segments ?? [...records.log.segments.keys()];
      const reader = await SnapshotReader.open(storage, settings.name, segments);
      await migration.run({ from, parts: reader.section(header), section, total, progress });
      await section.finish();
      await replacement.write();
    } catch (error) {
      await section.discard();
      throw snapshot ? backupDamage(snapshot, error) : error;
    }
  });
  await replacement.settleIn();
}
