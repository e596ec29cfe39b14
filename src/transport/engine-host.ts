import { systemClock } from '../engine/clock.ts';
import { idGenerator } from '../engine/documents/ids.ts';
import { Engine } from '../engine/engine.ts';
import type { CairnError } from '../errors/cairn-error.ts';
import { StorageError } from '../errors/storage-error.ts';
import type { Storage, StorageDriver } from '../storage/driver.ts';
import { indexedDbDriver } from '../storage/indexeddb-driver.ts';
import { memoryDriver } from '../storage/memory-driver.ts';
import type { DatabaseSettings } from './channel.ts';
import { takeLead } from './leadership.ts';

/** An engine with what has to be given back when it ends. */
export interface HostedEngine {
  readonly engine: Engine;
  readonly stop: () => Promise<void>;
}

/** Puts an engine together: takes the lead for the database, opens its storage. */
export async function hostEngine({
  name,
  storage,
  durability,
}: DatabaseSettings): Promise<HostedEngine> {
  const driver = chooseDriver(storage);
  const release = driver.kind === 'indexeddb' ? await takeLead(name) : () => undefined;
  try {
    const early: CairnError[] = [];
    let report = (error: CairnError): void => void early.push(error);
    const opened = await open(driver, name, (error) => report(error));
    const engine = new Engine({
      storage: opened.storage,
      storageKind: opened.kind,
      durability,
      clock: systemClock,
      newId: idGenerator((bytes) => crypto.getRandomValues(bytes)),
    });
    report = (error) => engine.reportError(error);
    early.forEach(report);
    return {
      engine,
      stop: async () => {
        try {
          await engine.stop();
        } finally {
          release();
        }
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

function chooseDriver(storage: DatabaseSettings['storage']): StorageDriver {
  if (typeof storage === 'object') return storage;
  if (storage === 'memory') return memoryDriver();
  if (typeof indexedDB !== 'undefined') return indexedDbDriver();
  if (storage === 'indexeddb') {
    throw new StorageError(
      'storage_unavailable',
      'There is no IndexedDB here; leave `storage` out to use memory where it is missing.',
    );
  }
  warnAboutMemory('there is no IndexedDB here');
  return memoryDriver();
}

async function open(
  driver: StorageDriver,
  name: string,
  damaged: (error: CairnError) => void,
): Promise<{ storage: Storage; kind: string }> {
  try {
    return { storage: await driver.open(name, { damaged }), kind: driver.kind };
  } catch (error) {
    // Private modes: the browser has IndexedDB and lets nobody open it.
    if (!(error instanceof StorageError) || error.code !== 'storage_unavailable') throw error;
    warnAboutMemory(error.message);
    const memory = memoryDriver();
    return { storage: await memory.open(name, { damaged }), kind: memory.kind };
  }
}

function warnAboutMemory(why: string): void {
  console.warn(
    `cairndb keeps its data in memory only: ${why}. It is gone when this page or process ends.`,
  );
}
