import { serialize } from 'node:v8';
import { afterEach, expect, test, vi } from 'vitest';
import { connect } from '../../src/index.ts';
import { EVENT, type WireEvent, type WireReply } from '../../src/protocol/wire-protocol.ts';
import { LiveLog } from '../contract/live-log.ts';
import { MessageWorker } from './message-worker.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

let names = 0;

function open() {
  const worker = new MessageWorker();
  const db = connect({
    name: `live wire ${++names}`,
    storage: 'memory',
    worker: worker.asWorker,
  });
  const things = new db.Collection<{ n: number; text: string }>({
    name: 'things',
    type: 'DOCUMENT_BASED',
  });
  return { worker, db, things };
}

/** Sizes of the messages about live queries that are posted from now on. */
function watchMessages(): number[] {
  const sizes: number[] = [];
  const post = MessagePort.prototype.postMessage;
  vi.spyOn(MessagePort.prototype, 'postMessage').mockImplementation(function (
    this: MessagePort,
    message: unknown,
    ...rest: unknown[]
  ) {
    const { [EVENT]: alone, value } = (message ?? {}) as {
      [EVENT]?: readonly WireEvent[];
      value?: Partial<WireReply>;
    };
    const events = alone ?? value?.events;
    if (events?.some(({ type }) => type === 'live')) sizes.push(serialize(events).length);
    return post.call(this, message, ...(rest as []));
  });
  return sizes;
}

test('one change in 10,000 results of two queries is sent in one short message', async () => {
  const { db, things } = open();
  const text = 'x'.repeat(230);
  await things.insertMany(Array.from({ length: 10_000 }, (_, n) => ({ _id: `t${n}`, n, text })));
  const logs = [
    new LiveLog(things.live({})),
    new LiveLog(things.live({}, { sort: { n: -1 } })),
    new LiveLog(things.live({ n: { $lt: 0 } })),
    new LiveLog(things.live({}, { select: ['text'] })),
    new LiveLog(things.live({}, { limit: 100 })),
  ] as const;
  for (const log of logs) await log.until(() => true);
  // The answer implies that earlier news are acknowledged.
  await things.count();
  const sizes = watchMessages();
  await things.update('t5000', { n: 5000.5, text });
  await logs[0].until((data) => data[5000]?.n === 5000.5);
  await logs[1].until((data) => data[4999]?.n === 5000.5);
  await things.count();
  expect(sizes.length).toBe(1);
  // Some 1,020 bytes; numbers of versions differ in length.
  expect(sizes[0]).toBeLessThan(1100);
  for (const log of logs) log.stop();
  await db.close();
});

test('the loss of a worker is an error of its live queries', async () => {
  const { worker, things } = open();
  await things.insert({ n: 1, text: '' });
  const log = new LiveLog(things.live({}));
  const data = await log.until(() => true);
  const loop = things.liveCount()[Symbol.asyncIterator]();
  await loop.next();
  const waiting = expect(loop.next()).rejects.toMatchObject({ code: 'worker_lost' });
  worker.fallSilent();
  worker.fail('out of memory');
  expect(await log.error()).toMatchObject({ name: 'WorkerError', code: 'worker_lost', data });
  await waiting;
});

test('a silent worker is detected without requests', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { worker, db, things } = open();
  const log = new LiveLog(things.liveCount());
  await log.until(() => true);
  for (let seconds = 0; seconds < 100; seconds += 5) {
    await vi.advanceTimersByTimeAsync(5000);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(db.status.state).toBe('open');
  worker.fallSilent();
  await vi.advanceTimersByTimeAsync(45_000);
  expect(await log.error()).toMatchObject({ code: 'worker_unresponsive', data: 0 });
});

test('a stopped live query gets no messages', async () => {
  const { db, things } = open();
  await things.insert({ n: 1, text: '' });
  const query = things.live({});
  await query.ready;
  // Timers fire in order: by then the query has stopped.
  await new Promise((resolve) => setTimeout(resolve));
  const sizes = watchMessages();
  await things.insert({ n: 2, text: '' });
  await things.count();
  expect(sizes).toEqual([]);
  await db.close();
});
