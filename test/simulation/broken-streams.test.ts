import { afterEach, expect, test, vi } from 'vitest';
import { EventStream } from '../../src/replication/fetching/event-stream.ts';
import { HttpRemote } from '../../src/replication/http.ts';
import type { PulledPage } from '../../src/replication/protocol/remote.ts';
import { SimStream } from './replication-http.ts';
import { runStreams } from './run-replication.ts';
import { firstFailure } from './run-seeds.ts';

afterEach(() => vi.restoreAllMocks());

const PATIENCE = 600_000;
/** Each of these is found within so many seeds. */
const SOON = 600;

async function expectFound(): Promise<void> {
  const seed = await firstFailure(runStreams, { seeds: SOON });
  if (process.env.TRACE) console.log(expect.getState().currentTestName, seed);
  expect(seed).toBeDefined();
}

test(
  'an event that is taken though it is older than a push is found out',
  async () => {
    let brought: PulledPage<string> | undefined;
    const { take } = EventStream.prototype;
    vi.spyOn(EventStream.prototype, 'take').mockImplementation(function (
      this: EventStream,
      ...args
    ) {
      brought = take.apply(this, args);
      return brought;
    });
    const { pull } = HttpRemote.prototype;
    vi.spyOn(HttpRemote.prototype, 'pull').mockImplementation(function (this: HttpRemote, ...args) {
      brought = undefined;
      const pulled = pull.apply(this, args);
      if (!brought) return pulled;
      pulled.catch(() => undefined);
      return Promise.resolve(brought);
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'an event that is taken at another place than its own is found out',
  async () => {
    const { sendPage } = SimStream.prototype;
    const ends = new WeakMap<SimStream, string>();
    vi.spyOn(SimStream.prototype, 'sendPage').mockImplementation(function (
      this: SimStream,
      at,
      after,
      page,
    ) {
      // Where the one before has led to, though that may have been left out.
      const isSent = sendPage.call(this, at, ends.get(this) ?? after, page);
      if (isSent) ends.set(this, page.checkpoint);
      return isSent;
    });
    await expectFound();
  },
  PATIENCE,
);
