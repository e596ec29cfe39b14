import type { DatabaseSettings } from './channel.ts';
import { hostEngine } from './engine-host.ts';
import type { Platform } from './platform.ts';
import type { Route } from './route.ts';
import type { Host, HostEvents, SeatLead } from './seat.ts';

/** An engine in this thread, for all clients of the thread. */
export async function threadEngine(
  settings: DatabaseSettings,
  lead: SeatLead,
  { taken }: HostEvents,
  platform: Platform,
): Promise<Host> {
  const hosted = await hostEngine(settings, lead, lead.expected, taken, platform);
  return {
    shared: hosted.shared,
    async join(client, events): Promise<Route> {
      const session = hosted.engine.join(events.event, client);
      events.event({ type: 'status', detail: hosted.engine.status });
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
    stop: hosted.stop,
    retire: hosted.retire,
    abandon: hosted.abandon,
  };
}
