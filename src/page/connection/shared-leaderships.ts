import { isShared, type Platform } from '../../platform/platform.ts';
import type { ClientEncryption } from '../../protocol/client-encryption.ts';
import type { DatabaseSettings } from '../../protocol/database-settings.ts';
import type { RecoveryRecord } from '../../protocol/recovery-records.ts';
import { Leadership, type StartEngine, type StartingAccess } from './leadership.ts';

/** The leaderships of a page. Clients of one database in one place share one, and its engine. */
export class SharedLeaderships {
  /** By driver or platform, then by name. */
  readonly #all = new WeakMap<object, Map<string, Leadership>>();

  /**
   * Access of a client. While another has the database open, the engine is that one's, with its
   * options.
   *
   * @param usesPorts Whether a port may replace the BroadcastChannel to another tab.
   */
  access(
    settings: DatabaseSettings,
    platform: Platform,
    start: StartEngine,
    usesPorts: boolean,
  ): StartingAccess {
    const { name } = settings;
    const shared = this.#of(settings, platform);
    const isOfAllTabs = isShared(settings, platform);
    const leadership = shared?.get(name) ?? new Leadership(name, isOfAllTabs, platform, start);
    shared?.set(name, leadership);
    const { encryption } = settings;
    // Storage that no other tab shares has no journals: those of this name are another database's.
    const journaling = encryption && isOfAllTabs ? openingJournals(start, name, encryption) : start;
    const opening: StartEngine = async (term, events) => ({
      ...(await journaling(term, events)),
      starter: opening,
      isEncrypted: encryption !== undefined,
    });
    // Its other properties may be getters.
    const own: PropertyDescriptorMap = {};
    if (!usesPorts) own.switchboard = { value: undefined };
    if (encryption) own.pageWriting = { value: (of: string) => encryption.pageWriting(of) };
    const isOwn = !usesPorts || encryption !== undefined;
    return {
      leadership,
      platform: isOwn ? Object.create(platform, own) : platform,
      start: opening,
    };
  }

  #of({ storage }: DatabaseSettings, platform: Platform): Map<string, Leadership> | undefined {
    // Each client has a memory of its own.
    if (storage === 'memory' || (storage === undefined && !platform.storage)) return undefined;
    const owner = typeof storage === 'object' ? storage : platform;
    let shared = this.#all.get(owner);
    if (!shared) {
      shared = new Map();
      this.#all.set(owner, shared);
    }
    return shared;
  }
}

/**
 * As `start`, for an encrypted database: the journals of pages that ended are sealed. Others do not
 * count.
 */
export function openingJournals(
  start: StartEngine,
  name: string,
  encryption: ClientEncryption,
): StartEngine {
  return async (term, events) => {
    const reading = encryption.readJournals(name);
    const journals = reading.catch((): RecoveryRecord[] => []);
    const begin = () => start({ ...term, journals }, events);
    const engine = await begin().catch(async (error: { code?: string }) => {
      if (error.code === 'key_wrong' && (await encryption.isOutdated(name))) return begin();
      throw error;
    });
    const replay = () =>
      encryption.readJournals(name).then(engine.replayJournals, (error: unknown) => {
        console.warn(
          `cairndb cannot read the unload journals of "${name}" (${error}). They stay in localStorage; the next opening reads them.`,
        );
      });
    // Now the database is open, with its key.
    void reading.catch(replay);
    return { ...engine, replayJournals: () => void replay() };
  };
}
