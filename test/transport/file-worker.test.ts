import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Connection, connect, type DocumentCollection } from '../../src/index.ts';
import { Random } from '../setup/random.ts';
import { MessageWorker } from './message-worker.ts';

interface Note {
  readonly n: number;
  readonly text: string;
}

/** Enough for a file of several chunks and parts. */
const COUNT = 3000;

let names = 0;
/** The started file workers. */
let workers: MessageWorker[];
let db: Connection;
let notes: DocumentCollection<Note>;

beforeEach(async () => {
  workers = [];
  vi.stubGlobal('Worker', function Worker(url: URL | string) {
    if (!String(url).includes('file-worker')) return new MessageWorker();
    const worker = new MessageWorker('files');
    workers.push(worker);
    return worker;
  });
  const random = new Random(1);
  // Hardly compressible.
  const textOf = () => Array.from({ length: 20 }, () => random.next().toString(36)).join('');
  db = connect({ name: `file worker ${++names}`, storage: 'memory' });
  notes = new db.Collection<Note>({ name: 'notes', type: 'DOCUMENT_BASED' });
  await notes.insertMany(Array.from({ length: COUNT }, (_, n) => ({ n, text: textOf() })));
});

afterEach(async () => {
  vi.useRealTimers();
  await db.close();
  vi.unstubAllGlobals();
});

const lost = { name: 'WorkerError', code: 'worker_lost' };
const fileOf = async () =>
  new Response(await notes.exportBackup(await notes.createBackup())).blob();

/** Starts an export and reads one chunk. */
async function exporting() {
  const backup = await notes.createBackup();
  const reader = (await notes.exportBackup(backup)).getReader();
  const { value: first, done } = await reader.read();
  expect(done).toBe(false);
  const rest = async () => {
    const chunks = [first as Uint8Array<ArrayBuffer>];
    for (let next = await reader.read(); !next.done; next = await reader.read())
      chunks.push(next.value as Uint8Array<ArrayBuffer>);
    return new Blob(chunks);
  };
  return { backup, reader, rest, worker: workers.at(-1) as MessageWorker };
}

/** An import that has read half of its file; its source is stalled until the test resumes it. */
async function importing(signal?: AbortSignal) {
  const file = await fileOf();
  await notes.deleteMany({ n: { $gte: 1 } });
  let goOn: () => void = () => undefined;
  const resumed = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const middle = file.size >> 1;
  const halves = [file.slice(0, middle), file.slice(middle)];
  let fallSilent: () => void = () => undefined;
  const silent = new Promise<void>((resolve) => {
    fallSilent = resolve;
  });
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const half = halves.shift();
    if (!half) return controller.close();
    if (halves.length === 0) {
      fallSilent();
      await resumed;
    }
    controller.enqueue(new Uint8Array(await half.arrayBuffer()));
  };
  const stream = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
  const imported = notes.importBackup(stream, { signal });
  imported.catch(() => undefined);
  await silent;
  return { file, imported, goOn, worker: workers.at(-1) as MessageWorker };
}

/** Advances the clock by seconds, with deliveries of messages in between. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await vi.advanceTimersByTimeAsync(1000);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

const fakeTimers = () =>
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });

test('each file has its own worker, which ends with it', async () => {
  const before = await notes.filter({});
  const file = await fileOf();
  expect(workers.map(({ terminated }) => terminated)).toEqual([true]);
  await notes.deleteMany({});
  expect(await notes.importBackup(file)).toBe(COUNT);
  expect(workers.map(({ terminated }) => terminated)).toEqual([true, true]);
  expect(await notes.filter({})).toEqual(before);
});

test('without workers the thread writes and reads files', async () => {
  const { Worker } = globalThis;
  vi.stubGlobal('Worker', function Refusing(url: URL | string) {
    if (!/file-worker|^blob:/.test(String(url))) return new Worker(url);
    throw new Error('blocked by a policy');
  });
  expect(await notes.importBackup(await fileOf())).toBe(COUNT);
  expect(workers).toEqual([]);
});

describe('while a file is written', () => {
  test('calls are answered, and the file has the backup as of its begin', async () => {
    const { rest, worker } = await exporting();
    worker.block();
    await notes.insert({ n: -1, text: '' });
    expect(await notes.deleteMany({ n: { $gte: 2 } })).toBe(COUNT - 2);
    expect((await notes.filter(({ n }) => n < 5)).map(({ n }) => n)).toEqual([0, 1, -1]);
    await notes.save();
    worker.unblock();
    expect(await notes.importBackup(await rest())).toBe(COUNT);
    expect(await notes.count({ n: { $gte: 0 } })).toBe(COUNT);
  });

  test('a crash of the worker is an error of the stream; the next export works', async () => {
    const { rest, worker, backup } = await exporting();
    worker.fail('out of memory');
    await expect(rest()).rejects.toMatchObject({
      ...lost,
      message: expect.stringContaining('out of memory'),
    });
    expect(worker.terminated).toBe(true);
    expect(await notes.deleteBackup(backup)).toBe(true);
    expect(await notes.importBackup(await fileOf())).toBe(COUNT);
  });

  test('a messageerror is an error of the stream', async () => {
    const { rest, worker } = await exporting();
    worker.dispatchEvent(new Event('messageerror'));
    await expect(rest()).rejects.toMatchObject(lost);
  });

  test('a worker that falls silent is given up after 30 s', async () => {
    fakeTimers();
    const { rest, worker } = await exporting();
    worker.fallSilent();
    const ended = rest().catch((error: unknown) => error);
    await pass(45);
    expect(await ended).toMatchObject({ name: 'WorkerError', code: 'worker_unresponsive' });
    expect(worker.terminated).toBe(true);
  });

  test('a worker blocked for 20 s goes on', async () => {
    fakeTimers();
    const { rest, worker } = await exporting();
    worker.block();
    const ended = rest();
    await pass(20);
    worker.unblock();
    await pass(1);
    vi.useRealTimers();
    expect(await notes.importBackup(await ended)).toBe(COUNT);
  });

  test('cancelling the stream ends a silent worker at once', async () => {
    const { reader, worker, backup } = await exporting();
    worker.fallSilent();
    // The first chunk may be ready; the second waits for the worker.
    const reads = [reader.read(), reader.read()];
    await reader.cancel();
    expect(await reads[1]).toEqual({ done: true, value: undefined });
    expect(worker.terminated).toBe(true);
    expect(await notes.deleteBackup(backup)).toBe(true);
  });
});

describe('while a file is read', () => {
  test('a crash of the worker is an error of the import, even while the source is stalled', async () => {
    const { imported, worker, file } = await importing();
    worker.fail('out of memory');
    await expect(imported).rejects.toMatchObject(lost);
    expect(worker.terminated).toBe(true);
    expect(await notes.count()).toBe(1);
    expect(await notes.importBackup(file)).toBe(COUNT);
  });

  test('a worker that falls silent is given up after 30 s', async () => {
    fakeTimers();
    const { imported, worker, goOn } = await importing();
    worker.fallSilent();
    goOn();
    const ended = imported.catch((error: unknown) => error);
    await pass(45);
    expect(await ended).toMatchObject({ name: 'WorkerError', code: 'worker_unresponsive' });
    expect(await notes.count()).toBe(1);
  });

  test('a worker blocked for 20 s goes on', async () => {
    fakeTimers();
    const { imported, worker, goOn } = await importing();
    worker.block();
    goOn();
    await pass(20);
    worker.unblock();
    await pass(1);
    expect(await imported).toBe(COUNT);
  });

  test.each(['blocked', 'silent'])('an abort ends a %s worker at once', async (state) => {
    const controller = new AbortController();
    const { imported, worker, goOn, file } = await importing(controller.signal);
    if (state === 'blocked') worker.block();
    else worker.fallSilent();
    goOn();
    const waiting = notes.count();
    controller.abort(new RangeError('enough'));
    await expect(imported).rejects.toBe(controller.signal.reason);
    expect(worker.terminated).toBe(true);
    expect(await waiting).toBe(1);
    expect(await notes.importBackup(file)).toBe(COUNT);
  });

  test('an abort ends the import while its source is stalled', async () => {
    const controller = new AbortController();
    const { imported, worker } = await importing(controller.signal);
    controller.abort('enough');
    await expect(imported).rejects.toBe('enough');
    expect(worker.terminated).toBe(true);
    expect(await notes.count()).toBe(1);
  });
});
