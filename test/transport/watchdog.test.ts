import { expect, test } from 'vitest';
import { Watchdog } from '../../src/platform/watchdog.ts';
import { FakeClock } from '../engine/fake-clock.ts';

test('silence that begins in the middle of a watch is noticed soon after its timeout', async () => {
  const clock = new FakeClock();
  let answers = true;
  let silentAt: number | undefined;
  const watchdog = new Watchdog(4, clock, {
    busy: () => true,
    ping: () => (answers ? Promise.resolve() : new Promise(() => undefined)),
    silent: () => {
      silentAt = clock.elapsed();
    },
  });
  const start = clock.elapsed();
  watchdog.wake();
  for (let ms = 0; ms < 12_000; ms += 100) {
    if (ms === 500) answers = false;
    await clock.advance(100);
  }
  // The ping at 0 is answered; the one at 1 s is not, for 4 s.
  expect(silentAt).toBe(start + 5000);
});
