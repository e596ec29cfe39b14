import { afterEach, expect, test, vi } from 'vitest';
import { connect } from '../../src/index.ts';
import { MessageWorker } from './message-worker.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

let names = 0;

interface Thing {
  n: number;
  text: string;
}

function open() {
  const db = connect({
    name: `shared wire ${++names}`,
    storage: 'memory',
    worker: () => new MessageWorker().asWorker,
  });
  const things = new db.Collection<Thing>({
    name: 'things',
    type: 'DOCUMENT_BASED',
    shared_documents: true,
  });
  return { db, things };
}

const things = (count: number, text = 'secret') =>
  Array.from({ length: count }, (_, n) => ({ _id: `t${n}`, n, text }));

/** Counts the bodies in the messages that are posted from now on: each has its text once. */
function countBodies(): () => number {
  let bodies = 0;
  const count = (value: unknown): void => {
    if (typeof value === 'string') bodies += value.includes('secret') ? 1 : 0;
    else if (Array.isArray(value)) value.forEach(count);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(count);
  };
  const post = MessagePort.prototype.postMessage;
  vi.spyOn(MessagePort.prototype, 'postMessage').mockImplementation(function (
    this: MessagePort,
    message: unknown,
    ...rest: unknown[]
  ) {
    count(message);
    return post.call(this, message, ...(rest as []));
  });
  return () => {
    const counted = bodies;
    bodies = 0;
    return counted;
  };
}

test('what has not changed is sent once', async () => {
  const { db, things: collection } = open();
  await collection.insertMany(things(100));
  const sent = countBodies();
  const first = await collection.filter({});
  expect(sent()).toBe(100);
  const again = await collection.filter({ n: { $lt: 50 } }, { sort: { n: -1 } });
  expect(again.toReversed().every((each, index) => each === first[index])).toBe(true);
  expect((await collection.get('t7')) === first[7]).toBe(true);
  expect((await collection.getMany(['t7', 'none']))[0] === first[7]).toBe(true);
  expect((await collection.find(({ n }) => n === 99)) === first[99]).toBe(true);
  for await (const each of collection) expect(each === first[each.n]).toBe(true);
  expect(sent()).toBe(0);
  await collection.patch('t7', { n: 7.5 });
  // The reply of the change.
  expect(sent()).toBe(1);
  expect((await collection.filter({}))[7]?.n).toBe(7.5);
  expect(sent()).toBe(1);
  await collection.filter({});
  expect(sent()).toBe(0);
  await db.close();
});

test('calls at once get all that they need, in any order of replies', async () => {
  const { db, things: collection } = open();
  await collection.insertMany(things(20));
  const sent = countBodies();
  const [all, some, one] = await Promise.all([
    collection.filter({}),
    collection.filter({ n: { $lt: 5 } }),
    collection.get('t3'),
  ]);
  expect([all.length, some.length, one?.n]).toEqual([20, 5, 3]);
  expect(some[3] === one && all[3] === one).toBe(true);
  expect(sent()).toBe(26);
  await collection.filter({});
  expect(sent()).toBe(0);
  await db.close();
});

test('an aborted call leaves nothing out of the next', async () => {
  const { db, things: collection } = open();
  await collection.insertMany(things(20));
  const abort = new AbortController();
  const aborted = collection.filter({}, { signal: abort.signal });
  queueMicrotask(() => abort.abort());
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
  expect((await collection.filter({})).map(({ n }) => n)).toEqual(things(20).map(({ n }) => n));
  await db.close();
});

test('the cache is bounded: a full one is replaced, and what was read just before stays the same', async () => {
  const { db, things: collection } = open();
  // Eight of a megabyte fill a cache.
  const large = things(24, `secret${'x'.repeat(1024 * 1024)}`);
  await collection.insertMany(large);
  const sent = countBodies();
  const first = await collection.get('t0');
  for (const { _id } of large.slice(0, 9)) await collection.get(_id);
  expect(sent()).toBe(9);
  // The next cache takes it over from the one before.
  expect((await collection.get('t0')) === first).toBe(true);
  expect(sent()).toBe(1);
  for (const { _id } of large.slice(1)) await collection.get(_id);
  expect(sent()).toBe(23);
  await collection.get('t1');
  expect(sent()).toBe(1);
  await db.close();
});

test('handles have caches of their own, and one without the option gets copies', async () => {
  const { db, things: collection } = open();
  await collection.insertMany(things(3));
  const plain = new db.Collection<Thing>({ name: 'things', type: 'DOCUMENT_BASED' });
  const sent = countBodies();
  await collection.filter({});
  await plain.filter({});
  expect(sent()).toBe(6);
  const [copy] = await plain.filter({});
  if (copy) copy.text = 'mine';
  expect((await collection.get('t0'))?.text).toBe('secret');
  await db.close();
});

test('after the loss of a worker documents that are equal stay the same objects', async () => {
  const workers: MessageWorker[] = [];
  const db = connect({
    name: `shared wire ${++names}`,
    worker: () => {
      workers.push(new MessageWorker());
      return (workers.at(-1) as MessageWorker).asWorker;
    },
  });
  const collection = new db.Collection<Thing>({
    name: 'things',
    type: 'DOCUMENT_BASED',
    shared_documents: true,
  });
  await collection.insertMany(things(3));
  await collection.save();
  const before = await collection.filter({});
  const sent = countBodies();
  workers[0]?.fallSilent();
  workers[0]?.fail('out of memory');
  const after = await collection.filter({});
  expect(workers.length).toBe(2);
  expect(after.map((each, index) => each === before[index])).toEqual([true, true, true]);
  expect(sent()).toBe(3);
  await collection.filter({});
  expect(sent()).toBe(0);
  await db.close();
});
