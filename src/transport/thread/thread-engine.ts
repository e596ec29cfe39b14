import { NearSession } from '../../engine/near/near-session.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import type { Route } from '../channel/route.ts';
import type { LeaderEngine, LeaderEngineEvents } from '../leadership/leadership.ts';
import { openPatiently } from '../leadership/open-patiently.ts';
import type { Platform } from '../platform/platform.ts';
import { hostEngine, type PendingTerm } from './engine-host.ts';
import { LoopTurns } from './loop-turns.ts';

/** An engine in this thread, for all clients of the thread. */
export async function threadEngine(
  settings: DatabaseSettings,
  term: PendingTerm,
  events: LeaderEngineEvents,
  platform: Platform,
): Promise<LeaderEngine> {
  const open = () => hostEngine(settings, term, events, platform);
  const hosted = await openPatiently(open, events, platform.clock);
  const turns = new LoopTurns(platform.clock);
  return {
    shared: hosted.shared,
    keyRecord: hosted.keyRecord,
    async join(client, { event }): Promise<Route> {
      const session = hosted.engine.join(event, client);
      event({ type: 'status', detail: hosted.engine.status });
      return {
        started: 'thread',
        own: true,
        replay: (opened, changes, database) => session.resume(opened, changes, database),
        execute: (batch, first) => turns.pass(session.execute(batch, first)),
        inThread: new NearSession(session),
        watch: async (on) => {
          session.watching = on;
        },
        save: async () => turns.pass(session.save()),
        leave: () => session.leave(),
      };
    },
    replayJournals: (journals) => hosted.engine.takeOver(journals),
    stop: hosted.stop,
    resign: hosted.resign,
    abandon: hosted.abandon,
  };
}
