import type { Channel, ChannelEvents, DatabaseSettings } from '../channel/channel.ts';
import { FailoverChannel } from '../channel/failover-channel.ts';
import { Leadership, type StartEngine } from '../leadership/leadership.ts';
import { pagePlatform } from '../platform/page-platform.ts';
import { isShared, type Platform } from '../platform/platform.ts';
import { threadEngine } from './thread-engine.ts';

/** Seats by what the storage belongs to, a driver or the platform, and by name: doors to one database share one. */
const seatsOf = new WeakMap<object, Map<string, Leadership>>();

/** A channel to an engine that runs in this thread, or wherever another tab that leads has it. */
export function connectInThread(
  settings: DatabaseSettings,
  events: ChannelEvents,
  platform: Platform = pagePlatform,
): Promise<Channel> {
  const { name } = settings;
  const seats = seatsFor(settings, platform);
  const begin: StartEngine = (lead, host) => threadEngine(settings, lead, host, platform);
  const seat =
    seats?.get(name) ?? new Leadership(name, isShared(settings, platform), platform, begin);
  seats?.set(name, seat);
  seat.renew(begin);
  return FailoverChannel.open(settings, seat, events, platform);
}

function seatsFor(
  { storage }: DatabaseSettings,
  platform: Platform,
): Map<string, Leadership> | undefined {
  // Memory is each door's own.
  if (storage === 'memory' || (storage === undefined && !platform.storage)) return undefined;
  const owner = typeof storage === 'object' ? storage : platform;
  let seats = seatsOf.get(owner);
  if (!seats) {
    seats = new Map();
    seatsOf.set(owner, seats);
  }
  return seats;
}
