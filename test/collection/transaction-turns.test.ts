import { expect, onTestFinished, test, vi } from 'vitest';
import { Database, type TransactionOptions } from '../../src/index.ts';
import { rejection } from '../contract/outcomes.ts';

async function open() {
  const db = new Database({ name: 'turns', storage: 'memory' });
  onTestFinished(() => db.close());
  const things = new db.Collection<{ n: number }>({ name: 'things', type: 'DOCUMENT_BASED' });
  await things.insertMany([
    { _id: 'a', n: 0 },
    { _id: 'b', n: 0 },
  ]);
  /** Adds one, and conflicts in its first run. */
  const add = (id: string, meanwhile: (run: number) => unknown, options?: TransactionOptions) => {
    let runs = 0;
    return db.transaction(async (tx) => {
      const found = await tx(things).get(id);
      if (++runs === 1) await things.patch(id, { $inc: { n: 10 } });
      await meanwhile(runs);
      await tx(things).patch(id, { n: (found?.n ?? 0) + 1 });
    }, options);
  };
  return { things, add };
}

test('a transaction that runs again inside of one that runs again does not wait for it for ever', async () => {
  const { things, add } = await open();
  await add('a', (run) => run > 1 && add('b', () => undefined));
  expect(await things.getMany(['a', 'b'])).toMatchObject([{ n: 11 }, { n: 11 }]);
});

test('one that is aborted while it waits to run again rejects, and its function does not run', async () => {
  const { things, add } = await open();
  const first = new AbortController();
  const second = new AbortController();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let isRunning = false;
  const runEndlessly = (run: number) => {
    if (run === 1) return undefined;
    isRunning = true;
    return new Promise(() => undefined);
  };
  const endless = add('a', runEndlessly, { signal: first.signal });
  const longestBackoff = () => vi.advanceTimersByTimeAsync(8);
  await longestBackoff();
  expect(isRunning).toBe(true);
  const ran: number[] = [];
  const waiting = add('b', (run) => ran.push(run), { signal: second.signal });
  await longestBackoff();
  second.abort('enough');
  expect(await rejection(waiting)).toBe('enough');
  expect(ran).toEqual([1]);
  first.abort('enough');
  expect(await rejection(endless)).toBe('enough');
  expect(await things.getMany(['a', 'b'])).toMatchObject([{ n: 10 }, { n: 10 }]);
});
