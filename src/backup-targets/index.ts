export type { RemoteBackupStatus } from '../protocol/database-settings.ts';
export { folder } from './adapters/folder.ts';
export { type S3Options, s3 } from './adapters/s3.ts';
export { type WebDavOptions, webdav } from './adapters/webdav.ts';
export type { BackupTarget, BackupToOptions, NamedTarget } from './backup-target.ts';
export { TargetError, type TargetErrorCode } from './calls/target-calls.ts';
export type { TargetBackup } from './content/backup-list.ts';
export {
  type Restored,
  type RestoreOptions,
  type RestoreProgress,
  restoreFrom,
} from './content/restore-from.ts';
export type {
  CallOptions,
  RemoteBackupEvents,
  RemoteBackups,
  TargetVerification,
} from './remote-backups.ts';
export { backupTo } from './remote-backups.ts';
export type { BackupRun, UploadProgress } from './runs/upload.ts';
export { rememberedTargets } from './schedule/backup-schedule.ts';
