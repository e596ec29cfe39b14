import { StorageError } from '../../errors/errors.ts';
import { type EnginePlatform, serverRuntime } from '../../platform/platform.ts';
import type { EngineEncryption } from '../../protocol/client-encryption.ts';
import type { DatabaseSettings } from '../../protocol/database-settings.ts';
import type { Storage, StorageEvents } from '../../storage/drivers/driver.ts';
import { emptyStores, MemoryStorage } from '../../storage/drivers/memory-storage.ts';
import type { EncryptionModule } from '../../storage/encryption/encryption-module.ts';
import { inTime } from '../parts.ts';
import { isUnavailable, type OpenedStorage, type OtherStorage } from './engine-host.ts';

type StorageCode = EnginePlatform['storageCode'];

/** @param code Loads the code of files and of encryption. */
export function otherStorage(code: StorageCode): OtherStorage {
  return {
    async openOther(settings, platform, events, indexedDb) {
      const opening = openPlain(settings, platform, events, indexedDb, code);
      return encrypt(opening, settings, code, events.damaged);
    },
  };
}

async function openPlain(
  settings: DatabaseSettings,
  platform: EnginePlatform,
  events: StorageEvents,
  indexedDb: Promise<Storage> | undefined,
  code: StorageCode,
): Promise<OpenedStorage> {
  const { storage, name } = settings;
  if (storage === 'memory') return inMemory();
  if (typeof storage === 'object')
    return {
      storage: await storage.open(name, events),
      kind: storage.kind,
      shared: storage === platform.storage,
    };
  if (storage !== 'opfs') return openIndexedDb(settings, platform, indexedDb);
  let why: string;
  try {
    return await openFiles(settings, platform, events, code);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    why = error.message;
  }
  const opening = platform.storage?.open(name, events);
  const instead = await openIndexedDb({ ...settings, storage: undefined }, platform, opening);
  return { ...instead, why };
}

/**
 * @throws {StorageError} `storage_unavailable`; {CairnError} `load_failed`: what is in IndexedDB
 *   then is not the database, and a new one would stay there
 */
async function openFiles(
  { name, move_to: moveTo }: DatabaseSettings,
  { storage: indexedDb }: EnginePlatform,
  events: StorageEvents,
  code: StorageCode,
): Promise<OpenedStorage> {
  if (!code || !indexedDb) throw unavailable('The engine runs in no worker: it has no files.');
  const { openOpfs } = await inTime('storage', code());
  const opened = await openOpfs(name, { events, indexedDb, moveTo });
  return { ...opened, shared: true };
}

/** Memory where it cannot be opened, as in private modes, unless an app counts on it. */
async function openIndexedDb(
  { storage: chosen }: DatabaseSettings,
  { storage: driver }: EnginePlatform,
  opening: Promise<Storage> | undefined,
): Promise<OpenedStorage> {
  try {
    if (driver && opening) return { storage: await opening, kind: driver.kind, shared: true };
    const hint = chosen ? ' Leave `storage` out to use memory.' : '';
    throw unavailable(`There is no IndexedDB here.${hint}`);
  } catch (error) {
    if (!isUnavailable(error) || chosen !== undefined) throw error;
    warnAboutMemory(error.message);
    return { ...inMemory(), why: error.message };
  }
}

function inMemory(): OpenedStorage {
  return { storage: new MemoryStorage(emptyStores()), kind: 'memory', shared: false };
}

function unavailable(message: string): StorageError {
  return new StorageError('storage_unavailable', message);
}

const warnings = new Set<string>();

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
async function encrypt(
  opening: Promise<OpenedStorage>,
  { name, encryption, engine_encryption }: DatabaseSettings,
  code: StorageCode,
  damaged: (error: StorageError) => void,
): Promise<OpenedStorage> {
  if (!encryption && !engine_encryption) return opening;
  const given = engine_encryption ?? encryption?.forEngine(name, false);
  const loading = load(given as EngineEncryption, code);
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

async function load(given: EngineEncryption | Promise<EngineEncryption>, storageCode: StorageCode) {
  const { code, ...key } = await given;
  const late = () => inTime('storage', storageCode?.() as Promise<EncryptionModule>);
  return { module: code ?? (await late()), key };
}
