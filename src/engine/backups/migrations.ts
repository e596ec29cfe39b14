import type { Clock } from '../../async/clock.ts';
import type { FilePart, FileRecord } from '../../backup/file/file-contents.ts';
import type { Snapshot } from '../../backup/snapshot.ts';
import { SnapshotReader } from '../../backup/snapshot-reader.ts';
import { CairnError } from '../../errors/errors.ts';
import type { MigrationPart } from '../../protocol/backup-protocol.ts';
import { otherVersion } from '../../protocol/collection-errors.ts';
import type { Request } from '../../protocol/requests.ts';
import type { CollectionContext } from '../collection-context.ts';
import type { CollectionBackups } from './collection-backups.ts';
import { headerOf } from './exports.ts';
import type { ReplacedBy, Replacement } from './replacement.ts';
import { backupDamage, checkSnapshot } from './restore.ts';
import { SectionImport } from './section-import.ts';

/** A least number of documents between two events. */
const MIN_STEP = 1000;

type Replace = (reason: 'restore' | 'migration', by: ReplacedBy) => Promise<Replacement>;

/**
 * The migrations of a collection that run or wait for their turn, by the number of their call.
 * docs/decisions/039-migrations.md has the reasons.
 */
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
    const snapshot = backup === undefined ? undefined : await this.#backups.named.find(backup);
    if (snapshot) checkSnapshot(context, snapshot);
    const { version: from = 1 } = snapshot ?? records.log;
    if (from > to) throw otherVersion(settings.name, from, to);
    // Another tab was quicker.
    if (from === to && !snapshot) return;
    const total = snapshot?.documents ?? records.table.size;
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

interface DueMigration {
  readonly migration: Migration;
  readonly replacement: Replacement;
  readonly from: number;
  readonly to: number;
  /** The backup whose documents are migrated, in the place of the present ones. */
  readonly snapshot: Snapshot | undefined;
}

/**
 * Lets a page migrate the documents of a collection, or of a backup, and makes the result live, all
 * or nothing. All of the collection must be saved; it is locked until the end.
 */
async function migrateCollection(
  context: CollectionContext,
  { migration, replacement, from, to, snapshot }: DueMigration,
): Promise<void> {
  const { settings, storage, records, clock, events, saves } = context;
  const isMigration = snapshot === undefined;
  const section = new SectionImport(context, replacement, {
    merge: false,
    isMigration,
  });
  const total = snapshot?.documents ?? records.table.size;
  const header = headerOf(context, from, { created_at: clock.now() });
  let reported = Number.NEGATIVE_INFINITY;
  const progress = (done: number): void => {
    if (done < reported + Math.max(MIN_STEP, total / 100)) return;
    reported = done;
    events.tell('migration', { from, to, done, total, backup: undefined });
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

/**
 * A page that sends nothing for this long is frozen or hangs. It must not lock the collection for
 * the other tabs.
 */
const SILENCE_MS = 60_000;

interface MigrationTask {
  readonly from: number;
  /** The records, in the parts of a file. */
  readonly parts: AsyncGenerator<FilePart, void>;
  readonly section: SectionImport;
  readonly total: number;
  readonly progress: (done: number) => void;
}

/** Hands out the records part by part, and stages what the page makes of them meanwhile. */
class Migration {
  readonly #clock: Clock;
  #begin: (task: MigrationTask | undefined) => void = () => undefined;
  /** Resolves when its turn has come; with nothing where there is nothing to migrate. */
  readonly #begun = new Promise<MigrationTask | undefined>((resolve) => {
    this.#begin = resolve;
  });
  #finish: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  readonly #finished = new Promise<void>((resolve, reject) => {
    this.#finish = resolve;
    this.#reject = reject;
  });
  #writing: Promise<void> = Promise.resolve();
  #done = 0;
  #ended = false;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    // It may be aborted before its turn.
    this.#finished.catch(() => undefined);
  }

  /** Resolves when the page has migrated all records, and they are staged. */
  async run(task: MigrationTask): Promise<void> {
    task.progress(0);
    this.#listen();
    this.#begin(task);
    try {
      await this.#finished;
      await this.#writing;
    } finally {
      this.end();
      await task.parts.return();
    }
  }

  /** Takes in migrated records, and hands out the next ones; `undefined` if it wants no more. */
  async part(request: Request<'migratePart'>): Promise<MigrationPart | undefined> {
    const task = await this.#begun;
    if (!task || this.#ended) return undefined;
    this.#listen();
    try {
      return await this.#exchange(task, request);
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  fail(error: unknown): void {
    this.#reject(error);
  }

  abort(): void {
    this.fail(new CairnError('aborted', 'The migration was aborted.'));
  }

  /** It wants no more. */
  end(): void {
    this.#ended = true;
    this.#cancel();
    this.#begin(undefined);
  }

  async #exchange(
    { from, total, parts, section, progress }: MigrationTask,
    { records, done, isWhole }: Request<'migratePart'>,
  ): Promise<MigrationPart | undefined> {
    await this.#writing;
    if (records.length > 0) {
      this.#writing = section.add(records);
      // Whatever waits for it next rejects with its failure.
      this.#writing.catch(() => undefined);
    }
    this.#done += done;
    if (done > 0) progress(this.#done);
    if (!isWhole) return { from, total, records: [] };
    const next = await nextRecords(parts);
    if (!next) this.#finish();
    return next && { from, total, records: next };
  }

  #listen(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(SILENCE_MS, () => this.abort());
  }
}

async function nextRecords(
  parts: AsyncGenerator<FilePart, void>,
): Promise<readonly FileRecord[] | undefined> {
  for (;;) {
    const { value, done } = await parts.next();
    if (done) return undefined;
    if (value.kind === 'records' && value.records.length > 0) return value.records;
  }
}
