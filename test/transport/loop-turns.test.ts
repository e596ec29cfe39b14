import { expect, test } from 'vitest';
import { nextTurn } from '../../src/async/next-turn.ts';
import { LoopTurns } from '../../src/page/connection/thread-engine.ts';

/** A clock that goes on by as many milliseconds with each look. */
function steadyClock(ms: number) {
  let now = 0;
  return { elapsed: () => (now += ms) };
}

test('a loop of awaited replies leaves the event loop a turn every few milliseconds', async () => {
  const turns = new LoopTurns(steadyClock(1));
  let fired = 0;
  const timer = setInterval(() => fired++, 0);
  for (let calls = 0; calls < 100_000 && fired < 3; calls++) await turns.pass(calls);
  clearInterval(timer);
  expect(fired).toBe(3);
});

test('replies that wait for a turn keep their order, also those that come meanwhile', async () => {
  const turns = new LoopTurns(steadyClock(1));
  const given: number[] = [];
  const all: Promise<number>[] = [];
  for (let call = 0; call < 30; call++) {
    const reply = turns.pass(call);
    if (reply instanceof Promise) all.push(reply.then((one) => given.push(one)));
    else given.push(reply);
  }
  await Promise.all(all);
  expect(all.length).toBeGreaterThan(0);
  expect(given).toEqual(Array.from({ length: 30 }, (_, call) => call));
});

test('a reply that fails while it waits rejects', async () => {
  const turns = new LoopTurns(steadyClock(10));
  turns.pass(1);
  await expect(turns.pass(Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

test('calls that come a turn of the event loop apart wait for none', async () => {
  const turns = new LoopTurns(steadyClock(10));
  for (let call = 0; call < 20; call++) {
    expect(turns.pass(call)).toBe(call);
    // The first may be the one that the call has begun; a timer may come before either.
    await nextTurn();
    await nextTurn();
  }
});
