import { idGenerator } from '../../engine/documents/ids.ts';
import { Engine } from '../../engine/engine.ts';
import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery/recovery-records.ts';
import { nextTurn } from '../../engine/scheduling/next-turn.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import type { EnginePlatform } from '../platform/platform.ts';
import { TabServer } from '../tabs/tab-server.ts';
import { openStorage } from './open-storage.ts';

/** A term of leadership. */
export interface LeadershipTerm {
  /** Unique name of this term. */
  readonly leader: string;
  /** Whether a lock excludes other leaders. */
  readonly locked: boolean;
  /** Whether the lock was stolen from a silent leader, which may wake up. */
  readonly stolen: boolean;
  /** Unload journals of pages that ended. */
  readonly journals: readonly RecoveryRecord[];
  /** Clients that are alive and may have changes to replay. */
  readonly expected: readonly string[];
}

/** A term whose journals and clients are still being read. */
export interface PendingTerm extends Omit<LeadershipTerm, 'journals' | 'expected'> {
  readonly journals: Promise<LeadershipTerm['journals']>;
  readonly expected: Promise<LeadershipTerm['expected']>;
}

/** Events of an engine for its page. */
export interface TermEvents {
  /** Another leader has taken over. */
  readonly superseded: () => void;
  /** The changes of these recovery records and journals are saved. */
  readonly recovered: (keys: readonly RecoveryKey[]) => void;
  /** Brings a port to another tab: only a page can. */
  readonly bring: (address: string, port: MessagePort) => void;
}

/** An engine with its storage and tab server. */
export interface HostedEngine {
  readonly engine: Engine;
  /** Whether other tabs can use it. */
  readonly shared: boolean;
  /** What is stored of its key, where the storage is encrypted. */
  readonly keyRecord: (() => Promise<unknown>) | undefined;
  /** @param deleting Whether the database is being deleted: what the next opening is faster by is not written. */
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
      // A follower that waits for the lock reads all anyway, and writes what the next opening is faster by.
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
