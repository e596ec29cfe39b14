export type { RemoteBackupStatus } from '../transport/channel/remote-backup-status.ts';
export { folder } from './adapters/folder.ts';
export { type S3Options, s3 } from './adapters/s3.ts';
export { type WebDavOptions, webdav } from './adapters/webdav.ts';
export type { BackupTarget, NamedTarget } from './backup-target.ts';
export { backupTo } from './backup-to.ts';
export { TargetError, type TargetErrorCode } from './calls/target-error.ts';
export type { TargetBackup } from './manifest/backup-list.ts';
export type {
  CallOptions,
  RemoteBackupEvents,
  TargetVerification,
} from './remote-backup-events.ts';
export type { RemoteBackups } from './remote-backups.ts';
export {
  type Restored,
  type RestoreOptions,
  type RestoreProgress,
  restoreFrom,
} from './restore/restore-from.ts';
export type { BackupRun } from './runs/back-up.ts';
export type { UploadProgress } from './runs/upload.ts';
export { rememberedTargets } from './schedule/last-check.ts';
export type { BackupToOptions } from './target-options.ts';
