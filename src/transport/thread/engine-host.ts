import { idGenerator } from '../../engine/documents/ids.ts';
import { Engine } from '../../engine/engine.ts';
import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery/recovery.ts';
import { nextTurn } from '../../engine/scheduling/next-turn.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { StorageError } from '../../errors/storage-error.ts';
import type { Storage, StorageDriver } from '../../storage/drivers/driver.ts';
import { memoryDriver } from '../../storage/drivers/memory-driver.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import type { EnginePlatform } from '../platform/platform.ts';
import { serverRuntime } from '../platform/server-runtime.ts';
import { TabServer } from '../tabs/tab-server.ts';

/** How somebody came to lead. */
export interface LeadershipTerm {
  /** A name for this leadership that no other has. */
  readonly leader: string;
  /** Whether a lock keeps others from leading meanwhile. */
  readonly locked: boolean;
  /** It was taken from a leader that was silent, and may wake up. */
  readonly stolen: boolean;
  /** What pages wrote elsewhere than to storage when they ended. */
  readonly left: readonly RecoveryRecord[];
  /** Clients that are alive, and may have something to hand on. */
  readonly expected: readonly string[];
}

/** The same, while what takes time to find out is being found out. */
export interface PendingTerm extends Omit<LeadershipTerm, 'left' | 'expected'> {
  readonly left: Promise<LeadershipTerm['left']>;
  readonly expected: Promise<LeadershipTerm['expected']>;
}

/** What an engine tells whoever has put it together. */
export interface TermEvents {
  /** Another leader has taken over. */
  readonly taken: () => void;
  /** These of the things that pages left behind are saved. */
  readonly forgotten: (left: readonly RecoveryKey[]) => void;
  /** A port is to be brought to another tab. */
  readonly bring: (address: string, port: MessagePort) => void;
}

/** An engine with what has to be given back when it ends. */
export interface HostedEngine {
  readonly engine: Engine;
  /** Whether other tabs can use it. */
  readonly shared: boolean;
  readonly stop: () => Promise<void>;
  /** Closes it to other tabs, and begins no write any more: another may lead. */
  readonly retire: () => void;
  /** Ends it without saving: another leads. */
  readonly abandon: () => void;
}

/** Puts the engine of a leader together, opens its storage, and lets other tabs in. */
export async function hostEngine(
  { name, storage, durability }: DatabaseSettings,
  { leader, locked, stolen, left, expected }: PendingTerm,
  { taken, forgotten, bring }: TermEvents,
  platform: EnginePlatform,
): Promise<HostedEngine> {
  const early: CairnError[] = [];
  let report = (error: CairnError): void => void early.push(error);
  const opened = await open(chooseDriver(storage, platform), name, (error) => report(error));
  const engine = new Engine({
    storage: opened.storage,
    storageKind: opened.kind,
    durability,
    clock: platform.clock,
    newId: idGenerator((bytes) => crypto.getRandomValues(bytes)),
    succession: {
      locked,
      stolen,
      left,
      expected: expected.then((clients) => new Set(clients)),
      taken,
      forgotten,
    },
  });
  report = (error) => engine.reportError(error);
  early.forEach(report);
  const { broadcast } = platform;
  // What is in the memory of one tab is no other's.
  const server =
    broadcast && opened.kind === 'indexeddb'
      ? new TabServer(engine, name, leader, platform, broadcast, bring)
      : undefined;
  return {
    engine,
    shared: opened.kind === 'indexeddb',
    stop: async () => {
      // Whoever is there hands on what this engine did not save.
      server?.close();
      await engine.stop();
    },
    retire: () => {
      server?.close();
      // What is saved as the page ends is begun in this turn.
      nextTurn().then(() => engine.leave());
    },
    abandon: () => {
      server?.close();
      engine.leave();
      engine.stop().catch(() => undefined);
    },
  };
}

function chooseDriver(
  storage: DatabaseSettings['storage'],
  { storage: shared }: EnginePlatform,
): StorageDriver {
  if (typeof storage === 'object') return storage;
  if (storage === 'memory') return memoryDriver();
  if (shared) return shared;
  if (storage === 'indexeddb') {
    throw new StorageError(
      'storage_unavailable',
      'There is no IndexedDB here; leave `storage` out to use memory.',
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

const warnings = new Set<string>();

/** Warns once in a page or process: a server may open many databases. */
function warnAboutMemory(why: string): void {
  const warning = serverRuntime()
    ? `cairndb keeps data in the memory of this process only: ${why}. All requests share it, and it is gone when the process ends. Give \`new Database()\` a storage driver, or \`storage: 'memory'\` if that is meant. Where pages are rendered, call collections in the browser only.`
    : `cairndb keeps data in memory only: ${why}. It is gone when this page ends. \`storage: 'memory'\` says that this is meant.`;
  if (warnings.has(warning)) return;
  warnings.add(warning);
  console.warn(warning);
}
