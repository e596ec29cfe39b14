import { expect, test } from 'vitest';
import { parseCollectionOptions } from '../../src/api/options/collection-options.ts';
import { Database } from '../../src/index.ts';
import { NearReads } from '../../src/page/sending/near-reads.ts';

const DOCUMENTS = 2_500;

const settings = {
  name: 'things',
  type: 'DOCUMENT_BASED',
  caching: true,
  shared_documents: true,
} as const;

/** Records without a document yet, and a channel that reads them. */
function unread() {
  const list = Array.from({ length: DOCUMENTS }, (_, n) => ({ body: `{"n":${n}}` }));
  const made: object[] = [];
  const channel = {
    started: 'thread' as string | undefined,
    client: { near: () => ({ records: { list: () => list } }) },
    shared: { of: (record: object) => made.push(record) },
  };
  return { list, made, channel };
}

const nearReads = (channel: object) =>
  new NearReads(channel as never, parseCollectionOptions(settings));

test('makes all shared documents, later', async () => {
  const { list, made, channel } = unread();
  const done = nearReads(channel).prepare();
  expect(made).toEqual([]);
  await done;
  expect(made).toEqual(list);
});

test('works in slices, ends with the engine, and leaves out what is not in memory', async () => {
  const { list, made, channel } = unread();
  Reflect.deleteProperty(list[0] as object, 'body');
  const of = (record: object) => {
    made.push(record);
    channel.started = undefined;
  };
  await nearReads({
    ...channel,
    shared: { of },
    get started() {
      return channel.started;
    },
  }).prepare();
  expect(made).toEqual(list.slice(1, 1_000));
});

test('makes none where readers get copies', async () => {
  const { made, channel } = unread();
  await nearReads({ ...channel, shared: undefined }).prepare();
  expect(made).toEqual([]);
});

test('what is prepared is what reads return, and no older version of it', async () => {
  const database = new Database({ name: 'prepared', storage: 'memory' });
  const things = new database.Collection<{ n: number }>(settings);
  await things.insertMany(Array.from({ length: DOCUMENTS }, (_, n) => ({ _id: `${n}`, n })));
  await things.ready;
  await things.patch('2499', { n: -1 });
  const first = things.sync.get('2499');
  await new Promise((resolve) => setTimeout(resolve));
  await things.save();
  expect(things.sync.get('2499')).toBe(first);
  expect(first).toMatchObject({ n: -1 });
  expect(things.sync.filter({ n: { $gte: 0 } }).length).toBe(DOCUMENTS - 1);
  await database.close();
});
