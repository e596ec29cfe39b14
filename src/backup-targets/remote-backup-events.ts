import type { RemoteBackupStatus } from '../transport/channel/remote-backup-status.ts';
import type { TargetError } from './calls/target-error.ts';
import type { BackupRun } from './runs/back-up.ts';
import type { UploadProgress } from './runs/upload.ts';

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
