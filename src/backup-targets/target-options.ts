import { type Check, checkOptions, number } from '../collection/options/option-checks.ts';
import { DEVICE } from './manifest/target-paths.ts';

/** Options of {@link backupTo}. */
export interface BackupToOptions {
  /**
   * When to back up, where something has changed: once each calendar day, or after so many seconds (10 or more). One tab
   * does it for all. Left out: only by `run()`.
   */
  readonly every?: 'day' | number | undefined;
  /**
   * Days after which the backups of this device expire, -1 for never; a later run removes them, a day after it was found. The two
   * newest that can be read stay beyond that.
   * @default 30
   */
  readonly retention_days?: number | undefined;
  /**
   * The name of this device in the target: 1 to 40 characters of `a-z`, `0-9`, `_` and `-`. No two devices may have the
   * same.
   * @default a random one, which localStorage keeps; in Node a new one for each process
   */
  readonly device?: string | undefined;
  /** Seconds that an attempt of one request may take. @default 60 */
  readonly timeout?: number | undefined;
}

/** Options with their defaults. */
export interface BackupToSettings {
  readonly every: 'day' | number | undefined;
  readonly retention_days: number;
  readonly device: string | undefined;
  readonly timeout: number;
}

export const timeoutCheck: Check = number(
  'seconds, 1 to 3600',
  (value) => value >= 1 && value <= 3600,
  60,
);

/** @throws {OptionError} with the invalid option. */
export function parseBackupToOptions(options: unknown): BackupToSettings {
  return checkOptions(
    options,
    {
      every: {
        allowed: "'day', or seconds, 10 or more",
        test: (value) => value === 'day' || (Number.isFinite(value) && (value as number) >= 10),
      },
      retention_days: number('days, more than 0, or -1', (value) => value > 0 || value === -1, 30),
      device: {
        allowed: 'a string of 1 to 40 characters of a-z, 0-9, _ and -',
        test: (value) => typeof value === 'string' && DEVICE.test(value),
      },
      timeout: timeoutCheck,
    },
    'backupTo(db, target, options)',
  ) as unknown as BackupToSettings;
}
