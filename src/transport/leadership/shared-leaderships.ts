import type { DatabaseSettings } from '../channel/channel.ts';
import type { StartingAccess } from '../channel/engine-access.ts';
import { openingJournals } from '../encryption/sealed-journals.ts';
import type { Platform } from '../platform/platform.ts';
import { isShared } from '../platform/platform.ts';
import { Leadership, type StartEngine } from './leadership.ts';

/**
 * The leaderships of a page. Clients of one database share one, and so its engine, if they run it in the same place: in
 * this thread, or in a worker.
 */
export class SharedLeaderships {
  /** By driver or platform, then by name. */
  readonly #all = new WeakMap<object, Map<string, Leadership>>();

  /**
   * Access of a client. While another has the database open, the engine is that one's, with its options.
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
