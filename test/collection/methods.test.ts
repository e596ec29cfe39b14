import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Database } from '../../src/index.ts';
import { documentMethods, documentReads } from '../../src/page/calls/document-methods.ts';
import { keyValueMethods, keyValueReads } from '../../src/page/calls/key-value-methods.ts';

const namesOf = (facade: object) => {
  const names: string[] = [];
  for (let at = facade; at !== Object.prototype; at = Object.getPrototypeOf(at) as object)
    names.push(...Object.getOwnPropertyNames(at));
  return names;
};

let db: Database;

const open = () => ({
  documents: new db.Collection<{ n: number }>({
    ...{ name: 'documents', type: 'DOCUMENT_BASED', caching: true },
  }),
  values: new db.Collection({ name: 'values', type: 'KEY_VALUE_BASED', caching: true }),
});

beforeEach(() => {
  db = new Database({ name: `methods ${Math.random()}`, storage: 'memory' });
});
afterEach(() => db.close());

describe.each([
  ['documents', documentMethods, documentReads],
  ['values', keyValueMethods, keyValueReads],
] as const)('the façades of %s', (kind, methods, reads) => {
  test('have the methods of the table, as methods of a class', async () => {
    const collection = open()[kind];
    await collection.ready;
    for (const facade of [collection, collection.sync]) {
      expect(namesOf(facade)).toEqual(expect.arrayContaining(Object.keys(methods)));
      for (const name of Object.keys(methods))
        expect((Reflect.get(facade, name) as { name: string }).name).toBe(name);
      // `for in` has none of them.
      for (const name in facade) expect(methods).not.toHaveProperty(name);
    }
  });

  test('of a transaction are all but modify, and those of a view read', async () => {
    const collection = open()[kind];
    const { modify: _, ...inTransactions } = methods as { readonly modify: object };
    await db.transaction((tx) => {
      const scope = (tx as (given: unknown) => object)(collection);
      expect(namesOf(scope)).toEqual(expect.arrayContaining(Object.keys(inTransactions)));
      expect(scope).not.toHaveProperty('modify');
    });
    const view = collection.at('a backup');
    for (const name of Object.keys(methods)) expect(name in view).toBe(name in reads);
  });
});

test('a method can be replaced by a spy, of one collection or of all', async () => {
  const { documents } = open();
  const spy = vi.spyOn(documents, 'insert');
  await documents.insert({ n: 1 });
  expect(spy).toHaveBeenCalledExactlyOnceWith({ n: 1 });
  spy.mockRestore();
  const replaced = vi.spyOn(Object.getPrototypeOf(documents), 'count').mockResolvedValue(7);
  expect(await documents.count()).toBe(7);
  replaced.mockRestore();
  expect(await documents.count()).toBe(1);
});

test('a class over that of a collection overrides methods and calls those beneath', async () => {
  const { documents } = open();
  const inserted: unknown[] = [];
  Object.setPrototypeOf(documents, {
    __proto__: Object.getPrototypeOf(documents),
    async insert(document: { n: number }) {
      inserted.push(document);
      return super.insert(document);
    },
  } as never);
  expect(await documents.insert({ n: 2 })).toMatchObject({ n: 2 });
  expect(inserted).toEqual([{ n: 2 }]);
});

test.each([
  ['get("a")', (things: ReturnType<typeof open>['documents']) => things.get('a')],
  ['getMany(["a","b"])', (things) => things.getMany(['a', 'b'])],
  ['insert()', (things) => things.insert({ n: 1n } as never)],
  ['count()', (things) => things.count()],
] satisfies [string, (things: ReturnType<typeof open>['documents']) => unknown][])(
  'a call of tx that is not awaited is named: %s',
  async (named, call) => {
    const { documents } = open();
    await documents.ready;
    const running = db.transaction((tx) => void call(tx(documents) as never));
    await expect(running).rejects.toThrow(`before ${named} of collection "documents" had ended`);
  },
);
