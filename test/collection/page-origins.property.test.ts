import { afterAll, describe, expect, test } from 'vitest';
import { reactive } from 'vue';
import {
  connect,
  Database,
  type DatabaseClient,
  type DocumentCollection,
  type FindOptions,
} from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';
import { MessageWorker } from '../transport/message-worker.ts';

type Item = Record<string, unknown>;
type Items = DocumentCollection<Item>;
type Found = Record<string, unknown> & { readonly _id: string };
/** Of one document, given the page that begins with it and the options of the query. */
type Origin = (page: Found[], items: Items, options: FindOptions<Item>) => Promise<object> | object;

class Row {
  readonly _id: string;
  constructor(page: readonly Found[]) {
    Object.assign(this, page[0]);
    this._id = page[0]?._id as string;
  }
}

const first = (page: readonly Found[]) => page[0] as Found;

const ORIGINS: Record<string, Origin> = {
  itself: first,
  copy: (page) => ({ ...first(page) }),
  'deep copy': (page) => structuredClone(first(page)),
  'copy by JSON': (page) =>
    JSON.parse(
      JSON.stringify(page[0], (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    ),
  'Vue proxy': (page) => reactive(page)[0] as object,
  'id alone': (page) => ({ _id: first(page)._id }),
  'object of a class': (page) => new Row(page),
  'stored document': async (page, items) => (await items.get(first(page)._id)) as object,
  'live document': async (page, items, options) => {
    const live = items.live({}, options);
    await live.ready;
    const { data } = live.getSnapshot();
    return data?.find(({ _id }) => _id === page[0]?._id) as object;
  },
  'another page': async (page, items, options) => {
    const before = await items.find({ _id: page[0]?._id as string }, { ...options, limit: 1 });
    return before as object;
  },
  'another order': async (page, items) => {
    const all = await items.filter({}, { sort: { 'b.c': -1 }, select: ['a'] });
    return all.find(({ _id }) => _id === page[0]?._id) as object;
  },
};

const scalar = fc.constantFrom<unknown>(
  ...[null, undefined, 0, 1, -0, Number.NaN, 'a', 'b', true, 5n, new Date(1), new Date(2)],
);
const value = fc.oneof(
  { arbitrary: scalar, weight: 4 },
  { arbitrary: fc.array(scalar, { maxLength: 2 }), weight: 1 },
);
const nested = fc.dictionary(fc.constantFrom('c', 'd'), value);
const document = fc.record(
  {
    a: value,
    b: fc.oneof(nested, fc.array(nested, { maxLength: 2 }), scalar),
  },
  { requiredKeys: [] },
);
const direction = fc.constantFrom(1 as const, -1 as const);
const sort = fc
  .uniqueArray(fc.tuple(fc.constantFrom('a', 'b.c', 'b.d', '_id', '_archived'), direction), {
    maxLength: 3,
    selector: ([path]) => path,
  })
  .map((fields) => Object.fromEntries(fields));
const select = fc.constantFrom(undefined, [], ['a'], ['b.c'], ['b.d'], ['b'], ['a', 'b.c']);

const clients: DatabaseClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

const doors: readonly (readonly [string, boolean, () => DatabaseClient])[] = [
  ['the thread, cached', true, () => new Database({ name: 'origins cached', storage: 'memory' })],
  ['the thread', false, () => new Database({ name: 'origins', storage: 'memory' })],
  [
    'a worker',
    false,
    () => connect({ name: 'origins', storage: 'memory', worker: new MessageWorker().asWorker }),
  ],
];

describe.each(doors)('in %s', (_, caching, open) => {
  test('a page goes on behind a document of any origin', async () => {
    const client = open();
    clients.push(client);
    let name = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { minLength: 1, maxLength: 8 }),
        sort,
        select,
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom(...Object.keys(ORIGINS)),
        fc.nat(7),
        async (documents, order, paths, isIndexed, shared_documents, origin, at) => {
          const items = new client.Collection({
            ...({ name: `items ${++name}`, type: 'DOCUMENT_BASED', caching } as const),
            indexes: isIndexed ? ['a', { fields: ['a', 'b.c'] }] : [],
            shared_documents,
          }) as unknown as Items;
          await items.insertMany(documents);
          await items.save();
          const options = { sort: order, select: paths } as FindOptions<Item>;
          const all = (await items.filter({}, options)) as Found[];
          const page = (await items.filter(
            {},
            { ...options, skip: at % all.length, limit: 3 },
          )) as Found[];
          const after = (await (ORIGINS[origin] as Origin)(page, items, options)) as Found;
          const rest = await items.filter({}, { ...options, after, limit: 5 });
          expect(rest).toEqual(all.slice((at % all.length) + 1).slice(0, 5));
          expect(await items.count({}, { sort: order as never, after })).toBe(
            all.length - 1 - (at % all.length),
          );
        },
      ),
      runs(600),
    );
  });

  test('what a deleted document lacks is a typed error', async () => {
    const client = open();
    clients.push(client);
    const items = new client.Collection({ name: 'deleted', type: 'DOCUMENT_BASED', caching });
    await items.insertMany([{ a: 1 }, { a: 2 }, { a: 3 }]);
    const options = { sort: { a: 1 }, limit: 1, select: ['b'] } as const;
    const [end] = await items.filter({}, options);
    const copy = { ...end } as { _id: string };
    const later = { ...end, a: 1 } as { _id: string };
    await items.delete(copy._id);
    expect(await items.filter({}, { ...options, after: end as { _id: string } })).toHaveLength(1);
    for (const after of [copy, later])
      await expect(items.filter({}, { ...options, after })).rejects.toMatchObject({
        code: 'after_unknown',
      });
    await expect(
      items.filter({}, { ...options, sort: { b: 1 }, after: end as { _id: string } }),
    ).rejects.toMatchObject({ code: 'after_unknown', place: 'after' });
  });
});
