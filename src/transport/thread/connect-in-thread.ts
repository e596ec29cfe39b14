import type { DatabaseSettings } from '../channel/channel.ts';
import type { EngineAccess } from '../channel/engine-access.ts';
import type { StartEngine } from '../leadership/leadership.ts';
import { SharedLeaderships } from '../leadership/shared-leaderships.ts';
import { pagePlatform } from '../platform/page-platform.ts';
import type { Platform } from '../platform/platform.ts';
import { threadEngine } from './thread-engine.ts';

const leaderships = new SharedLeaderships();

/** Access to an engine in this thread, or in another tab that is the leader. */
export function connectInThread(
  settings: DatabaseSettings,
  platform: Platform = pagePlatform,
): EngineAccess {
  const start: StartEngine = (term, events) => threadEngine(settings, term, events, platform);
  return leaderships.access(settings, platform, start, settings.shared_worker ?? true);
}
