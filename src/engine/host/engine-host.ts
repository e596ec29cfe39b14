import { nextTurn } from '../../async/next-turn.ts';
import { type CairnError, StorageError } from '../../errors/errors.ts';
import type { EnginePlatform } from '../../platform/platform.ts';
import type {
  DatabaseSettings,
  PendingTerm,
  TermEvents,
} from '../../protocol/database-settings.ts';
import type { Storage, StorageEvents } from '../../storage/drivers/driver.ts';
import type { KeyedStorage } from '../../storage/encryption/encryption-module.ts';
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

/**
 * Opens the storage, starts the engine of a leader, and serves followers.
 *
 * @param loadOther Loads what opens other storage, which few engines use.
 */
export async function hostEngine(
  settings: DatabaseSettings,
  { leader, locked, stolen, journals, expected }: PendingTerm,
  { superseded, recovered, bring }: TermEvents,
  platform: EnginePlatform,
  loadOther: () => Promise<OtherStorage>,
): Promise<HostedEngine> {
  const early: CairnError[] = [];
  let report = (error: CairnError): void => void early.push(error);
  const { name, durability } = settings;
  const storageEvents: StorageEvents = {
    damaged: (error) => report(error),
    // The clients learn from the next engine whether their database is gone.
    deleted: superseded,
  };
  const opened = await openStorage(settings, platform, storageEvents, loadOther);
  const { storage, kind, why, shared, keyed } = opened;
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
    keyRecord:
      keyed?.keyRecord ??
      (() =>
        engine.epoch.then(
          () => undefined,
          ({ code }) => code,
        )),
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

/** Storage of an engine, as it was opened. */
export interface OpenedStorage {
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

/** What opens other storage than IndexedDB alone, and what replaces that where there is none. */
export interface OtherStorage {
  /** @param indexedDb Where the settings name no other storage, being opened. */
  openOther(
    settings: DatabaseSettings,
    platform: EnginePlatform,
    events: StorageEvents,
    indexedDb: Promise<Storage> | undefined,
  ): Promise<OpenedStorage>;
}

/** Opens the storage of the settings, or what replaces it where there is none. */
async function openStorage(
  settings: DatabaseSettings,
  platform: EnginePlatform,
  events: StorageEvents,
  loadOther: () => Promise<OtherStorage>,
): Promise<OpenedStorage> {
  const { name, storage: chosen, encryption, engine_encryption } = settings;
  const { storage: driver } = platform;
  const isOther = typeof chosen === 'object' || chosen === 'memory' || chosen === 'opfs';
  const indexedDb = isOther ? undefined : driver?.open(name, events);
  // It is awaited once the code of encryption is there.
  indexedDb?.catch(() => undefined);
  if (driver && indexedDb && !encryption && !engine_encryption)
    try {
      return { storage: await indexedDb, kind: driver.kind, shared: true };
    } catch (error) {
      // An app that chose a storage counts on it.
      if (!isUnavailable(error) || chosen !== undefined) throw error;
    }
  const { openOther } = await inTime('storage', loadOther()).catch(async (error: unknown) => {
    await (await indexedDb?.catch(() => undefined))?.close();
    throw error;
  });
  return openOther(settings, platform, events, indexedDb);
}

export function isUnavailable(error: unknown): error is StorageError {
  return error instanceof StorageError && error.code === 'storage_unavailable';
}
