import { expect, onTestFinished, test, vi } from 'vitest';
import { Database } from '../../src/index.ts';
import { rejection } from '../contract/outcomes.ts';

async function open() {
  const db = new Database({ name: 'turns', storage: 'memory' });
  onTestFinished(() => db.close());
  const things = new db.Collection<{ n: number }>({ name: 'things', type: 'DOCUMENT_BASED' });
  await things.insert({ _id: 'a', n: 0 });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return things;
}

test('a modify inside of one of the same document overtakes it after a second, once', async () => {
  const things = await open();
  let runs = 0;
  const nested = things.modify(
    'a',
    async ({ n }) => {
      runs++;
      await things.modify('a', (inner) => ({ n: inner.n + 1 }));
      return { n };
    },
    { retries: 7 },
  );
  const settled = rejection(nested);
  await until(() => runs === 1);
  await vi.advanceTimersByTimeAsync(1000);
  expect((await settled).code).toBe('transaction_conflict');
  expect(runs).toBe(8);
});

test('functions that never end let the next ones go on, second by second', async () => {
  const things = await open();
  const begun: number[] = [];
  for (const call of [1, 2, 3]) {
    void things.modify('a', () => {
      begun.push(call);
      return new Promise<never>(() => undefined);
    });
  }
  let isMade = false;
  const last = things
    .modify('a', ({ n }) => ({ n: n + 1 }))
    .then(() => {
      isMade = true;
    });
  for (const call of [1, 2, 3]) {
    await until(() => begun.length === call);
    await vi.advanceTimersByTimeAsync(call < 3 ? 1000 : 999);
  }
  expect([begun, isMade]).toEqual([[1, 2, 3], false]);
  await vi.advanceTimersByTimeAsync(1);
  await last;
  expect(await things.get('a')).toMatchObject({ n: 1 });
});

/** Time may pass once a call waits: on a busy machine the engine gives way before that. */
async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise((resolve) => setImmediate(resolve));
  // The function has begun; what it calls, and what is behind it, waits from here on.
  await new Promise((resolve) => setImmediate(resolve));
}
