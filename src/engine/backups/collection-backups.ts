import { DailyBackups } from '../../backup/daily.ts';
import {
  addSnapshot,
  lostBackup,
  NamedSnapshots,
  removeSnapshots,
} from '../../backup/named-snapshots.ts';
import {
  type Defect,
  SegmentVerifier,
  type VerificationResult,
} from '../../backup/segment-verifier.ts';
import {
  type BackupReason,
  expired,
  expiryOf,
  makeSnapshot,
  REASONS,
  type Snapshot,
  type SnapshotCause,
  type SnapshotHead,
} from '../../backup/snapshot.ts';
import { type Lease, leasesOf, Snapshots } from '../../backup/snapshots.ts';
import type { LostSnapshot } from '../../backup/stored-snapshots.ts';
import type { BackupInfo, Verification } from '../../protocol/backup-protocol.ts';
import type { Storage } from '../../storage/drivers/driver.ts';
import { findManifest, listLive } from '../../storage/log/list-logs.ts';
import type { CollectionContext } from '../collection-context.ts';

/** The state of a collection at one instant, pinned in storage until it is released. */
export interface PinnedSnapshot {
  /** On its segments, in ascending order. */
  readonly lease: Lease;
  readonly documents: number;
  /** Unix time in milliseconds. */
  readonly created_at: number;
}

const byCollection = new WeakMap<CollectionContext, Snapshots>();

function snapshotsOf(context: CollectionContext): Snapshots {
  const { storage, settings } = context;
  const snapshots = byCollection.get(context) ?? new Snapshots(storage, settings.name);
  byCollection.set(context, snapshots);
  return snapshots;
}

/** Segments that are not live and must stay: backups name them, or a lease does. */
export async function keptSegments(context: CollectionContext): Promise<ReadonlySet<number>> {
  const { whole, lost } = await snapshotsOf(context).stored();
  const named = [...whole, ...lost].flatMap(({ segments }) => segments);
  return new Set([...named, ...leasesOf(context.storage).of(context.settings.name)]);
}

/** The backups of a collection: makes, lists, expires and verifies them. */
export class CollectionBackups {
  readonly snapshots: Snapshots;
  readonly named: NamedSnapshots;
  readonly #context: CollectionContext;
  readonly #daily = new DailyBackups();
  /** The names of the lost backups that were reported. */
  readonly #reported = new Set<string>();

  constructor(context: CollectionContext) {
    this.#context = context;
    this.snapshots = snapshotsOf(context);
    this.named = new NamedSnapshots(this.snapshots, context.settings.name);
  }

  /** Makes a backup of the collection, at a moment without another write. */
  async create(cause: SnapshotCause): Promise<Snapshot> {
    return (await this.#make(cause)) as Snapshot;
  }

  /** @param since None is made where this is the number of the last change. */
  async #make(cause: SnapshotCause, since?: number): Promise<Snapshot | undefined> {
    const { records, clock, saves } = this.#context;
    const { asked } = cause;
    const made = asked && (await this.snapshots.list()).find((one) => one.asked === asked);
    if (made) return made;
    const head = await this.#head(0, cause);
    let snapshot: Snapshot | undefined;
    for (let isWritten = false; !isWritten; ) {
      await this.snapshots.stored();
      await this.#change(async () => {
        const { known } = this.snapshots;
        // Another one was made or removed in between.
        if (!known) return;
        isWritten = true;
        const { size: documents } = records.table;
        const created_at = clock.now();
        await saves.saveWith((live) => {
          if (live.changed === since) return [];
          snapshot = makeSnapshot({ ...head, created_at, documents }, live);
          return addSnapshot(known, snapshot);
        });
      }, head);
    }
    return snapshot;
  }

  async list(): Promise<BackupInfo[]> {
    const { backup_retention_time: days } = this.#context.settings;
    const snapshots = await this.snapshots.list();
    return snapshots.map((snapshot) => infoOf(snapshot, days)).reverse();
  }

  /** Removes backups. A segment goes with the last backup that names it. */
  async remove(gone: readonly (Snapshot | LostSnapshot)[]): Promise<void> {
    if (gone.length === 0) return;
    const { log } = this.#context.records;
    await this.#change(async () => {
      const stored = await this.snapshots.stored();
      await log.write(removeSnapshots(log.name, stored, gone));
      for (const { segments } of gone) log.state.orphans.add(segments);
    });
  }

  /** Removes expired backups, then makes the daily one if it is due. */
  async tend(): Promise<void> {
    const { settings, clock } = this.#context;
    const { auto_create_backup, backup_retention_time: days } = settings;
    const { whole, lost } = await this.snapshots.stored();
    for (const one of lost) this.#report(one);
    // In this order: a new backup must not make the last two expire.
    await this.remove(expired(whole, clock.now(), days));
    if (auto_create_backup) await this.#makeDaily();
  }

  async #makeDaily(): Promise<void> {
    const { records, clock } = this.#context;
    // Unsaved changes get the next number.
    const changed = records.log.live.changed + Number(records.unsaved > 0);
    const snapshots = await this.snapshots.list();
    const { make, outdated } = this.#daily.decide(snapshots, changed, clock.now());
    if (!make) return this.#daily.done(changed);
    const made = await this.#make({ reason: 'daily' }, snapshots.at(-1)?.changed ?? 0);
    if (made) await this.remove(outdated);
    // Else the unsaved changes have cancelled each other, and the next change gets their number.
    this.#daily.done(made ? changed : records.log.live.changed);
  }

  hold(segments: readonly number[]): Lease {
    const { storage, settings, records } = this.#context;
    return leasesOf(storage).take(settings.name, segments, () =>
      records.log.state.orphans.add(segments),
    );
  }

  /** Leases the segments of backups for as long as the work takes. */
  async holding<T>(
    kept: readonly Pick<Snapshot, 'segments'>[],
    work: () => Promise<T>,
  ): Promise<T> {
    const leases = kept.map(({ segments }) => this.hold(segments));
    try {
      return await work();
    } finally {
      for (const lease of leases) lease.release();
    }
  }

  /** Saves, and pins the state of that moment. */
  async freeze(): Promise<PinnedSnapshot> {
    const { records, clock, saves } = this.#context;
    let documents = 0;
    let created_at = 0;
    let lease: Lease | undefined;
    try {
      await saves.alone(() => {
        documents = records.table.size;
        created_at = clock.now();
        return saves.saveWith((live) => {
          lease = this.hold(live.segments.map(({ number }) => number).sort((a, b) => a - b));
          return [];
        });
      });
    } catch (error) {
      lease?.release();
      throw error;
    }
    return { lease: lease as unknown as Lease, documents, created_at };
  }

  /** Saves, then verifies everything stored of the collection. */
  async verify(): Promise<Verification> {
    const { lease, documents } = await this.freeze();
    try {
      return await this.#examine(async (examiner) => {
        const { storage, settings } = this.#context;
        const defect = await manifestDefect(storage, settings.name);
        return withDefect(defect, await examiner.verify(lease.segments, documents));
      });
    } finally {
      lease.release();
    }
  }

  /** As {@link verify}, of a collection that could not be opened. */
  verifyDamaged(): Promise<Verification> {
    return this.#examine(async (examiner) => {
      const { storage, settings } = this.#context;
      const defect = await manifestDefect(storage, settings.name);
      return withDefect(defect, await examiner.verify(await this.#stored()));
    });
  }

  /** A backup of the present state; nothing may be unsaved or change before it is stored. */
  async present(reason: BackupReason): Promise<Snapshot> {
    const { records } = this.#context;
    const head = await this.#head(records.table.size, { reason });
    return makeSnapshot(head, records.log.live);
  }

  /** A backup of the readable part of a collection that could not be opened, if any. */
  async remains(): Promise<Snapshot | undefined> {
    const segments = await this.#stored();
    const examiner = this.#examiner();
    const { problems, documents } = await examiner.verify(segments);
    if (documents === 0) return undefined;
    const lost = new Set(problems.map(({ segment }) => segment));
    const readable = segments.filter((number) => !lost.has(number));
    const remains = readable.map((number) => ({ number, bytes: examiner.bytesOf(number) }));
    const head = await this.#head(documents, { reason: 'damage' });
    const { version } = this.#context.records.log;
    return makeSnapshot(head, { segments: remains, changed: 0, version });
  }

  /** Stores or removes backups while nothing else is being written. */
  #change(write: () => Promise<void>, making?: SnapshotHead): Promise<void> {
    return this.#context.saves.alone(async () => {
      try {
        await this.snapshots.change(write);
      } catch (error) {
        if (making) this.snapshots.noteFailed(making);
        throw error;
      }
    });
  }

  async #head(documents: number, cause: SnapshotCause): Promise<SnapshotHead> {
    const { settings, clock } = this.#context;
    const { name: collection, type } = settings;
    const sequence = await this.named.takeSequence();
    return { collection, type, sequence, ...cause, created_at: clock.now(), documents };
  }

  async #examine(
    look: (examiner: SegmentVerifier) => Promise<VerificationResult>,
  ): Promise<Verification> {
    const examiner = this.#examiner();
    const { settings, events } = this.#context;
    const { whole, lost } = await this.snapshots.stored();
    const snapshots = [...whole].reverse();
    // Some may be deleted, or expire, meanwhile.
    return this.holding(snapshots, async () => {
      let verdict = await look(examiner);
      for (const { message } of events.damage)
        verdict = withDefect({ code: 'storage_damaged', segment: undefined, message }, verdict);
      const backups: Verification['backups'][number][] = [];
      for (const { name, segments, documents } of snapshots) {
        backups.push({ name, ...(await examiner.verify(segments, documents)) });
      }
      for (const one of lost) backups.push({ name: one.name, ...lostVerdict(settings.name, one) });
      return { ...verdict, backups };
    });
  }

  #examiner(): SegmentVerifier {
    return new SegmentVerifier(this.#context.storage, this.#context.settings.name);
  }

  #report(one: LostSnapshot): void {
    if (this.#reported.has(one.name)) return;
    this.#reported.add(one.name);
    const { events, settings } = this.#context;
    events.failed(lostBackup(settings.name, one));
  }

  async #stored(): Promise<readonly number[]> {
    const { storage, settings } = this.#context;
    const manifest = await findManifest(storage, settings.name);
    return listLive(storage, settings.name, manifest);
  }
}

function infoOf(snapshot: Snapshot, days: number): BackupInfo {
  const { name, label, reason, created_at, documents, sizes } = snapshot;
  const expires = expiryOf(snapshot, days);
  return {
    name,
    label: reason ? REASONS[reason] : label,
    created_at: new Date(created_at),
    documents,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    automatic: reason !== undefined,
    expires_at: expires === undefined ? undefined : new Date(expires),
  };
}

/** A result about nothing at all. */
const NOTHING = { whole: true, documents: 0, segments: 0, bytes: 0, problems: [] };

/** The result for a backup that is missing from storage, or damaged there. */
function lostVerdict(collection: string, one: LostSnapshot): VerificationResult {
  const { message } = lostBackup(collection, one);
  const code = one.key ? 'backup_damaged' : 'backup_missing';
  return withDefect({ code, segment: undefined, message }, NOTHING);
}

/** What is wrong with the stored manifest. */
async function manifestDefect(storage: Storage, name: string): Promise<Defect | undefined> {
  if (await findManifest(storage, name)) return undefined;
  const [value] = await storage.getMany('collections', [[name]]);
  const state = value === undefined ? 'missing' : 'damaged';
  const message = `The manifest, which lists the segments, is ${state}.`;
  return { code: `manifest_${state}`, segment: undefined, message };
}

function withDefect(defect: Defect | undefined, result: VerificationResult): VerificationResult {
  return defect ? { ...result, whole: false, problems: [defect, ...result.problems] } : result;
}
