/** Where the backups to a target stand. */
export interface RemoteBackupStatus {
  /** `idle` until the next run, in this tab or in the leader's. */
  readonly state: 'idle' | 'running' | 'stopped';
  /** Where the target is, without credentials; `undefined` where it does not say. */
  readonly target: string | undefined;
  /** The name of this device in the target. */
  readonly device: string;
  /** When the last run of this page ended without an error. */
  readonly last_run: Date | undefined;
  /** When this page checks next whether a backup is due; `undefined` where another tab does, or nothing is scheduled. */
  readonly next_run: Date | undefined;
  /** The failure of the last run, until one succeeds. */
  readonly last_error: Error | undefined;
}
