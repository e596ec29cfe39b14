import { StorageError } from '../../errors/errors.ts';
import type { EnginePlatform } from '../../platform/platform.ts';
import { serverRuntime } from '../../platform/platform-object.ts';
import type { EngineEncryption } from '../../protocol/client-encryption.ts';
import type { DatabaseSettings } from '../../protocol/database-settings.ts';
import type { Storage, StorageDriver, StorageEvents } from '../../storage/drivers/driver.ts';
import { memoryDriver } from '../../storage/drivers/memory-driver.ts';
import type { EncryptionModule, KeyedStorage } from '../../storage/encryption/encryption-module.ts';
import { inTime } from '../parts.ts';

/** Opens the storage of the settings, or what replaces it where there is none. */
export async function openStorage(
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

/** The storage that an engine has opened. */
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
