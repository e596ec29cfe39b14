import { expect, test } from 'vitest';
import { progressOf } from '../../../src/replication/fetching/fetcher.ts';
import { longPoll, type Poll } from '../../../src/replication/fetching/long-poll.ts';
import { TestClock, turn } from './test-clock.ts';

const SILENCE = 20_000;
const forever = new AbortController().signal;

/** A poll that is under way. */
interface Held {
  readonly signal: AbortSignal;
  readonly heartbeat: () => void;
  readonly answer: (changed: boolean) => void;
  readonly fail: (error: Error) => void;
}

class Server {
  readonly polls: Held[] = [];
  readonly clock = new TestClock();
  readonly long = longPoll(this.clock, SILENCE);
  readonly poll: Poll = (signal) => {
    const heartbeat = () => progressOf(signal)?.received(1);
    return new Promise((answer, fail) => this.polls.push({ signal, heartbeat, answer, fail }));
  };

  wait(after: string, signal = forever): Promise<void> {
    return this.long(after, signal, this.poll);
  }

  async held(count: number): Promise<Held> {
    while (this.polls.length < count) await turn();
    return this.polls[count - 1] as Held;
  }
}

test('waits as long as there are heartbeats', async () => {
  const server = new Server();
  const rung = server.wait('1');
  const poll = await server.held(1);
  for (let beat = 0; beat < 100; beat++) {
    server.clock.advance(SILENCE - 1);
    poll.heartbeat();
  }
  expect(poll.signal.aborted).toBe(false);
  poll.answer(true);
  await rung;
  expect(server.polls).toHaveLength(1);
});

test('a silent poll is aborted and begun anew', async () => {
  const server = new Server();
  const rung = server.wait('1');
  const first = await server.held(1);
  server.clock.advance(SILENCE);
  const second = await server.held(2);
  expect(first.signal.aborted).toBe(true);
  second.answer(true);
  await rung;
});

test('two silent polls in a row: the server is not there', async () => {
  const server = new Server();
  const rung = server.wait('1');
  await server.held(1);
  server.clock.advance(SILENCE);
  await server.held(2);
  server.clock.advance(SILENCE);
  await expect(rung).rejects.toMatchObject({ code: 'remote_timeout' });
});

test('begins anew where the server holds no longer', async () => {
  const server = new Server();
  const rung = server.wait('1');
  for (let round = 1; round <= 5; round++) {
    const poll = await server.held(round);
    server.clock.advance(10_000);
    poll.answer(false);
  }
  (await server.held(6)).answer(true);
  await rung;
  expect(server.clock.now()).toBe(50_000);
});

test('a server that does not hold, or rings for nothing, is asked less and less', async () => {
  const server = new Server();
  const pauses: (number | undefined)[] = [];
  for (let round = 1; round <= 9; round++) {
    const rung = server.wait('1');
    while (server.polls.length < round) {
      await turn();
      if (server.polls.length >= round) break;
      pauses.push(server.clock.next);
      await server.clock.step();
    }
    server.polls[round - 1]?.answer(true);
    await rung;
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]);
  // Progress ends that.
  const rung = server.wait('2');
  (await server.held(10)).answer(true);
  await rung;
});

test('ends with the reason of its signal, while it polls and while it pauses', async () => {
  const server = new Server();
  const polling = new AbortController();
  const rung = server.wait('1', polling.signal);
  const poll = await server.held(1);
  const reason = new Error('stopped');
  polling.abort(reason);
  await expect(rung).rejects.toBe(reason);
  expect(poll.signal.aborted).toBe(true);
  expect(server.clock.next).toBeUndefined();

  for (let round = 2; round <= 3; round++) {
    const ringing = server.wait('1');
    (await server.held(round)).answer(true);
    await ringing;
  }
  const pausing = new AbortController();
  const paused = server.wait('1', pausing.signal);
  pausing.abort(reason);
  await expect(paused).rejects.toBe(reason);
  expect(server.clock.next).toBeUndefined();
  await expect(server.wait('1', pausing.signal)).rejects.toBe(reason);
});

test('fails as its poll does', async () => {
  const server = new Server();
  const rung = server.wait('1');
  const error = new Error('503');
  (await server.held(1)).fail(error);
  await expect(rung).rejects.toBe(error);
});
