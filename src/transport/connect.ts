import { WorkerError } from '../errors/worker-error.ts';
import type { Channel, ChannelEvents, DatabaseSettings } from './channel.ts';
import { EnduringChannel } from './enduring-channel.ts';
import { isShared } from './engine-host.ts';
import { pagePlatform } from './page-platform.ts';
import type { Platform } from './platform.ts';
import { type Begin, Seat } from './seat.ts';
import { threadEngine } from './thread-engine.ts';
import { workerEngine } from './worker-engine.ts';
import { startWorker, type WorkerSource } from './worker-start.ts';

/** How to get and to watch a worker. */
export interface WorkerSettings {
  /** The caller's own. */
  readonly worker: WorkerSource | undefined;
  /** Seconds of silence after which it counts as dead. */
  readonly answer_timeout: number;
}

/** Seats by what the storage belongs to, a driver or the platform, and by name: doors to one database share one. */
const seatsOf = new WeakMap<object, Map<string, Seat>>();

/** A channel to an engine that runs in this thread, or wherever another tab that leads has it. */
export function connectInThread(
  settings: DatabaseSettings,
  events: ChannelEvents,
  platform: Platform = pagePlatform,
): Promise<Channel> {
  const { name } = settings;
  const seats = seatsFor(settings, platform);
  const begin: Begin = (lead, host) => threadEngine(settings, lead, host, platform);
  const seat = seats?.get(name) ?? new Seat(name, isShared(settings, platform), platform, begin);
  seats?.set(name, seat);
  seat.renew(begin);
  return EnduringChannel.open(settings, seat, events, platform);
}

/** A channel to an engine in a worker, in this thread where none can be had, or wherever another tab has it. */
export function connectToWorker(
  { worker, answer_timeout }: WorkerSettings,
  settings: DatabaseSettings,
  events: ChannelEvents,
  platform: Platform = pagePlatform,
): Promise<Channel> {
  // A worker that the caller has made cannot be made again.
  const once = worker !== undefined && typeof worker !== 'function';
  let begun = false;
  const begin: Begin = async (lead, host) => {
    if (once && begun) {
      throw new WorkerError(
        'worker_lost',
        'The worker that was given has ended, and Cairn cannot make another. Connect again, or give a function.',
      );
    }
    begun = true;
    const reasons: string[] = [];
    const started = await startWorker(worker, (reason) => {
      reasons.push(reason instanceof WorkerError ? reason.message : String(reason));
    });
    if (started)
      return workerEngine(started, settings, { answer_timeout, clock: platform.clock }, lead, host);
    console.warn(
      `cairndb runs in this thread, because no worker could be started: ${reasons.join(' ')}`,
    );
    return threadEngine(settings, lead, host, platform);
  };
  const seat = new Seat(settings.name, isShared(settings, platform), platform, begin);
  return EnduringChannel.open(settings, seat, events, platform);
}

function seatsFor(
  { storage }: DatabaseSettings,
  platform: Platform,
): Map<string, Seat> | undefined {
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
