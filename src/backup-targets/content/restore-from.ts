import { checkOptions, isAbortSignal, name, oneOf } from '../../api/options/option-checks.ts';
import { OptionError } from '../../errors/errors.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import { evictedKey } from '../../platform/page-store.ts';
import { type BackupTarget, isTarget, type NamedTarget, timeoutCheck } from '../backup-target.ts';
import { TargetCalls } from '../calls/target-calls.ts';
import { pageEnvironment } from '../schedule/page-environment.ts';
import { downloadFile } from './backup-content.ts';
import { BackupList } from './backup-list.ts';
import { PartStore } from './part-store.ts';
import { bytesOfBackup } from './target-manifest.ts';
import { databaseKey } from './target-paths.ts';

/** Options of {@link restoreFrom}. */
export interface RestoreOptions {
  /** The database that gets the documents. */
  readonly db: DatabaseClient;
  /** The name of the backup. @default the newest of all devices */
  readonly name?: string | undefined;
  /** The name of the database that was backed up. @default the name of `db` */
  readonly database?: string | undefined;
  /**
   * As in `importAll()`. `merge` keeps documents that the backup lacks.
   * @default 'replace'
   */
  readonly mode?: 'replace' | 'merge' | undefined;
  /** Called while the backup is downloaded and imported. */
  readonly onProgress?: ((progress: RestoreProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Seconds that an attempt of one request may take. @default 60 */
  readonly timeout?: number | undefined;
}

/** How far a restore is. */
export interface RestoreProgress {
  readonly step: 'download' | 'import';
  /** Bytes so far, before compression; while importing, documents. */
  readonly done: number;
  readonly total: number;
}

/** What was restored. */
export interface Restored {
  readonly name: string;
  readonly device: string;
  readonly created_at: Date;
  readonly documents: number;
}

/**
 * Restores a backup of a target into a database, on any device, all or nothing: everything is
 * downloaded and checked before the first document changes. The old content of each collection
 * becomes a backup of it; collections that the backup lacks stay as they are.
 *
 * @throws {BackupError} `backup_unknown`, and those of `importAll()`; {TargetError}
 *   `target_damaged`, `target_newer`, `target_foreign`, `target_unreachable`, `target_denied`.
 *   Nothing is changed then.
 *
 * @example
 * ```ts
 * const onProgress = ({ done, total }) => console.log(done / total);
 * const { documents } = await restoreFrom(target, { db, onProgress });
 * ```
 */
export async function restoreFrom(
  target: BackupTarget | NamedTarget,
  options: RestoreOptions,
): Promise<Restored> {
  const given = parseRestoreOptions(target, options);
  const { db, onProgress, signal } = given;
  const settings = { ...pageEnvironment, timeout: given.timeout * 1000, signal };
  const calls = new TargetCalls(target, settings);
  const database = await databaseKey(given.database ?? db.name);
  const list = new BackupList(calls, database);
  const found = await list.find(given.name);
  const manifest = await list.read(found);
  const { documents, created_at } = manifest;
  const total = bytesOfBackup(manifest);
  const parts = new PartStore(calls, database, found.device);
  const file = await downloadFile(manifest, parts, (done) =>
    onProgress?.({ step: 'download', done, total }),
  );
  signal?.throwIfAborted();
  const imported = await db.importAll(file, {
    mode: given.mode,
    signal,
    progress: (now) => onProgress?.({ step: 'import', done: now.documents, total: documents }),
  });
  pageEnvironment.memory.remove(evictedKey(db.name));
  return { ...found, created_at: new Date(created_at), documents: imported };
}

type Parsed = RestoreOptions & { readonly timeout: number };

function parseRestoreOptions(target: unknown, options: unknown): Parsed {
  if (!isTarget(target))
    throw new OptionError(
      'option_invalid',
      'restoreFrom(target, options) takes a target: folder(), s3(), webdav(), or an object with put, get, list and delete.',
      { place: 'target' },
    );
  const optionalName = { ...name, required: false };
  return checkOptions(
    options,
    {
      db: {
        allowed: 'a database, of connect() or new Database()',
        test: (value) => typeof (value as Partial<DatabaseClient>)?.importAll === 'function',
        required: true,
      },
      name: optionalName,
      database: optionalName,
      mode: oneOf(['replace', 'merge'], 'replace'),
      onProgress: { allowed: 'a function', test: (value) => typeof value === 'function' },
      signal: { allowed: 'an AbortSignal', test: isAbortSignal },
      timeout: timeoutCheck,
    },
    'restoreFrom(target, options)',
  ) as unknown as Parsed;
}
