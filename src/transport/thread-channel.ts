import { asCairnError } from '../errors/as-cairn-error.ts';
import type { Channel, ChannelEvents, DatabaseSettings } from './channel.ts';
import { type HostedEngine, hostEngine } from './engine-host.ts';

/** An engine of this thread, with how many doors use it. */
interface Shared {
  readonly hosted: Promise<HostedEngine>;
  users: number;
  /** Settles when the engine has ended; there once the last door has left. */
  ending?: Promise<void>;
}

/** Engines of this thread by database name, or by driver and name: doors to one database share one. */
const byName = new Map<string, Shared>();
const byDriver = new WeakMap<object, Map<string, Shared>>();

/** A channel to an engine in this thread. */
export async function threadChannel(
  settings: DatabaseSettings,
  events: ChannelEvents,
): Promise<Channel> {
  const engines = enginesFor(settings);
  const { name } = settings;
  let shared = engines?.get(name);
  while (shared?.ending) {
    // Two engines over one storage would damage it. Whoever ends this one is told when that fails.
    await shared.ending.catch(() => undefined);
    shared = engines?.get(name);
  }
  if (!shared) {
    shared = { hosted: hostEngine(settings), users: 0 };
    engines?.set(name, shared);
  }
  const own = shared;
  own.users++;
  const forget = () => {
    if (engines?.get(name) === own) engines.delete(name);
  };
  try {
    const hosted = await own.hosted;
    const session = hosted.engine.join(events.event);
    events.event({ type: 'status', detail: hosted.engine.status });
    return {
      started: 'thread',
      execute: (batch) => session.execute(batch),
      executeNow: (request) => session.executeNow(request),
      watch: async (on) => {
        session.watching = on;
      },
      save: () => session.save(),
      close: async () => {
        session.leave();
        if (--own.users > 0) return;
        own.ending = hosted.stop().finally(forget);
        await own.ending;
      },
    };
  } catch (error) {
    if (--own.users === 0) forget();
    throw asCairnError(error);
  }
}

function enginesFor({ storage }: DatabaseSettings): Map<string, Shared> | undefined {
  // Memory is each door's own.
  if (storage === 'memory' || (storage === undefined && typeof indexedDB === 'undefined'))
    return undefined;
  if (typeof storage !== 'object') return byName;
  let engines = byDriver.get(storage);
  if (!engines) {
    engines = new Map();
    byDriver.set(storage, engines);
  }
  return engines;
}
