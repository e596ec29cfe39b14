/// <reference lib="esnext.disposable" />
import { type Check, checkOptions, flag, name } from '../api/options/option-checks.ts';
import { systemClock } from '../async/clock.ts';
import { inMicrotask } from '../async/next-turn.ts';
import * as aggregation from '../engine/aggregation/part.ts';
import * as backups from '../engine/backups/part.ts';
import { parts } from '../engine/parts.ts';
import * as relations from '../engine/relations/part.ts';
import * as replication from '../engine/replication/replica-requests.ts';
import * as search from '../engine/search/part.ts';
import * as updates from '../engine/update/part.ts';
import * as upkeep from '../engine/upkeep/part.ts';
import * as vectors from '../engine/vectors/part.ts';
import { Runtime } from '../page/calls/runtime.ts';
import { ThreadClient } from '../page/client/thread-client.ts';
import { connectInThread } from '../page/connection/thread-engine.ts';
import { runTransactionSync } from '../page/transactions/run-transaction-sync.ts';
import { ThreadLocks } from '../platform/page-locks.ts';
import type { Broadcast, Platform } from '../platform/platform.ts';
import * as expressions from '../query/expressions/part.ts';
import type { StorageDriver } from '../storage/drivers/driver.ts';
import { memoryDriver } from '../storage/drivers/memory-driver.ts';
import { closeAfterTest, forgetDatabase } from './close-after-test.ts';
import { FakeClock } from './fake-clock.ts';
import { TestStorage } from './test-storage.ts';

/** Options of {@link testDatabase}. */
export interface TestDatabaseOptions {
  /**
   * Name of the database. Databases of one name are different ones, unless they share `storage`.
   * @default 'test'
   */
  name?: string | undefined;
  /**
   * Where to store data. If not given, a memory of its own. Pass the `disk` of a closed database to
   * open its data again, as after a reload, or a driver.
   */
  storage?: StorageDriver | undefined;
  /** The time that the database sees. If not given, that of the machine. */
  clock?: FakeClock | undefined;
  /**
   * Whether it is closed after the test in which it was opened, where the runner has global hooks.
   * Turn it off in tests that run at the same time.
   * @default true
   */
  auto_close?: boolean | undefined;
}

const storage: Check = {
  allowed: 'a driver { kind, open }, such as memoryDriver()',
  test: (value) => typeof (value as Partial<StorageDriver> | null)?.open === 'function',
};

const clock: Check = {
  allowed: 'a FakeClock',
  test: (value) => value instanceof FakeClock,
};

const CHECKS: Record<string, Check> = {
  name: { ...name, required: false, fallback: 'test' },
  storage,
  clock,
  auto_close: { ...flag, fallback: true },
};

/**
 * The code of calls and of the engine. It loads with the tests, not with the first call: Jest may
 * take seconds to transform it, and limits the time of a test.
 */
const PARTS = Promise.resolve({ connectInThread, runTransactionSync, Runtime });
// The time of a test does not pass while code loads.
parts.add('aggregation', aggregation);
parts.add('backups', backups);
parts.add('expressions', expressions);
parts.add('relations', relations);
parts.add('replication', replication);
parts.add('search', search);
parts.add('updates', updates);
parts.add('upkeep', upkeep);
parts.add('vectors', vectors);

/**
 * A database for one test: empty, in memory, with the engine in this thread. It has all methods of
 * `connect()` and `Database`, so an app takes it for either.
 */
export class TestDatabase extends ThreadClient implements AsyncDisposable {
  /** Its storage: a test can make it fail, or open it again. */
  readonly disk: TestStorage;

  /** @internal */
  constructor(name: string, device: TestDevice, isTab: boolean, autoClose: boolean) {
    const { disk } = device;
    // Clients that pass the driver share an engine, as those of one page do; those of tabs have one
    // in common.
    const storage = isTab ? undefined : disk;
    super({ name, storage, durability: 'relaxed' }, tabPlatform(device, isTab), () => PARTS);
    this.disk = disk;
    closeAfterTest(this, autoClose);
  }

  /** Jest refuses an import() between a hook and its test: the first call loads the engine. */
  override get opensEarly(): boolean {
    return false;
  }

  override async close(): Promise<void> {
    await super.close();
    forgetDatabase(this);
  }

  /**
   * Repairs the disk, saves and closes: `await using db = testDatabase()` calls it at the end of
   * the block.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.disk.repair();
    await this.close();
  }
}

/**
 * Opens an empty database in memory, for one test. Where the runner has global hooks (Jest, Mocha,
 * Vitest with `globals`) it is closed after the test in which it was opened. Elsewhere call
 * {@link closeTestDatabases}, or `await using`.
 *
 * @throws {OptionError} with the option, the given value and the allowed ones.
 *
 * @example
 * ```ts
 * const db = testDatabase();
 * const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
 * await orders.insert({ item: 'lamp' });
 * await orders.count(); // => 1
 * ```
 */
export function testDatabase(options: TestDatabaseOptions = {}): TestDatabase {
  const { name, storage, clock, auto_close } = checkOptions(
    options,
    CHECKS,
    'testDatabase(options)',
  ) as unknown as TestDatabaseOptions & { name: string; auto_close: boolean };
  return new TestDatabase(name, deviceOf(storage, clock), false, auto_close);
}

/** A device whose disk is this storage. */
function deviceOf(storage = memoryDriver() as StorageDriver, clock?: FakeClock): TestDevice {
  const disk = storage instanceof TestStorage ? storage : new TestStorage(storage);
  clock?.awaitAlso(() => disk.underWay);
  return newDevice(disk, clock);
}

/** Options of {@link testBrowser}. */
export interface TestBrowserOptions {
  /** The time that its tabs see. If not given, that of the machine. */
  clock?: FakeClock | undefined;
}

/** A browser with several tabs, in this thread. */
export class TestBrowser {
  /** The storage of all tabs. */
  readonly disk: TestStorage;
  readonly #device: TestDevice;

  /** @internal */
  constructor(device: TestDevice) {
    this.#device = device;
    this.disk = device.disk;
  }

  /**
   * Opens a database in a new tab. The first tab of a database is its leader, the others use its
   * engine; when the leader closes, another takes over, as in a browser.
   *
   * @param options `name` of the database, by default 'test'.
   * @throws {OptionError} with the option, the given value and the allowed ones.
   */
  openTab(options: { name?: string | undefined } = {}): TestDatabase {
    const checks = { name: { ...name, required: false, fallback: 'test' } };
    const settings = checkOptions(options, checks, 'openTab(options)') as { name: string };
    return new TestDatabase(settings.name, this.#device, true, true);
  }
}

/**
 * A browser whose tabs share their databases: tests what a user sees who has the app open twice.
 *
 * @throws {OptionError} with the option, the given value and the allowed ones.
 *
 * @example
 * ```ts
 * const browser = testBrowser();
 * const [one, two] = [browser.openTab(), browser.openTab()];
 * const options = { name: 'orders', type: 'DOCUMENT_BASED' } as const;
 * await new one.Collection(options).insert({ item: 'lamp' });
 * await new two.Collection(options).count(); // => 1
 * ```
 */
export function testBrowser(options: TestBrowserOptions = {}): TestBrowser {
  const settings = checkOptions(options, { clock }, 'testBrowser(options)') as TestBrowserOptions;
  return new TestBrowser(deviceOf(undefined, settings.clock));
}

type Listener = (event: { readonly data: unknown }) => void;

/** Everything that the tabs of a browser share. */
interface TestDevice {
  readonly disk: TestStorage;
  readonly clock: FakeClock | undefined;
  readonly locks: ThreadLocks;
  /** Open channels, by their name: the listeners of each. */
  readonly channels: Map<string, Set<Set<Listener>>>;
}

let clients = 0;

function newDevice(disk: TestStorage, clock: FakeClock | undefined): TestDevice {
  return { disk, clock, locks: new ThreadLocks(), channels: new Map() };
}

/**
 * The platform of a tab. A lone one has no other tabs to talk to. docs/decisions/027-testing-kit.md
 * has the reasons.
 */
function tabPlatform(device: TestDevice, isTab: boolean): Platform {
  const { disk, clock = systemClock, locks } = device;
  return {
    clock,
    locks,
    locked: true,
    broadcast: isTab ? (name) => openChannel(device, name) : undefined,
    newPorts: () => new MessageChannel(),
    storage: isTab ? disk : undefined,
    page: undefined,
    pageWriting: () => NO_UNLOADS,
    journals: NO_JOURNALS,
    switchboard: undefined,
    newClient: () => `test.${++clients}`,
  };
}

const ignore = () => undefined;
const refuse = () => false;

/** A test tab never ends without a close. */
const NO_UNLOADS: ReturnType<Platform['pageWriting']> = {
  prepare: ignore,
  write: refuse,
  store: refuse,
  journal: ignore,
  forget: ignore,
  close: ignore,
};

const NO_JOURNALS: Platform['journals'] = {
  write: () => 0,
  read: () => [],
  forget: ignore,
  clear: ignore,
  onWritten: () => ignore,
};

/** A BroadcastChannel among the tabs of a device: Node's keep the process from ending. */
function openChannel({ channels }: TestDevice, name: string): Broadcast {
  const all = channels.get(name) ?? new Set();
  channels.set(name, all);
  const own = new Set<Listener>();
  all.add(own);
  const channel = {
    postMessage(message: unknown) {
      // jsdom has no structuredClone. Nobody changes a message; a copy shows what cannot be sent.
      const data = globalThis.structuredClone?.(message) ?? message;
      for (const other of all) if (other !== own) inMicrotask(() => deliver(other, data));
    },
    addEventListener: (_type: string, listener: unknown) => void own.add(listener as Listener),
    removeEventListener: (_type: string, listener: unknown) =>
      void own.delete(listener as Listener),
    close() {
      all.delete(own);
      own.clear();
      if (all.size === 0) channels.delete(name);
    },
  };
  return channel as unknown as Broadcast;
}

function deliver(listeners: ReadonlySet<Listener>, data: unknown): void {
  for (const listener of [...listeners]) listener({ data });
}
