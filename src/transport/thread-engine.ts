import type { DatabaseSettings } from './channel.ts';
import { hostEngine, type PendingLead } from './engine-host.ts';
import type { Platform } from './platform.ts';
import type { Route } from './route.ts';
import type { Host, HostEvents } from './seat.ts';

/** An engine in this thread, for all clients of the thread. */
export async function threadEngine(
  settings: DatabaseSettings,
  lead: PendingLead,
  events: HostEvents,
  platform: Platform,
): Promise<Host> {
  const hosted = await hostEngine(settings, lead, events, platform);
  return {
    shared: hosted.shared,
    async join(client, { event }): Promise<Route> {
      const session = hosted.engine.join(event, client);
      event({ type: 'status', detail: hosted.engine.status });
      return {
        started: 'thread',
        own: true,
        handOn: (opened, changes) => {
          session.openAll(opened);
          return session.handOn(changes);
        },
        execute: (batch, first) => session.execute(batch, first),
        executeNow: (request, first) => session.executeNow(request, first),
        watch: async (on) => {
          session.watching = on;
        },
        save: () => session.save(),
        leave: () => session.leave(),
      };
    },
    takeOver: (journals) => hosted.engine.takeOver(journals),
    stop: hosted.stop,
    retire: hosted.retire,
    abandon: hosted.abandon,
  };
}
