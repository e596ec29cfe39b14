import { afterEach, expect, test, vi } from 'vitest';
import { type Connection, connect, type DatabaseClient } from '../../src/index.ts';
import { MessageWorker } from './message-worker.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

let names = 0;

function connectTo(worker: MessageWorker): Connection {
  return connect({
    name: `lost worker ${++names}`,
    storage: 'memory',
    worker: worker.asWorker,
    answer_timeout: 1,
  });
}

const notesOf = (client: DatabaseClient) =>
  new client.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });

test('a worker error rejects all waiting and later calls with worker_lost', async () => {
  const worker = new MessageWorker();
  const connection = connectTo(worker);
  const notes = notesOf(connection);
  await notes.insert({ _id: 'a' });
  worker.fallSilent();
  const waiting = [
    notes.get('a'),
    notes.insert({}),
    notes.save(),
    notes.ready,
    notes.filter(() => true),
    connection.save(),
    connection.close(),
  ];
  while (worker.unanswered.length === 0) await new Promise(setImmediate);
  worker.fail('out of memory');
  const lost = { name: 'WorkerError', code: 'worker_lost' };
  for (const result of await Promise.allSettled(waiting)) {
    expect(result).toMatchObject({ status: 'rejected', reason: lost });
  }
  expect(connection.status.state).toBe('failed');
  // It has time to end its transactions.
  expect(worker.terminated).toBe(false);
  await expect.poll(() => worker.terminated, { timeout: 10_000 }).toBe(true);
  await expect(notes.get('a')).rejects.toMatchObject(lost);
  await expect(connection.save()).rejects.toMatchObject({
    ...lost,
    message: expect.stringContaining('out of memory'),
  });
  await expect(notesOf(connection).insert({})).rejects.toMatchObject(lost);
  await connection.close();
});

test('a worker that throws while it opens is ended at once: it would go on to save', async () => {
  const worker = new MessageWorker();
  const post = worker.postMessage.bind(worker);
  // It says that it is ready, and does not answer the call that opens the engine.
  const opening = new Promise<void>((resolve) => {
    worker.postMessage = (message) => (typeof message === 'string' ? post(message) : resolve());
  });
  const connection = connectTo(worker);
  const { ready } = connection;
  ready.catch(() => undefined);
  await opening;
  worker.fail('out of memory');
  await expect(ready).rejects.toMatchObject({ code: 'worker_lost' });
  expect(worker.terminated).toBe(true);
  await connection.close();
});

test('a worker that never answers is given up after answer_timeout with worker_unresponsive', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const worker = new MessageWorker();
  const connection = connectTo(worker);
  const notes = notesOf(connection);
  await notes.insert({ _id: 'a' });
  worker.fallSilent();
  const waiting = [notes.get('a'), notes.count(), connection.save()].map((call) =>
    call.then(
      () => 'answered',
      (error: { code: string }) => error.code,
    ),
  );
  await vi.advanceTimersByTimeAsync(3000);
  expect(await Promise.all(waiting)).toEqual(Array(3).fill('worker_unresponsive'));
  expect(connection.status.state).toBe('failed');
  expect(worker.terminated).toBe(true);
});

test('a call with a pattern has answer_timeout from when it is sent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const worker = new MessageWorker();
  const notes = notesOf(connectTo(worker));
  await notes.insert({ _id: 'a' });
  await vi.advanceTimersByTimeAsync(500);
  worker.fallSilent();
  let code: string | undefined;
  notes.count({ a: /x/ }).catch((error: { code: string }) => {
    code = error.code;
  });
  await vi.advanceTimersByTimeAsync(900);
  expect(code).toBeUndefined();
  await vi.advanceTimersByTimeAsync(200);
  // A worker that the caller made cannot be replaced.
  expect(code).toBe('worker_unresponsive');
});

test('a worker that keeps answering is not given up, however long it works', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const worker = new MessageWorker();
  const connection = connectTo(worker);
  const notes = notesOf(connection);
  for (let second = 0; second < 10; second++) {
    await notes.insert({});
    await vi.advanceTimersByTimeAsync(700);
  }
  expect(await notes.count()).toBe(10);
  await connection.close();
});

test('a worker without requests may be silent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const worker = new MessageWorker();
  const connection = connectTo(worker);
  await notesOf(connection).insert({});
  await vi.advanceTimersByTimeAsync(5000);
  expect(vi.getTimerCount()).toBe(0);
  worker.fallSilent();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(connection.status.state).toBe('open');
});

test('a page that slept does not consider its worker dead', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const worker = new MessageWorker();
  const connection = connectTo(worker);
  const notes = notesOf(connection);
  await notes.insert({});
  const slept = performance.now() + 3_600_000;
  vi.spyOn(performance, 'now').mockReturnValue(slept);
  worker.fallSilent();
  const call = notes.count().catch((error: { code: string }) => error.code);
  vi.mocked(performance.now).mockReturnValue(slept + 60_000);
  await vi.advanceTimersByTimeAsync(1100);
  expect(connection.status.state).toBe('open');
  vi.mocked(performance.now).mockRestore();
  await vi.advanceTimersByTimeAsync(3000);
  expect(await call).toBe('worker_unresponsive');
});

test('a messageerror is worker_lost', async () => {
  const worker = new MessageWorker();
  const connection = connectTo(worker);
  const notes = notesOf(connection);
  await notes.ready;
  worker.fallSilent();
  const call = notes.count();
  worker.dispatchEvent(new Event('messageerror'));
  await expect(call).rejects.toMatchObject({ code: 'worker_lost' });
  // It does not know, and would go on to save.
  expect(worker.terminated).toBe(true);
});

test('the worker is ended when the connection is closed, and calls reject as closed', async () => {
  const worker = new MessageWorker();
  const connection = connectTo(worker);
  const notes = notesOf(connection);
  const inserted = notes.insert({ _id: 'a' });
  await connection.close();
  expect(await inserted).toMatchObject({ _id: 'a' });
  expect(worker.terminated).toBe(true);
  expect(connection.status.state).toBe('closed');
  await expect(notes.get('a')).rejects.toMatchObject({ code: 'closed' });
});

test.each(['open', 'join', 'close'])(
  'a worker that dies during %s is given up after answer_timeout',
  async (call) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const worker = new MessageWorker();
    vi.spyOn(worker, 'postMessage').mockImplementation((message, transfer) => {
      const { path } = message as { path?: readonly string[] };
      if (path?.[0] === call) worker.fallSilent();
      MessageWorker.prototype.postMessage.call(worker, message, transfer);
    });
    const connection = connectTo(worker);
    const outcome = async () => {
      await notesOf(connection).insert({ _id: 'a' });
      await connection.close();
    };
    const ended = outcome().catch((error: { code: string }) => error.code);
    while (worker.unanswered.length === 0) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await ended).toBe('worker_unresponsive');
    expect(worker.terminated).toBe(true);
  },
);
