import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { changePassword, encrypted } from '../../../src/encryption/index.ts';
import { connect, migrateStorage } from '../../../src/index.ts';
import { Random } from '../../setup/random.ts';
import { hasFiles } from './has-files.ts';

const key = new Uint8Array(32).fill(3);

type StorageOption = NonNullable<Parameters<typeof connect>[0]>['storage'];

/** Workers that run. */
const workers = new Set<Worker>();
let started = 0;
/** What the next worker's messages come to, in place of the page. */
let instead: ((worker: Worker, event: MessageEvent) => void) | undefined;
const Native = globalThis.Worker;

/** Notes all workers; a test ends them as running out of memory does: no event tells of it. */
class NotedWorker extends Native {
  constructor(...given: ConstructorParameters<typeof Worker>) {
    super(...given);
    workers.add(this);
    started++;
    const own = instead;
    instead = undefined;
    if (own) this.addEventListener('message', (event) => own(this, event));
  }

  override terminate(): void {
    workers.delete(this);
    super.terminate();
  }
}

afterEach(() => vi.unstubAllGlobals());

const isWebKit = /AppleWebKit\/605/.test(navigator.userAgent);

/**
 * Ends a worker at once. In WebKit by an error that nobody catches, after which it has a second:
 * one that ends amid a transaction may leave it open, and all others wait (WebKit bug 324094).
 */
function end(worker: Worker): void {
  if (isWebKit) worker.postMessage({ argumentList: 'no list' });
  else worker.terminate();
}

/** In that second a change may be saved whose answer does not come: it is there. */
async function made(change: Promise<unknown>): Promise<void> {
  await change.catch((error: { code?: string }) => {
    if (!isWebKit || error.code !== 'answer_lost') throw error;
  });
}

const storages: Record<string, () => StorageOption> = {
  'in files': () => 'opfs',
  'in files, encrypted': () => encrypted('opfs', { key }),
  'in IndexedDB': () => 'indexeddb',
};

/** The number of each document; `undefined` of one that was deleted. */
type Expected = Map<string, number | undefined>;

function open(name: string, storage: StorageOption, durability: 'strict' | 'relaxed') {
  const db = connect({ name, storage, durability, answer_timeout: 3 });
  const notes = new db.Collection<{ n: number; text: string }>({
    ...{ name: 'notes', type: 'DOCUMENT_BASED', caching: false, indexes: ['n', { text: 'text' }] },
    save_timeout: 3600,
  });
  return { db, notes };
}

async function check(notes: ReturnType<typeof open>['notes'], expected: Expected): Promise<void> {
  const numbers = new Map((await notes.filter({})).map(({ _id, n }) => [_id, n]));
  const right = [...expected].filter(([, n]) => n !== undefined);
  expect([...numbers].sort()).toEqual(right.sort());
  const hits = await notes.search('word', { limit: 1000 });
  expect(hits.map(({ document }) => document._id).sort()).toEqual([...numbers.keys()].sort());
}

test.each(Object.keys(storages))(
  'a worker that is killed at any moment takes nothing along that was acknowledged, %s',
  async (kind) => {
    vi.stubGlobal('Worker', NotedWorker);
    const storage = storages[kind] as () => StorageOption;
    const name = `killed ${Math.random()}`;
    const random = new Random(kind.length);
    const expected: Expected = new Map();
    for (const durability of ['relaxed', 'strict'] as const) {
      const { db, notes } = open(name, storage(), durability);
      await notes.count();
      for (let kill = 0; kill < 2; kill++) {
        const before = started;
        const waiting: Promise<unknown>[] = [];
        const killAt = random.below(30);
        for (let step = 0; step < 30; step++) {
          const id = `d${random.below(12)}`;
          const n = kill * 100 + step;
          // In a segment, and beside it.
          const text = `word ${'x'.repeat(random.below(3) * 20_000)}`;
          const isDeleted = random.below(4) === 0;
          waiting.push(made(isDeleted ? notes.delete(id) : notes.upsert({ _id: id, n, text })));
          expected.set(id, isDeleted ? undefined : n);
          if (random.below(8) === 0) waiting.push(notes.save());
          if (random.below(3) === 0) await waiting.at(-1);
          if (step === killAt) for (const worker of [...workers]) end(worker);
        }
        await Promise.all(waiting);
        await check(notes, expected);
        expect(started).toBeGreaterThan(before);
      }
      await db.close();
    }
    const { db, notes } = open(name, storage(), 'relaxed');
    await check(notes, expected);
    expect((await notes.verify()).whole).toBe(true);
    await db.destroy();
    const { db: anew, notes: none } = open(name, storage(), 'relaxed');
    expect(await none.count()).toBe(0);
    await anew.close();
  },
);

/**
 * Starts a call whose first worker ends after a number of its answers, which the page then never
 * hears.
 */
function endedAfter<T>(answers: number, call: () => Promise<T>): Promise<T> {
  let left = answers;
  instead = (worker, event) => {
    if (typeof event.data === 'string' || left-- > 0) return;
    event.stopImmediatePropagation();
    if (!workers.has(worker)) return;
    worker.terminate();
    worker.dispatchEvent(new ErrorEvent('error', { message: 'out of memory' }));
  };
  return call();
}

const files = await hasFiles();
const ANSWERS = [0, 1, 2, 3];
const NUMBERS = Array.from({ length: 300 }, (_, n) => n);

/** The numbers that are found, or the code of the error. */
async function read(name: string, storage: StorageOption): Promise<unknown> {
  const { db, notes } = open(name, storage, 'relaxed');
  try {
    return (await notes.filter({})).map(({ n }) => n);
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await db.close();
  }
}

async function fill(storage: StorageOption): Promise<string> {
  const name = `killed ${Math.random()}`;
  const { db, notes } = open(name, storage, 'relaxed');
  await notes.insertMany(NUMBERS.map((n) => ({ n, text: 'x'.repeat(300) })));
  await db.close();
  return name;
}

describe.runIf(files)('a worker that ends before it answers', () => {
  beforeEach(() => void vi.stubGlobal('Worker', NotedWorker));

  test.each([
    ['indexeddb', 'opfs'],
    ['opfs', 'indexeddb'],
  ] as const)('loses nothing of what it moves from %s to %s', async (from, to) => {
    for (const answers of ANSWERS)
      for (const inside of [(it: 'opfs' | 'indexeddb') => it, sealed]) {
        const name = await fill(inside(from));
        await endedAfter(answers, () => migrateStorage({ name, to }));
        expect(await read(name, inside('opfs'))).toEqual(NUMBERS);
        const { db } = open(name, inside('opfs'), 'relaxed');
        await db.ready;
        expect(db.status.storage).toBe(to);
        await db.destroy();
      }
  });

  test('leaves a database in files that the new password opens, and says that it does', async () => {
    const withPassword = (password: string) => encrypted('opfs', { key: { password } });
    for (const answers of ANSWERS) {
      const name = await fill(withPassword('old'));
      const options = { key: { password: 'old' }, new_key: { password: 'new' } };
      await endedAfter(answers, () => changePassword({ name, storage: 'opfs', ...options }));
      expect(await read(name, withPassword('new'))).toEqual(NUMBERS);
      expect(await read(name, withPassword('old'))).toBe('key_wrong');
    }
  });
});

function sealed(inside: 'opfs' | 'indexeddb'): StorageOption {
  return encrypted(inside, { key });
}
