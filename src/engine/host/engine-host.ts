import { nextTurn } from '../../async/next-turn.ts';
import { type CairnError, StorageError } from '../../errors/errors.ts';
import type { EnginePlatform } from '../../platform/platform.ts';
import { serverRuntime } from '../../platform/platform-object.ts';
import type { EngineEncryption } from '../../protocol/client-encryption.ts';
import type {
  DatabaseSettings,
  PendingTerm,
  TermEvents,
} from '../../protocol/database-settings.ts';
import type { Storage, StorageDriver, StorageEvents } from '../../storage/drivers/driver.ts';
import { memoryDriver } from '../../storage/drivers/memory-driver.ts';
import type { EncryptionModule, KeyedStorage } from '../../storage/encryption/encryption-module.ts';
import { idGenerator } from '../documents/ids.ts';
import { Engine } from '../engine.ts';
import { inTime, parts } from '../parts.ts';
import { TabServer } from './tab-server.ts';

/** An engine with its storage and tab server. */
export interface HostedEngine {
  readonly engine: Engine;
  /** Whether other tabs can use it. */
  readonly shared: boolean;
  /** What is stored of its key, where the storage is encrypted. */
  readonly keyRecord: (() => Promise<unknown>) | undefined;
  /**
   * @param deleting Whether the database is being deleted: what the next opening is faster by is
   *   not written.
   */
  readonly stop: (deleting: boolean) => Promise<void>;
  /** Closes the engine to followers, and starts no further write: another page may lead. */
  readonly resign: () => void;
  /** Ends the engine without saving: another page leads. */
  readonly abandon: () => void;
}

/** Opens the storage, starts the engine of a leader, and serves followers. */
export async function hostEngine(
  settings: DatabaseSettings,
  { leader, locked, stolen, journals, expected }: PendingTerm,
  { superseded, recovered, bring }: TermEvents,
  platform: EnginePlatform,
): Promise<HostedEngine> {
  const early: CairnError[] = [];
  let report = (error: CairnError): void => void early.push(error);
  const { name, durability } = settings;
  const { storage, kind, why, shared, keyed } = await openStorage(settings, platform, {
    damaged: (error) => report(error),
    // The clients learn from the next engine whether their database is gone.
    deleted: superseded,
  });
  const engine = new Engine({
    storage,
    storageKind: kind,
    storageReason: why,
    isEncrypted: keyed !== undefined,
    damage: early,
    durability,
    clock: platform.clock,
    terminable: platform.terminable,
    checkpointAfter: platform.checkpointAfter,
    newId: idGenerator((bytes) => crypto.getRandomValues(bytes)),
    succession: {
      locked,
      stolen,
      // Those of another storage are not done because this one cannot have them.
      left: shared ? journals : Promise.resolve([]),
      expected: expected.then((clients) => new Set(clients)),
      taken: superseded,
      forgotten: recovered,
    },
  });
  report = (error) => engine.reportError(error);
  for (const part of settings.parts ?? [])
    parts.load(part).then(
      () => engine.sendStatus(),
      (error: CairnError) => report(error),
    );
  const { broadcast } = platform;
  const server =
    broadcast && locked && shared
      ? new TabServer(engine, name, leader, platform, broadcast, bring, keyed?.admit)
      : undefined;
  return {
    engine,
    shared,
    keyRecord: keyed?.keyRecord,
    stop: async (deleting) => {
      // A follower that waits for the lock reads all anyway, and writes what the next opening is
      // faster by.
      if (!deleting) await (server?.isFollowed ? server : engine).finish();
      // Before the save: followers replay unsaved changes to the next leader.
      server?.close();
      await engine.stop();
    },
    resign: () => {
      server?.close();
      // In the next turn: a save as the page ends begins in this one.
      nextTurn().then(() => engine.leave());
    },
    abandon: () => {
      server?.close();
      engine.leave();
      engine.stop().catch(() => undefined);
    },
  };
}

/** Opens the storage of the settings, or what replaces it where there is none. */
async function openStorage(
  settings: DatabaseSettings,
  platform: EnginePlatform,
  events: StorageEvents,
): Promise<OpenedStorage> {
  return encryptStorage(openPlain(settings, platform, events), settings, platform, events.damaged);
}

async function openPlain(
  settings: DatabaseSettings,
  platform: EnginePlatform,
  events: StorageEvents,
): Promise<OpenedStorage> {
  const { storage } = settings;
  if (storage !== 'opfs') return openDriver(storage, settings, platform, events);
  let why: string;
  try {
    return await openFiles(settings, platform, events);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    why = error.message;
  }
  return { ...(await openDriver(undefined, settings, platform, events)), why };
}

/**
 * @throws {StorageError} `storage_unavailable`; {CairnError} `load_failed`: what is in IndexedDB
 *   then is not the database, and a new one would stay there
 */
async function openFiles(
  { name, move_to: moveTo }: DatabaseSettings,
  { storage: indexedDb, storageCode }: EnginePlatform,
  events: StorageEvents,
): Promise<OpenedStorage> {
  if (!storageCode || !indexedDb)
    throw unavailable('The engine runs in no worker: it has no files.');
  const { openOpfs } = await inTime('storage', storageCode());
  const opened = await openOpfs(name, { events, indexedDb, moveTo });
  return { ...opened, shared: true };
}

type Chosen = Exclude<DatabaseSettings['storage'], 'opfs'>;

function chooseDriver(storage: Chosen, { storage: shared }: EnginePlatform): StorageDriver {
  if (typeof storage === 'object') return storage;
  if (storage === 'memory') return memoryDriver();
  if (shared) return shared;
  const hint = storage ? ' Leave `storage` out to use memory.' : '';
  throw unavailable(`There is no IndexedDB here.${hint}`);
}

const warnings = new Set<string>();

async function openDriver(
  chosen: Chosen,
  { name }: DatabaseSettings,
  platform: EnginePlatform,
  events: StorageEvents,
): Promise<OpenedStorage> {
  try {
    const driver = chooseDriver(chosen, platform);
    const storage = await driver.open(name, events);
    return { storage, kind: driver.kind, shared: driver === platform.storage };
  } catch (error) {
    // Private modes have an IndexedDB that cannot be opened. An app that chose a storage counts on
    // it.
    if (!isUnavailable(error) || chosen !== undefined) throw error;
    warnAboutMemory(error.message);
    const memory = memoryDriver();
    const storage = await memory.open(name, events);
    return { storage, kind: memory.kind, why: error.message, shared: false };
  }
}

function isUnavailable(error: unknown): error is StorageError {
  return error instanceof StorageError && error.code === 'storage_unavailable';
}

function unavailable(message: string): StorageError {
  return new StorageError('storage_unavailable', message);
}

/** Warns once in a page or process: a server may open many databases. */
function warnAboutMemory(why: string): void {
  const meaning = serverRuntime()
    ? 'All requests of this process share it. Give `new Database()` a storage driver. Where pages are rendered, call collections in the browser only.'
    : 'It is gone when this page ends.';
  const warning = `cairndb keeps data in memory only: ${why} ${meaning} \`storage: 'memory'\` says that this is meant.`;
  if (warnings.has(warning)) return;
  warnings.add(warning);
  console.warn(warning);
}

/**
 * Encrypts a storage that is being opened, if the settings say so; the code loads meanwhile.
 *
 * @param damaged Called with values that do not open.
 */
async function encryptStorage(
  opening: Promise<OpenedStorage>,
  { name, encryption, engine_encryption }: DatabaseSettings,
  platform: EnginePlatform,
  damaged: (error: StorageError) => void,
): Promise<OpenedStorage> {
  if (!encryption && !engine_encryption) return opening;
  const given = engine_encryption ?? encryption?.forEngine(name, false);
  const loading = load(given as EngineEncryption, platform);
  // It is awaited once the storage is open.
  loading.catch(() => undefined);
  const opened = await opening;
  try {
    const { module, key } = await loading;
    const keyed = await module.openEncrypted(opened.storage, {
      ...{ ...key, name, hasPages: opened.shared },
      ...{ events: { damaged }, StorageError },
    });
    return { ...opened, storage: keyed, keyed };
  } catch (error) {
    // Never without encryption instead.
    await opened.storage.close();
    throw error;
  }
}

async function load(
  given: EngineEncryption | Promise<EngineEncryption>,
  { storageCode }: EnginePlatform,
) {
  const { code, ...key } = await given;
  if (code) return { module: code, key };
  const loading = storageCode?.() as Promise<EncryptionModule>;
  return { module: await inTime('storage', loading), key };
}

interface OpenedStorage {
  readonly storage: Storage;
  /** As in `status.storage`. */
  readonly kind: string;
  /** Why it is another than requested. */
  readonly why?: string | undefined;
  /** The same, where it is encrypted. */
  readonly keyed?: KeyedStorage | undefined;
  /**
   * Whether all tabs share it: not a driver of the caller's, nor the memory that replaces unusable
   * storage.
   */
  readonly shared: boolean;
}
