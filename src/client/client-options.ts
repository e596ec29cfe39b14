import {
  type Check,
  checkOptions,
  name,
  number,
  oneOf,
} from '../collection/options/option-checks.ts';
import type { StorageDriver } from '../storage/drivers/driver.ts';
import type { DatabaseSettings } from '../transport/channel/channel.ts';
import type { WorkerSource } from '../transport/worker/worker-start.ts';

/** Options of both doors. */
export interface ClientOptions {
  /** Name of the database: 1 to 128 characters of any kind. */
  name: string;
  /**
   * A hint for every save: `strict` waits until the operating system says the data is on disk, so that it
   * survives a power cut too.
   * @default 'relaxed'
   */
  durability?: 'relaxed' | 'strict' | undefined;
}

/** Options of {@link Database}. */
export interface DatabaseOptions extends ClientOptions {
  /**
   * Where data goes: `indexeddb` (the default where it exists), `memory`, or a driver.
   */
  storage?: 'indexeddb' | 'memory' | StorageDriver | undefined;
}

/** Options of {@link connect}. */
export interface ConnectOptions extends ClientOptions {
  /** Where data goes: `indexeddb` (the default where it exists) or `memory`. A driver cannot cross to a worker. */
  storage?: 'indexeddb' | 'memory' | undefined;
  /**
   * The worker to use, or a function that makes one. It has to run the module `cairndb/worker`. Left out,
   * Cairn finds its own. A worker that hangs in a pattern can only be replaced where it can be made again: by
   * the function, or by Cairn.
   */
  worker?: WorkerSource | undefined;
  /**
   * Seconds of silence after which a worker that something waits for counts as dead, 1 to 3600. One that is
   * silent over a call with a pattern (`/…/`, `$regex`) counts as hung: it is replaced, and only that call
   * rejects, with `query_hung`.
   * @default 20
   */
  answer_timeout?: number | undefined;
}

/** Options of {@link connect}, checked and completed. */
export interface ConnectSettings extends DatabaseSettings {
  readonly worker: WorkerSource | undefined;
  readonly answer_timeout: number;
}

const durability = oneOf(['relaxed', 'strict'], 'relaxed');

const storage: Check = {
  allowed: "'indexeddb', 'memory' or a driver { kind, open }",
  test: (value) => value === 'indexeddb' || value === 'memory' || isDriver(value),
};

const worker: Check = {
  allowed: 'a Worker or a function that makes one',
  test: (value) =>
    typeof value === 'function' ||
    typeof (value as { postMessage?: unknown } | null)?.postMessage === 'function',
};

const answer_timeout = number(
  'a number of seconds from 1 to 3600',
  (value) => value >= 1 && value <= 3600,
  20,
);

/** @throws {OptionError} naming the option, what was given and what is allowed. */
export function parseDatabaseOptions(options: unknown): DatabaseSettings {
  return parse(options, { name, durability, storage }, 'new Database(options)') as DatabaseSettings;
}

/** @throws {OptionError} naming the option, what was given and what is allowed. */
export function parseConnectOptions(options: unknown): ConnectSettings {
  // A driver cannot cross to a worker.
  const storage = oneOf(['indexeddb', 'memory']);
  const checks = { name, durability, storage, worker, answer_timeout };
  return parse(options, checks, 'connect(options)') as ConnectSettings;
}

function parse(options: unknown, checks: Record<string, Check>, taker: string): DatabaseSettings {
  const settings = checkOptions(options, checks, taker) as unknown as DatabaseSettings;
  return { ...settings, name: settings.name.toWellFormed() };
}

function isDriver(value: unknown): value is StorageDriver {
  const { kind, open } = (value ?? {}) as { kind?: unknown; open?: unknown };
  return typeof value === 'object' && typeof kind === 'string' && typeof open === 'function';
}
