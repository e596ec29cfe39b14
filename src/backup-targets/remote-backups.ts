import type { ClientStatus } from '../api/events.ts';
import { Emitter } from '../async/emitter.ts';
import { OptionError } from '../errors/errors.ts';
import type { DatabaseClient } from '../page/client/database-client.ts';
import { storageEvicted } from '../page/connection/eviction-watch.ts';
import { evictedKey, markKey } from '../platform/page-store.ts';
import type { RemoteBackupStatus } from '../protocol/database-settings.ts';
import {
  type BackupTarget,
  type BackupToOptions,
  type BackupToSettings,
  isTarget,
  type NamedTarget,
  parseBackupToOptions,
  targetIdOf,
} from './backup-target.ts';
import { TargetCalls, TargetError } from './calls/target-calls.ts';
import { damageOf } from './content/backup-content.ts';
import { BackupList, isFileOfBackup, type TargetBackup } from './content/backup-list.ts';
import { PartStore } from './content/part-store.ts';
import type { TargetManifest } from './content/target-manifest.ts';
import { type TargetNote, TargetNotes } from './content/target-notes.ts';
import { databaseKey } from './content/target-paths.ts';
import { expireBackups, removeDevice } from './runs/expire-backups.ts';
import { type BackupRun, backUp, type OwnBackups, type UploadProgress } from './runs/upload.ts';
import { BackupSchedule, isClient, LastCheck, showStatus } from './schedule/backup-schedule.ts';
import {
  type BackupEnvironment,
  deviceName,
  pageEnvironment,
} from './schedule/page-environment.ts';

/** The backups of a database in one target. Made by `backupTo()`. */
export class RemoteBackups {
  readonly #db: DatabaseClient;
  readonly #target: BackupTarget;
  readonly #settings: BackupToSettings;
  readonly #environment: BackupEnvironment;
  readonly #device: string;
  readonly #database: Promise<string>;
  readonly #emitter = new Emitter<RemoteBackupEvents>(['status', 'progress', 'backup', 'error']);
  readonly #manifests = new Map<string, TargetManifest>();
  readonly #notes = new Map<string, TargetNote>();
  readonly #last: LastCheck;
  readonly #schedule: BackupSchedule | undefined;
  readonly #stopping = new AbortController();
  readonly #ends: (() => void)[] = [];
  /** Whether this page is the leader, as of the last status. */
  #leads = false;
  #running = 0;
  #lastRun: Date | undefined;
  #lastError: Error | undefined;

  /** @internal */
  constructor(
    db: DatabaseClient,
    target: BackupTarget,
    settings: BackupToSettings,
    environment: BackupEnvironment,
  ) {
    this.#db = db;
    this.#target = target;
    this.#settings = settings;
    this.#environment = environment;
    this.#device = settings.device ?? deviceName(environment);
    this.#database = databaseKey(db.name);
    // Every call awaits it.
    this.#database.catch(() => undefined);
    this.#last = new LastCheck(db, targetIdOf(target), environment);
    if (settings.every !== undefined) this.#schedule = this.#begin(settings.every);
    showStatus(db, this);
  }

  get status(): RemoteBackupStatus {
    const next = this.#schedule?.next;
    return {
      state: this.#stopping.signal.aborted ? 'stopped' : this.#running > 0 ? 'running' : 'idle',
      target: targetIdOf(this.#target),
      device: this.#device,
      last_run: this.#lastRun,
      next_run: next === undefined || !this.#leads ? undefined : new Date(next),
      last_error: this.#lastError,
    };
  }

  /** Listens to an event. @returns a function that removes the listener. */
  on<Name extends keyof RemoteBackupEvents>(
    name: Name,
    listener: (event: RemoteBackupEvents[Name]) => void,
  ): () => void {
    return this.#emitter.on(name, listener);
  }

  /**
   * Backs up all collections, each as of now: uploads the parts that the target lacks, then what
   * makes them a backup. Ended in the middle, it leaves no backup; the next run uploads only what
   * is missing. Afterwards expired backups of this device are removed. Runs of one device wait for
   * each other, in all tabs.
   *
   * @throws {TargetError} `target_unreachable` after four attempts, `target_denied`, `target_full`,
   *   `target_refused`, `target_stopped`; errors of `exportAll()`. The backups that are there stay
   *   as they are.
   */
  async run({ signal }: CallOptions = {}): Promise<BackupRun> {
    this.#running++;
    this.#changed();
    try {
      const run = await this.#locked(this.#device, signal, (own) => this.#backUp(own));
      this.#lastRun = new Date(this.#environment.clock.now());
      this.#lastError = undefined;
      this.#emitter.emit('backup', run);
      return run;
    } catch (error) {
      if (!signal?.aborted) this.#failed(error as Error);
      throw error;
    } finally {
      this.#running--;
      this.#changed();
    }
  }

  /** The backups of this database from all devices, newest first. */
  async list({ signal }: CallOptions = {}): Promise<TargetBackup[]> {
    const { list } = await this.#open(this.#device, signal);
    return list.describe(this.#device);
  }

  /**
   * Downloads a backup and checks all of it.
   *
   * @param name Left out: the newest one.
   * @throws {BackupError} `backup_unknown`; {TargetError} where the target cannot be read.
   */
  async verify(name?: string, { signal }: CallOptions = {}): Promise<TargetVerification> {
    const { list } = await this.#open(this.#device, signal);
    const path = await list.find(name);
    const manifest = await list.tryRead(path);
    if (isFileOfBackup(manifest)) return { name: path.name, whole: false, problem: manifest };
    const { parts, notes } = await this.#open(path.device, signal);
    const found = await damageOf(manifest, parts);
    if (found.length > 0 && path.device === this.#device) await this.#noteDamage(found, notes);
    return { name: path.name, whole: found.length === 0, problem: found[0] };
  }

  /** So that the next run stores the parts again, which mends all backups that name them. */
  async #noteDamage(found: readonly TargetError[], notes: TargetNotes): Promise<void> {
    const { clock, random } = this.#environment;
    const damaged = found.flatMap(({ place }) => place ?? []);
    try {
      await notes.add({ created_at: Math.max(clock.now(), 0), unused: [], damaged }, random);
    } catch (error) {
      // What verify() has found out does not depend on it: who may only read cannot back up either.
      this.#failed(error as Error);
    }
  }

  /**
   * Removes all backups of a device from the target: of one that is gone for good, as nobody else
   * lets them expire.
   *
   * @param device As in `list()`. One that still backs up uploads everything again.
   */
  async forget(device: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#locked(device, signal, removeDevice);
  }

  /** Ends the schedule and a run that is under way. The backups in the target stay. */
  stop(): void {
    if (this.#stopping.signal.aborted) return;
    this.#schedule?.stop();
    this.#stopping.abort(stopped());
    for (const end of this.#ends.splice(0)) end();
    this.#changed();
  }

  #begin(every: 'day' | number): BackupSchedule {
    const schedule = new BackupSchedule(
      every,
      {
        isLeader: () => this.#leads,
        last: () => this.#last.read(() => this.#newestOwn()),
        failed: (error) => {
          this.#failed(error);
          this.#changed();
        },
        run: async () => {
          if (this.#isEvicted) return this.#refuseEvicted();
          if (!this.#last.hasChanged) {
            this.#last.note(this.#last.now);
            return true;
          }
          if (await this.#hasNothing()) return false;
          // It reports its failure itself.
          return (await this.run().catch(() => undefined)) !== undefined;
        },
      },
      this.#environment.clock,
    );
    const note = ({ state, leader = false }: ClientStatus) => {
      if (state === 'closed' || state === 'failed') return this.stop();
      const isNew = leader && !this.#leads;
      this.#leads = leader;
      if (isNew) void schedule.check();
    };
    this.#ends.push(this.#db.on('status', note), this.#last.watch());
    // The engine tells who is the leader; it reports its own failure.
    this.#db.ready.then(
      () => note(this.#db.status),
      () => undefined,
    );
    return schedule;
  }

  async #backUp(own: OwnBackups): Promise<BackupRun> {
    const { clock, random } = this.#environment;
    const seen = this.#last.now;
    const run = await backUp(this.#db, own, this.#environment, (progress) =>
      this.#emitter.emit('progress', progress),
    );
    this.#last.note(seen);
    this.#environment.memory.remove(evictedKey(this.#db.name));
    try {
      await expireBackups(own, { days: this.#settings.retention_days, now: clock.now(), random });
    } catch (error) {
      // The backup is there; the next run removes them.
      this.#failed(error as Error);
    }
    return run;
  }

  get #isEvicted(): boolean {
    return this.#environment.memory.read(evictedKey(this.#db.name)) !== undefined;
  }

  /** A backup of what an eviction has left would become the newest. */
  #refuseEvicted(): false {
    if ((this.#lastError as { code?: string } | undefined)?.code !== 'storage_evicted') {
      this.#failed(storageEvicted(this.#db.name));
      this.#changed();
    }
    return false;
  }

  /** Whether nothing is stored: an empty backup would hide those of other devices. */
  async #hasNothing(): Promise<boolean> {
    const { list } = await this.#open(this.#device, undefined);
    if ((await list.paths(this.#device)).length > 0) return false;
    return (await this.#db.collections()).every(({ documents }) => documents === 0);
  }

  /** When this device has made its newest backup in the target, as far as that can be read. */
  async #newestOwn(): Promise<number | undefined> {
    const { list } = await this.#open(this.#device, undefined);
    const [newest] = await list.paths(this.#device);
    const manifest = newest && (await list.tryRead(newest));
    return manifest && !isFileOfBackup(manifest) ? manifest.created_at : undefined;
  }

  async #open(device: string, signal: AbortSignal | undefined): Promise<OwnBackups> {
    const { clock, random, memory } = this.#environment;
    const stopping = this.#stopping.signal;
    stopping.throwIfAborted();
    const calls = new TargetCalls(this.#target, {
      ...{ clock, random, timeout: this.#settings.timeout * 1000 },
      signal: signal ? AbortSignal.any([stopping, signal]) : stopping,
    });
    const database = await this.#database;
    const key = markKey(this.#db.name, 'backup', targetIdOf(this.#target) ?? '', device);
    return {
      ...{ calls, database, device },
      list: new BackupList(calls, database, this.#manifests),
      parts: new PartStore(calls, database, device),
      notes: new TargetNotes(calls, database, device, this.#notes),
      newest: { read: () => memory.read(key), write: (name) => memory.write(key, name) },
    };
  }

  /** Runs alone among all tabs, with the objects of a device. */
  async #locked<T>(
    device: string,
    signal: AbortSignal | undefined,
    run: (own: OwnBackups) => Promise<T>,
  ): Promise<T> {
    const stopping = this.#stopping.signal;
    const either = signal ? AbortSignal.any([stopping, signal]) : stopping;
    either.throwIfAborted();
    const name = `cairn-backup:${JSON.stringify([this.#db.name, device])}`;
    try {
      return (await this.#environment.locks.request(name, { signal: either }, async () =>
        run(await this.#open(device, signal)),
      )) as T;
    } catch (error) {
      either.throwIfAborted();
      throw error;
    }
  }

  #failed(error: Error): void {
    if (this.#stopping.signal.aborted) return;
    this.#lastError = error;
    this.#emitter.emit('error', { error });
  }

  #changed(): void {
    this.#emitter.emit('status', this.status);
    showStatus(this.#db, this, this.#stopping.signal.aborted);
  }
}

function stopped(): TargetError {
  return new TargetError(
    'target_stopped',
    'The backups to this target were stopped. Call backupTo() again.',
  );
}

/**
 * Backs up a database to a place outside of the browser: incremental, as only parts that the target
 * lacks are uploaded.
 *
 * @throws {OptionError} with the invalid option.
 *
 * @example
 * ```ts
 * const target = webdav({ url: 'https://dav.example.com/backups' });
 * const remote = backupTo(db, target, { every: 'day', retention_days: 30 });
 * const { name, uploaded_bytes, reused_bytes } = await remote.run();
 * ```
 */
export function backupTo(
  db: DatabaseClient,
  target: BackupTarget | NamedTarget,
  options: BackupToOptions = {},
): RemoteBackups {
  if (!isClient(db))
    throw new OptionError(
      'option_invalid',
      'backupTo(db, target) takes a database, of connect() or new Database().',
      { place: 'db' },
    );
  if (!isTarget(target))
    throw new OptionError(
      'option_invalid',
      'backupTo(db, target) takes a target: folder(), s3(), webdav(), or an object with put, get, list and delete.',
      { place: 'target' },
    );
  return new RemoteBackups(db, target, parseBackupToOptions(options), pageEnvironment);
}

/** The events of `RemoteBackups`. */
export interface RemoteBackupEvents {
  status: RemoteBackupStatus;
  progress: UploadProgress;
  /** A run has ended without an error. */
  backup: BackupRun;
  /** A run has failed, or expired backups could not be removed. A scheduled one is tried again. */
  error: { readonly error: Error };
}

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The result of `RemoteBackups.verify()`. */
export interface TargetVerification {
  readonly name: string;
  readonly whole: boolean;
  /** Why it is not whole. */
  readonly problem: TargetError | undefined;
}
