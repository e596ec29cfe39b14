import { nextTurn } from '../../async/next-turn.ts';
import type { CairnError } from '../../errors/errors.ts';
import type { EnginePlatform } from '../../platform/platform.ts';
import type {
  DatabaseSettings,
  PendingTerm,
  TermEvents,
} from '../../protocol/database-settings.ts';
import { idGenerator } from '../documents/ids.ts';
import { Engine } from '../engine.ts';
import { parts } from '../parts.ts';
import { openStorage } from './open-storage.ts';
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
