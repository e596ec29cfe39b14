import { type Check, checkOptions, number, seconds } from '../api/options/option-checks.ts';
import { DEVICE } from './content/target-paths.ts';

/**
 * A place outside of the browser that keeps objects by path: `folder()`, `s3()`, `webdav()`, or one
 * of your own. Paths have `a-z`, `0-9`, `/`, `.`, `_` and `-` only, and name no collection and no
 * document.
 *
 * `put` is all or nothing: `list` returns a path only once all of its bytes are there. `get` finds
 * an object once its `put` has resolved; `list` may lag behind. An error may be any; a
 * `TargetError` says whether another attempt makes sense.
 */
export interface BackupTarget {
  /** Stores an object, in place of the one that is there. */
  put(path: string, bytes: Uint8Array): Promise<void>;
  /** The bytes of an object; `undefined` where there is none. */
  get(path: string): Promise<Uint8Array | undefined>;
  /** All paths that begin with the prefix, which ends in a slash, in any order. */
  list(prefix: string): Promise<string[]>;
  /** Removes an object, if it is there. */
  delete(path: string): Promise<void>;
}

/** A target that says where it is, without credentials: `s3:https://…`. */
export interface NamedTarget extends BackupTarget {
  readonly id: string;
}

export function targetIdOf(target: BackupTarget): string | undefined {
  const { id } = target as Partial<NamedTarget>;
  return typeof id === 'string' ? id : undefined;
}

export function isTarget(value: unknown): value is BackupTarget {
  const target = (value ?? {}) as Record<string, unknown>;
  return ['put', 'get', 'list', 'delete'].every((name) => typeof target[name] === 'function');
}

/** Options of {@link backupTo}. */
export interface BackupToOptions {
  /**
   * When to back up, where something has changed: once each calendar day, or after so many seconds
   * (10 or more). One tab does it for all. Left out: only by `run()`.
   */
  readonly every?: 'day' | number | undefined;
  /**
   * Days after which the backups of this device expire, -1 for never; a later run removes them, a
   * day after it was found. The two newest that can be read stay beyond that.
   * @default 30
   */
  readonly retention_days?: number | undefined;
  /**
   * The name of this device in the target: 1 to 40 characters of `a-z`, `0-9`, `_` and `-`. No two
   * devices may have the same.
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

export const timeoutCheck: Check = seconds(1, 60);

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
