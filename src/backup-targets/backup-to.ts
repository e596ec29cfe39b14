import type { DatabaseClient } from '../client/database-client.ts';
import { OptionError } from '../errors/option-error.ts';
import { type BackupTarget, isTarget, type NamedTarget } from './backup-target.ts';
import { RemoteBackups } from './remote-backups.ts';
import { pageEnvironment } from './schedule/page-environment.ts';
import { isClient } from './schedule/show-status.ts';
import { type BackupToOptions, parseBackupToOptions } from './target-options.ts';

/**
 * Backs up a database to a place outside of the browser: incremental, as only parts that the target lacks are uploaded.
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
