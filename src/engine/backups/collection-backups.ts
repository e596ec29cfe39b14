import { isDailyDue } from '../../backup/daily.ts';
import { Examiner, type Verdict } from '../../backup/examine.ts';
import { expired, expiryOf } from '../../backup/expiry.ts';
import { type BackupReason, makeSnapshot, REASONS, type Snapshot } from '../../backup/snapshot.ts';
import { deleteSnapshot, putSnapshot, Snapshots } from '../../backup/snapshots.ts';
import type { Storage } from '../../storage/driver.ts';
import { listLive, readManifest } from '../../storage/open-log.ts';
import type { BackupInfo, Verification } from '../backup-protocol.ts';
import type { StoreContext } from '../context.ts';
import type { SaveSchedule } from '../records/save-schedule.ts';

/** What backups need of their collection. */
export interface BackupHost {
  readonly context: StoreContext;
  readonly storage: Storage;
  readonly saves: SaveSchedule;
}

/** The backups of a collection: made, listed, removed when they expire, and checked. */
export class CollectionBackups {
  readonly snapshots: Snapshots;
  readonly #host: BackupHost;
  /** Segments that something reads, whether or not a backup still names them. */
  readonly #held = new Set<readonly number[]>();

  constructor(host: BackupHost) {
    this.#host = host;
    this.snapshots = new Snapshots(host.storage, host.context.settings.name);
  }

  /** Makes a backup of the collection as of the moment when nothing else is being written. */
  async create(label: string | undefined, reason?: BackupReason): Promise<Snapshot> {
    const { context, saves } = this.#host;
    const { settings, records, clock } = context;
    const { name: collection, type } = settings;
    const sequence = await this.snapshots.takeSequence();
    let snapshot: Snapshot | undefined;
    await this.#change(() => {
      const { size: documents } = records;
      const created_at = clock.now();
      const head = { collection, type, sequence, label, reason, created_at, documents };
      return saves.saveWith((live) => {
        snapshot = makeSnapshot(head, live);
        return putSnapshot(snapshot);
      });
    });
    return snapshot as unknown as Snapshot;
  }

  /** What there is, newest first. */
  async list(): Promise<BackupInfo[]> {
    const { backup_retention_time: days } = this.#host.context.settings;
    const snapshots = await this.snapshots.list();
    return snapshots.map((snapshot) => infoOf(snapshot, days)).reverse();
  }

  /** Segments go with the last backup that names them. */
  async remove(gone: readonly Snapshot[]): Promise<void> {
    if (gone.length === 0) return;
    const { log } = this.#host.context.records;
    await this.#change(async () => {
      await log.write(gone.map(deleteSnapshot));
      for (const { segments } of gone) log.noteUnnamed(segments);
    });
  }

  /** Makes the backup of the day if it is due, and removes those that have expired. */
  async tend(): Promise<void> {
    const { records, settings, clock } = this.#host.context;
    const changed = records.unsaved > 0 ? Number.POSITIVE_INFINITY : records.log.live.changed;
    const due = isDailyDue(await this.snapshots.list(), changed, clock.now());
    if (settings.auto_create_backup && due) await this.create(undefined, 'daily');
    const { backup_retention_time: days } = settings;
    await this.remove(expired(await this.snapshots.list(), clock.now(), days));
  }

  /** The segments that must stay although they are not live. */
  async kept(): Promise<ReadonlySet<number>> {
    const kept = new Set<number>();
    for (const { segments } of await this.snapshots.list())
      for (const one of segments) kept.add(one);
    for (const segments of this.#held) for (const one of segments) kept.add(one);
    return kept;
  }

  /** Keeps segments in storage until what it returns is called. */
  hold(segments: readonly number[]): () => void {
    this.#held.add(segments);
    return () => {
      this.#held.delete(segments);
      this.#host.context.records.log.noteUnnamed(segments);
    };
  }

  /** Keeps the segments of backups in storage for as long as something is done with them. */
  async holding<T>(
    kept: readonly Pick<Snapshot, 'segments'>[],
    work: () => Promise<T>,
  ): Promise<T> {
    const releases = kept.map(({ segments }) => this.hold(segments));
    try {
      return await work();
    } finally {
      for (const release of releases) release();
    }
  }

  /** Looks at everything that is stored of the collection. Saves what is not stored yet. */
  async verify(): Promise<Verification> {
    const { context, saves } = this.#host;
    const { records } = context;
    let documents = 0;
    let segments: readonly number[] = [];
    await saves.alone(() => {
      documents = records.size;
      return saves.saveWith((live) => {
        segments = live.segments.map(({ number }) => number).sort((a, b) => a - b);
        return undefined;
      });
    });
    return this.holding([{ segments }], () =>
      this.#examine((examiner) => examiner.examine(segments, documents)),
    );
  }

  /** As {@link verify}, of a collection that could not be opened. */
  verifyDamaged(): Promise<Verification> {
    return this.#examine(async (examiner) => {
      const { manifest, segments } = await this.#stored();
      const verdict = await examiner.examine(segments);
      if (manifest) return verdict;
      const message = 'The manifest, which lists the segments, is missing.';
      const problem = { code: 'manifest_missing', segment: undefined, message } as const;
      return { ...verdict, whole: false, problems: [problem, ...verdict.problems] };
    });
  }

  /** Remembers what can be read of a collection that could not be opened. */
  async keepRemains(): Promise<void> {
    const { context } = this.#host;
    const { name: collection, type } = context.settings;
    const { segments } = await this.#stored();
    const examiner = this.#examiner();
    const { problems, documents } = await examiner.examine(segments);
    const lost = new Set(problems.map(({ segment }) => segment));
    const readable = segments.filter((number) => !lost.has(number));
    if (documents === 0) return;
    const head = {
      collection,
      type,
      sequence: await this.snapshots.takeSequence(),
      label: undefined,
      reason: 'damage' as const,
      created_at: context.clock.now(),
      documents,
    };
    const remains = readable.map((number) => ({ number, size: examiner.sizeOf(number) }));
    const snapshot = makeSnapshot(head, { segments: remains, changed: 0 });
    await this.#change(() => context.records.log.write([putSnapshot(snapshot)]));
  }

  /** Stores or removes backups while nothing else is being written. */
  #change(write: () => Promise<void>): Promise<void> {
    return this.#host.saves.alone(() => this.snapshots.change(write));
  }

  async #examine(look: (examiner: Examiner) => Promise<Verdict>): Promise<Verification> {
    const examiner = this.#examiner();
    const snapshots = [...(await this.snapshots.list())].reverse();
    // Some of them may be deleted, or expire, meanwhile.
    return this.holding(snapshots, async () => {
      const verdict = await look(examiner);
      const backups: Verification['backups'][number][] = [];
      for (const { name, segments, documents } of snapshots) {
        backups.push({ name, ...(await examiner.examine(segments, documents)) });
      }
      return { ...verdict, backups };
    });
  }

  #examiner(): Examiner {
    return new Examiner(this.#host.storage, this.#host.context.settings.name);
  }

  async #stored() {
    const { storage, context } = this.#host;
    const { name } = context.settings;
    const manifest = await readManifest(storage, name);
    return { manifest, segments: await listLive(storage, name, manifest) };
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
