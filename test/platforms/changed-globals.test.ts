import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DatabaseClient } from '../../src/index.ts';

type Library = typeof import('../../src/index.ts') & typeof import('../contract/fake-worker.ts');

const DOORS: Readonly<Record<string, (lib: Library, name: string) => DatabaseClient>> = {
  Database: (lib, name) => new lib.Database({ name }),
  connect: (lib, name) => lib.connect({ name, worker: lib.fakeWorker }),
};

/** What pages do to globals that all code shares. */
const CHANGES: Readonly<Record<string, () => () => void>> = {
  'Promise is a subclass': () => replacePromise(class OwnPromise<T> extends Promise<T> {}),
  'Promise is another class, as with zone.js': () => replacePromise(zonePromise()),
  'Object.prototype has enumerable functions': () => {
    const added = ['extend', 'each', 'contains', 'clone', 'isEmpty', 'worker', 'migrate'];
    for (const name of added)
      Object.defineProperty(Object.prototype, name, {
        configurable: true,
        enumerable: true,
        writable: true,
        value: () => undefined,
      });
    return () => {
      for (const name of added) Reflect.deleteProperty(Object.prototype, name);
    };
  },
};

function replacePromise(own: unknown): () => void {
  const before = globalThis.Promise;
  globalThis.Promise = own as PromiseConstructor;
  return () => {
    globalThis.Promise = before;
  };
}

/** A class that is no base of what async functions return. */
function zonePromise(): unknown {
  const Native = globalThis.Promise;
  class ZonePromise {
    readonly [Symbol.toStringTag] = 'Promise';
    readonly #native: Promise<unknown>;
    constructor(run: ConstructorParameters<typeof Promise>[0]) {
      this.#native = new Native(run);
    }
    // biome-ignore lint/suspicious/noThenProperty: it is a promise
    then(...given: Parameters<Promise<unknown>['then']>) {
      return new ZonePromise((resolve) => resolve(this.#native.then(...given)));
    }
    catch(failed: (error: unknown) => unknown) {
      return this.then(undefined, failed);
    }
    finally(ended: () => void) {
      return new ZonePromise((resolve) => resolve(this.#native.finally(ended)));
    }
  }
  for (const name of ['resolve', 'reject', 'all', 'allSettled', 'race', 'any'] as const) {
    const make = Native[name].bind(Native) as (given: unknown) => Promise<unknown>;
    Object.assign(ZonePromise, {
      [name]: (given: unknown) => new ZonePromise((resolve) => resolve(make(given))),
    });
  }
  return ZonePromise;
}

let names = 0;
let undo: () => void;

beforeEach(() => {
  vi.resetModules();
});

afterEach(() => undo());

describe.each(Object.entries(CHANGES))('where %s', (_change, apply) => {
  test.each(Object.entries(DOORS))('%s works', async (_door, open) => {
    undo = apply();
    const lib = {
      ...(await import('../../src/index.ts')),
      ...(await import('../contract/fake-worker.ts')),
    };
    const { replicate } = await import('../../src/replication/index.ts');
    const db = open(lib, `changed globals ${++names}`);
    const things = new db.Collection({
      name: 'things',
      type: 'DOCUMENT_BASED',
      caching: true,
      indexes: ['n', { fields: ['a', 'b'] }],
      schema: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } },
    });
    const numbers = new db.Collection({ name: 'numbers', type: 'KEY_VALUE_BASED' });
    await Promise.all([things.ready, numbers.ready]);
    const live = things.live({ n: { $gt: 0 } }, { sort: { n: 1 } });
    await live.ready;
    await things.insert({ _id: 'a', n: 1 });
    await things.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: `many ${n}`, n: -n })));
    await things.patch('a', { $inc: { n: 1 } });
    await things.modify('a', async (document) => ({ ...document, m: 1 }));
    await numbers.set(['a', 'b'], [1]);
    await numbers.push(['a', 'b'], 2);
    await db.transaction(async (tx) => {
      const read = (await tx(things).get('a')) as { n: number } | undefined;
      await tx(things).insert({ _id: 'b', n: (read?.n ?? 0) + 1 });
    });
    expect(await things.filter({ n: { $gt: 1 } }, { sort: { n: -1 }, limit: 5 })).toMatchObject([
      { _id: 'b', n: 3 },
      { _id: 'a', n: 2, m: 1 },
    ]);
    expect(await things.count((document) => (document.n as number) > 1)).toBe(2);
    expect(await numbers.get(['a', 'b'])).toEqual([1, 2]);
    await expect.poll(() => live.getSnapshot().data).toMatchObject([{ _id: 'a' }, { _id: 'b' }]);
    const backup = await things.createBackup();
    await things.delete('a');
    await things.loadBackup(backup);
    expect(await things.count()).toBe(302);
    const remote = {
      id: 'nothing',
      pull: async () => ({ changes: [], checkpoint: 1, more: false }),
      push: async (rows: readonly { id: string }[]) => rows.map(({ id }) => ({ version: id })),
    };
    const replication = replicate(things, { remote: remote as never });
    await replication.settled();
    await replication.stop();
    await db.save();
    await db.close();
    const again = open(lib, `changed globals ${names}`);
    const same = new again.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
    expect(await same.count()).toBe(302);
    await again.destroy();
  });
});
