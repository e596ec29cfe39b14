import type { Clock } from '../../async/clock.ts';
import { nextTurn } from '../../async/next-turn.ts';
import { hostEngine } from '../../engine/host/engine-host.ts';
import { otherStorage } from '../../engine/host/other-storage.ts';
import { NearSession } from '../../engine/near-session.ts';
import type { Platform } from '../../platform/platform.ts';
import type { DatabaseSettings, PendingTerm } from '../../protocol/database-settings.ts';
import {
  type EngineAccess,
  type LeaderEngine,
  type LeaderEngineEvents,
  openPatiently,
  type StartEngine,
} from './leadership.ts';
import { pagePlatform } from './page-platform.ts';
import type { Route } from './route.ts';
import { SharedLeaderships } from './shared-leaderships.ts';

/**
 * Gives the event loop its turns. An engine in this thread replies in microtasks, so a caller that
 * awaits one call after another would keep timers, signals and the saves of the engine waiting for
 * ever. docs/decisions/006-coroutines.md has the figures.
 */
export class LoopTurns {
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** When the slice began. */
  #since = Number.NEGATIVE_INFINITY;
  /** When the clock was last looked at, and how many replies may pass until it is again. */
  #looked = 0;
  #unlooked = 0;
  /** Ends with the next turn; `undefined` while none is requested. */
  #turn: Promise<void> | undefined;
  /** Whether replies wait for it. */
  #isDue = false;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /**
   * Passes on a reply, behind a turn where one is due. A turn is requested a slice before: callers
   * that leave the loop turns of their own wait for none.
   */
  pass<T>(reply: T | Promise<T>): T | Promise<T> {
    if (!this.#isDue) {
      if (!this.#isSliceOver()) return reply;
      if (!this.#turn) {
        this.#since = this.#looked;
        this.#turn = this.#nextTurn();
        return reply;
      }
      this.#isDue = true;
    }
    return Promise.all([reply, this.#turn]).then(([passed]) => passed);
  }

  #isSliceOver(): boolean {
    if (this.#unlooked-- > 0) return false;
    const now = this.#clock.elapsed();
    this.#unlooked = now - this.#looked < FAST_MS ? UNLOOKED : 0;
    this.#looked = now;
    return now - this.#since >= SLICE_MS;
  }

  async #nextTurn(): Promise<void> {
    await nextTurn();
    this.#turn = undefined;
    this.#isDue = false;
    this.#since = this.#clock.elapsed();
  }
}

/** An engine in this thread, for all clients of the thread. */
export async function threadEngine(
  settings: DatabaseSettings,
  term: PendingTerm,
  events: LeaderEngineEvents,
  platform: Platform,
): Promise<LeaderEngine> {
  const other = async () => otherStorage(platform.storageCode);
  const open = () => hostEngine(settings, term, events, platform, other);
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

/** How long replies may come in microtasks alone. */
const SLICE_MS = 4;

/**
 * Replies between two looks at the clock, where they come fast: a look takes a fiftieth of a read.
 */
const UNLOOKED = 8;
const FAST_MS = 0.5;

const leaderships = new SharedLeaderships();

/** Access to an engine in this thread, or in another tab that is the leader. */
export function connectInThread(
  settings: DatabaseSettings,
  platform: Platform = pagePlatform,
): EngineAccess {
  const start: StartEngine = (term, events) => threadEngine(settings, term, events, platform);
  return leaderships.access(settings, platform, start, settings.shared_worker ?? true);
}
