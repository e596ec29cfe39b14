import { expect, test } from 'vitest';
import { ReplicationLoop } from '../../src/replication/loop/replication-loop.ts';
import { turn } from './fetching/test-clock.ts';

test('a watch that fails while changes wait leaves one timer, and none after a stop', async () => {
  const timers = new Set<object>();
  const clock = {
    now: () => 0,
    elapsed: () => 0,
    after: (ms: number) => {
      const timer = { ms };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
  let fail: (error: Error) => void = () => undefined;
  const loop = new ReplicationLoop(
    {
      round: async () => undefined,
      watch: () => new Promise((_, reject) => (fail = reject)),
      isBehind: () => false,
      isPending: () => true,
      isWatched: () => false,
      changed: () => undefined,
    },
    { clock, random: () => 0.5, isVisible: () => false, onReturn: () => () => undefined },
    true,
  );
  loop.start();
  await turn();
  expect(timers.size).toBe(1);
  fail(new TypeError('no network'));
  await turn();
  expect(timers.size).toBe(1);
  loop.halt('stopped');
  expect(timers.size).toBe(0);
});
