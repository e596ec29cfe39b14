import type { DatabaseSettings } from '../channel/channel.ts';
import type { EngineAccess } from '../channel/engine-access.ts';
import { Leadership, type StartEngine } from '../leadership/leadership.ts';
import { pagePlatform } from '../platform/page-platform.ts';
import { isShared, type Platform } from '../platform/platform.ts';
import { threadEngine } from './thread-engine.ts';

/** By driver or platform, then by name: clients of one database share a leadership. */
const leaderships = new WeakMap<object, Map<string, Leadership>>();

/** Access to an engine in this thread, or in another tab that is the leader. */
export function connectInThread(
  settings: DatabaseSettings,
  platform: Platform = pagePlatform,
): EngineAccess {
  const { name } = settings;
  const shared = sharedLeaderships(settings, platform);
  const start: StartEngine = (term, events) => threadEngine(settings, term, events, platform);
  const leadership =
    shared?.get(name) ?? new Leadership(name, isShared(settings, platform), platform, start);
  shared?.set(name, leadership);
  leadership.replaceStart(start);
  return { leadership, platform };
}

function sharedLeaderships(
  { storage }: DatabaseSettings,
  platform: Platform,
): Map<string, Leadership> | undefined {
  // Each client has a memory of its own.
  if (storage === 'memory' || (storage === undefined && !platform.storage)) return undefined;
  const owner = typeof storage === 'object' ? storage : platform;
  let shared = leaderships.get(owner);
  if (!shared) {
    shared = new Map();
    leaderships.set(owner, shared);
  }
  return shared;
}
