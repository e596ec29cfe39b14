import type { CollectionUsage } from '../../backup/usage.ts';
import type { EncryptedDriver } from '../../protocol/client-encryption.ts';
import type { DatabaseSettings, WorkerSource } from '../../protocol/database-settings.ts';
import { PART_NAMES, type PartName } from '../../protocol/parts.ts';
import type { StorageDriver } from '../../storage/drivers/driver.ts';
import {
  type Check,
  checkOptions,
  flag,
  milliseconds,
  name,
  oneOf,
  seconds,
} from './option-checks.ts';

const part = oneOf(PART_NAMES);

const parts: Check = {
  allowed: `an array of ${part.allowed}`,
  test: (value) => Array.isArray(value) && value.every(part.test),
};

/** Without a default: `connect` chooses it. */
const shared_worker: Check = { ...flag, fallback: undefined };

/** Options of every client. */
export interface ClientOptions {
  /** Name of the database: 1 to 128 characters of any kind. */
  name: string;
  /**
   * A hint for every save: `strict` waits until the operating system has written to disk, so that
   * data survives a power cut, too.
   * @default 'relaxed'
   */
  durability?: 'relaxed' | 'strict' | undefined;
  /**
   * What this client does when its database is deleted while it is open, other than by `destroy()`:
   * when the user clears the site's data, say. The event `error` has `database_destroyed`. `fail`:
   * every call rejects with that. `start_again`: the client goes on with an empty database; what
   * was unsaved is gone too.
   * @default 'fail'
   */
  on_deleted?: 'fail' | 'start_again' | undefined;
  /**
   * Whether a follower may open a SharedWorker for a moment, in Chromium: that halves the time of
   * its calls. The SharedWorker starts from a file of Cairn; where there is none, from a Blob, and
   * a content security policy that forbids it makes the browser print an error.
   * @default true, but false with an option `worker`
   */
  shared_worker?: boolean | undefined;
  /**
   * Milliseconds from which a query counts as slow, 0 or more: the event `slow_query` reports it
   * with its plan, for which it runs once more. Left out, nothing is measured.
   */
  slow_query_ms?: number | undefined;
  /**
   * Parts of the engine to load at its start: `backups`, `replication`, `transactions`, `upkeep`.
   * Any other loads when a call first needs it; `status.parts` lists those that are there.
   */
  parts?: readonly PartName[] | undefined;
}

const storage: Check = {
  allowed: "'indexeddb', 'memory' or a driver { kind, open }",
  test: (value) =>
    inner(value) === 'indexeddb' || inner(value) === 'memory' || isDriver(inner(value)),
};

/** Options of {@link Database}. */
export interface DatabaseOptions extends ClientOptions {
  /**
   * Where to store data: `indexeddb`, `memory`, or a driver; encrypted with `encrypted(…, { key })`
   * of `cairndb/encryption`. By default IndexedDB, and memory where the browser has or allows none.
   * Nothing replaces a storage that is named: calls reject with `storage_unavailable`.
   */
  storage?: 'indexeddb' | 'memory' | StorageDriver | undefined;
}

const worker: Check = {
  allowed: 'a Worker or a function',
  test: (value) =>
    typeof value === 'function' ||
    typeof (value as { postMessage?: unknown } | null)?.postMessage === 'function',
};

const answer_timeout = seconds(1, 20);

/** Options of {@link connect}. */
export interface ConnectOptions extends ClientOptions {
  /**
   * Where to store data: `indexeddb`, `opfs` or `memory`; encrypted with `encrypted(…, { key })` of
   * `cairndb/encryption`. By default IndexedDB, and memory where the browser has or allows none;
   * with `indexeddb` calls then reject with `storage_unavailable`. A driver cannot be sent to a
   * worker.
   *
   * `opfs`: files of the origin private file system, with IndexedDB where a browser has none;
   * `status.storage_reason` says why. Data that is in IndexedDB stays there until
   * `migrateStorage()`.
   */
  storage?:
    | 'indexeddb'
    | 'opfs'
    | 'memory'
    | EncryptedDriver<'indexeddb' | 'opfs' | 'memory'>
    | undefined;
  /**
   * The worker to use, or a function that makes one. It must run the module `cairndb/worker`. By
   * default Cairn starts its own. Cairn cannot replace a single worker that hangs in a pattern:
   * pass a function.
   */
  worker?: WorkerSource | undefined;
  /**
   * Seconds without an answer after which a worker counts as dead, 1 to 3600. During a call with a
   * pattern (`/…/`, `$regex`) it counts as hung: it is replaced, and only that call rejects, with
   * `query_hung`.
   * @default 20
   */
  answer_timeout?: number | undefined;
}

/** Options of {@link migrateStorage}. */
export interface MigrateOptions extends Pick<ConnectOptions, 'name' | 'worker' | 'answer_timeout'> {
  /** Where the data is to be: `opfs`, files of the origin private file system, or `indexeddb`. */
  to: 'opfs' | 'indexeddb';
}

/** Checked options of {@link migrateStorage}, with defaults. */
interface MigrateSettings extends ConnectSettings {
  readonly to: 'opfs' | 'indexeddb';
}

/** Checked options of {@link connect}, with defaults. */
interface ConnectSettings extends DatabaseSettings {
  readonly worker: WorkerSource | undefined;
  readonly answer_timeout: number;
}

const common = {
  name,
  durability: oneOf(['relaxed', 'strict'], 'relaxed'),
  on_deleted: oneOf(['fail', 'start_again'], 'fail'),
  shared_worker,
  slow_query_ms: milliseconds,
  parts,
};

const placed = oneOf(['indexeddb', 'opfs', 'memory']);

/** A driver cannot be sent to a worker. */
const connected: Check = {
  allowed: `${placed.allowed} (drivers: Database)`,
  test: (value) => placed.test(inner(value)),
};

/** @throws {OptionError} with the option, the given value and the allowed ones. */
export function parseDatabaseOptions(options: unknown): DatabaseSettings {
  return parse(options, { ...common, storage }, 'new Database(options)') as DatabaseSettings;
}

/** @throws {OptionError} with the option, the given value and the allowed ones. */
export function parseConnectOptions(options: unknown): ConnectSettings {
  const checks = { ...common, storage: connected, worker, answer_timeout };
  return parse(options, checks, 'connect(options)') as ConnectSettings;
}

/** @throws {OptionError} with the option, the given value and the allowed ones. */
export function parseMigrateOptions(options: unknown): MigrateSettings {
  const to: Check = { ...oneOf(['opfs', 'indexeddb']), required: true };
  const checks = { ...common, to, worker, answer_timeout };
  return parse(options, checks, 'migrateStorage(options)') as MigrateSettings;
}

function parse(options: unknown, checks: Record<string, Check>, taker: string): DatabaseSettings {
  const settings = checkOptions(options, checks, taker) as unknown as DatabaseSettings;
  const { storage, encryption } = (settings.storage ?? {}) as Partial<EncryptedDriver>;
  const sealed = encryption && ({ storage, encryption } as Partial<DatabaseSettings>);
  return { ...settings, ...sealed, name: settings.name.toWellFormed() };
}

/** What is encrypted, if it is. */
function inner(value: unknown): unknown {
  return (value as Partial<EncryptedDriver> | null)?.encryption
    ? (value as EncryptedDriver).storage
    : value;
}

function isDriver(value: unknown): value is StorageDriver {
  const { kind, open } = (value ?? {}) as { kind?: unknown; open?: unknown };
  return typeof value === 'object' && typeof kind === 'string' && typeof open === 'function';
}

/**
 * The browser's storage of a database. The answer is `'unsupported'` where a browser has no API for
 * it.
 */
export interface DatabaseStorage {
  /**
   * Asks the browser to keep the data of this site until the user removes it. Chromium and WebKit
   * decide by how the site is used, Firefox asks the user.
   *
   * @returns whether it will. Source: https://storage.spec.whatwg.org/#dom-storagemanager-persist
   */
  persist(): Promise<boolean | 'unsupported'>;
  /** Storage use and quota. */
  estimate(): Promise<StorageUse>;
  /**
   * `persistent`: kept until the user removes it. `best_effort`: the browser may evict it when it
   * needs room. `memory`: gone when the page or worker ends. `unsupported`: the browser does not
   * say.
   */
  readonly status: Promise<StorageStatus>;
}

export type StorageStatus = 'persistent' | 'best_effort' | 'memory' | 'unsupported';

/** Bytes in use. */
export interface StorageUse {
  /** Used by this site, as the browser counts it. */
  readonly usage: number | 'unsupported';
  /** Available to this site. */
  readonly quota: number | 'unsupported';
  /** Rough bytes of each collection, before the browser compresses them. */
  readonly collections: readonly CollectionUsage[];
}
