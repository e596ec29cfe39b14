import { afterEach, expect, test, vi } from 'vitest';
import { encrypted } from '../../../src/encryption/index.ts';
import { connect } from '../../../src/index.ts';
import { Random } from '../../setup/random.ts';

const key = new Uint8Array(32).fill(3);

type StorageOption = NonNullable<Parameters<typeof connect>[0]>['storage'];

/** Workers that run. */
const workers = new Set<Worker>();
let started = 0;
const Native = globalThis.Worker;

/** Notes all workers; a test ends them as running out of memory does: no event tells of it. */
class NotedWorker extends Native {
  constructor(...given: ConstructorParameters<typeof Worker>) {
    super(...given);
    workers.add(this);
    started++;
  }

  override terminate(): void {
    workers.delete(this);
    super.terminate();
  }
}

afterEach(() => vi.unstubAllGlobals());

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
          waiting.push(isDeleted ? notes.delete(id) : notes.upsert({ _id: id, n, text }));
          expected.set(id, isDeleted ? undefined : n);
          if (random.below(8) === 0) waiting.push(notes.save());
          if (random.below(3) === 0) await waiting.at(-1);
          if (step === killAt) for (const worker of [...workers]) worker.terminate();
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
    // No destroy(): WebKit keeps the connections of workers that were ended.
    await db.close();
  },
);
