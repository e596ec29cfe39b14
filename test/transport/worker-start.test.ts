import { afterEach, describe, expect, test, vi } from 'vitest';
import { connect } from '../../src/index.ts';
import { MessageWorker } from './message-worker.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

let names = 0;
const options = () => ({ name: `worker start ${++names}`, storage: 'memory' as const });
const notes = { name: 'notes', type: 'DOCUMENT_BASED' } as const;

/** Installs a global `Worker` that fails or starts by source. */
function stubWorkers(make: (kind: 'file' | 'inline') => MessageWorker): MessageWorker[] {
  const made: MessageWorker[] = [];
  vi.stubGlobal('Worker', function Worker(url: URL | string) {
    const worker = make(String(url).startsWith('blob:') ? 'inline' : 'file');
    made.push(worker);
    return worker;
  });
  return made;
}

function failing(message: string): MessageWorker {
  const worker = new MessageWorker('nothing');
  setTimeout(() => worker.fail(message));
  return worker;
}

describe('the way to an engine', () => {
  test('is first the file beside the module', async () => {
    const made = stubWorkers(() => new MessageWorker());
    const connection = connect(options());
    await new connection.Collection(notes).insert({});
    expect(connection.status).toMatchObject({ started: 'file', engine: 'worker' });
    expect(made).toHaveLength(1);
    await connection.close();
  });

  test('is a Blob if the file cannot be loaded', async () => {
    const made = stubWorkers((kind) => (kind === 'file' ? failing('404') : new MessageWorker()));
    const connection = connect(options());
    await new connection.Collection(notes).insert({});
    expect(connection.status).toMatchObject({ started: 'inline', engine: 'worker' });
    expect(made.map(({ terminated }) => terminated)).toEqual([true, false]);
    await connection.close();
  });

  test('is this thread if neither starts, with one warning that says why', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const made = stubWorkers((kind) => {
      if (kind === 'inline') throw new Error('blocked by a policy');
      return failing('404 not found');
    });
    const connection = connect(options());
    await new connection.Collection(notes).insert({});
    expect(connection.status).toMatchObject({ started: 'thread', engine: 'thread' });
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]?.[0]).toContain('404 not found');
    expect(warn.mock.calls[0]?.[0]).toContain('blocked by a policy');
    expect(made.every(({ terminated }) => terminated)).toBe(true);
    await connection.close();
  });

  test('is this thread on a server, without a warning', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const connection = connect(options());
    await connection.ready;
    expect(connection.status.started).toBe('thread');
    // In Node the thread is the expected place.
    expect(warn).not.toHaveBeenCalled();
    await connection.close();
  });

  test('skips a script that never answers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    stubWorkers((kind) => new MessageWorker(kind === 'file' ? 'nothing' : 'engine'));
    const connection = connect(options());
    const ready = connection.ready;
    await vi.advanceTimersByTimeAsync(10_000);
    await ready;
    expect(connection.status.started).toBe('inline');
    await connection.close();
  });
});

describe("the caller's own worker", () => {
  test('may be a function that makes one', async () => {
    const make = vi.fn(() => new MessageWorker().asWorker);
    const connection = connect({ ...options(), worker: make });
    expect(make).not.toHaveBeenCalled();
    await new connection.Collection(notes).insert({});
    expect(connection.status.started).toBe('given');
    expect(make).toHaveBeenCalledOnce();
    await connection.close();
  });

  test('may have started already', async () => {
    const worker = new MessageWorker();
    // The message of its start has no other listener.
    await new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }));
    const connection = connect({ ...options(), worker: worker.asWorker });
    expect(await new connection.Collection(notes).count()).toBe(0);
    await connection.close();
  });

  test.each<[string, () => Worker, string]>([
    ['fails', () => failing('a syntax error').asWorker, 'a syntax error'],
    [
      'cannot be made',
      () => {
        throw new Error('not today');
      },
      'not today',
    ],
  ])('that %s is worker_start_failed for every call, with the reason', async (_, worker, why) => {
    const connection = connect({ ...options(), worker });
    const error = {
      name: 'WorkerError',
      code: 'worker_start_failed',
      message: expect.stringContaining(why),
    };
    const collection = new connection.Collection(notes);
    const calls = [collection.insert({}), collection.count(), connection.ready];
    for (const call of await Promise.allSettled(calls))
      expect(call).toMatchObject({ reason: error });
    await expect(connection.save()).rejects.toMatchObject(error);
    expect(connection.status.state).toBe('failed');
  });

  test('with another script is worker_start_failed after a timeout', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const worker = new MessageWorker('nothing');
    const connection = connect({ ...options(), worker: worker.asWorker });
    const ready = connection.ready.catch((error: { code: string }) => error.code);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await ready).toBe('worker_start_failed');
  });
});
