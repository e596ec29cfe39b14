import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Database, type SlowQuery } from '../../src/index.ts';
import { INSPECTION, type ObservedCall } from '../../src/page/sending/observed-call.ts';

interface Person {
  readonly name: string;
  readonly region: string;
}

const people = Array.from({ length: 50 }, (_, n) => ({
  name: `p${n}`,
  region: n % 2 ? 'north' : 'south',
}));

let db: Database;

const open = (slow_query_ms?: number) => {
  db = new Database({ name: 'observed', storage: 'memory', slow_query_ms });
  return new db.Collection<Person>({ name: 'people', type: 'DOCUMENT_BASED', indexes: ['region'] });
};

afterEach(() => db.close());

describe('slow_query_ms', () => {
  let slow: SlowQuery[];
  let collection: ReturnType<typeof open>;

  beforeEach(async () => {
    // Every query takes so long.
    collection = open(0);
    slow = [];
    db.on('slow_query', (query) => slow.push(query));
    await db.ready;
    await collection.insertMany(people);
  });

  test('reports a query with its plan and cost', async () => {
    await collection.filter({ name: 'p7' }, { limit: 5 });
    await collection.count({ region: 'north' });
    await expect.poll(() => slow).toHaveLength(2);
    expect(slow[0]).toMatchObject({
      ...{ collection: 'people', method: 'filter', params: { name: 'p7' }, options: { limit: 5 } },
      ...{ plan: { kind: 'scan' }, documents_examined: 50, returned: 1 },
    });
    expect(slow[1]).toMatchObject({ method: 'count', plan: { kind: 'index', index: 'region' } });
    expect((slow[0]?.duration_ms ?? -1) >= 0 && (slow[0]?.engine_ms ?? -1) >= 0).toBe(true);
  });

  test('reports a function, as a scan', async () => {
    const named = ({ name }: Person) => name === 'p7';
    await collection.find(named);
    await expect.poll(() => slow).toHaveLength(1);
    expect(slow[0]).toMatchObject({ method: 'find', params: named, plan: { kind: 'scan' } });
  });

  test('reports changes by criteria, with what finds their documents', async () => {
    const first = { sort: { region: 1 } } as const;
    await collection.patchOne({ region: 'north' }, { name: 'x' }, { ...first, upsert: true });
    await collection.patchMany({ region: 'none' }, { 'n.$[a]': 1 } as never, {
      array_filters: [{ a: 1 }],
    });
    await collection.deleteOne({ region: 'south' }, first);
    await expect.poll(() => slow).toHaveLength(3);
    const plan = { kind: 'index', index: 'region' };
    expect(slow).toMatchObject([
      { method: 'patchOne', plan, returned: 1 },
      { method: 'patchMany', plan, returned: 0 },
      { method: 'deleteOne', plan, returned: 1 },
    ]);
  });

  test('reports a pipeline, and the first result of a live one, as such', async () => {
    const pipeline = [{ $match: { region: 'north' } }, { $group: { _id: '$name' } }];
    await collection.aggregate(pipeline);
    const live = collection.liveAggregate(pipeline);
    await live.ready;
    await expect.poll(() => slow).toHaveLength(2);
    const found = { params: pipeline, plan: { kind: 'index', index: 'region' }, returned: 25 };
    expect(slow).toMatchObject([
      { ...found, method: 'aggregate' },
      { ...found, method: 'liveAggregate' },
    ]);
    live.close();
  });

  test('reports the first result of a live query', async () => {
    const live = collection.live({ region: 'north' }, { limit: 3, throttle: 5 });
    await live.ready;
    await expect.poll(() => slow).toHaveLength(1);
    expect(slow[0]).toMatchObject({ method: 'live', params: { region: 'north' }, returned: 3 });
    live.close();
  });

  test('reports neither writes, nor calls that fail, nor keys and values', async () => {
    const settings = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
    await settings.set('a', [1]);
    await settings.filter('a', 1);
    await collection.insert({ name: 'q', region: 'east' });
    await expect(collection.filter({ name: { $wrong: 1 } } as never)).rejects.toThrow();
    await collection.has({ name: 'q' });
    await expect.poll(() => slow.length).toBeGreaterThan(0);
    expect(slow.map(({ method }) => method)).toEqual(['has']);
  });

  test('a query of a collection that is dropped meanwhile is reported without a plan', async () => {
    const gone = new db.Collection({
      name: 'gone',
      type: 'DOCUMENT_BASED',
      activate_drop_method: true,
    });
    await gone.ready;
    await Promise.all([gone.filter({ a: 1 }), gone.Drop()]);
    await expect.poll(() => slow).toHaveLength(1);
    expect(slow[0]).toMatchObject({ collection: 'gone', plan: undefined });
  });
});

test('slow_query_ms is checked', () => {
  for (const slow_query_ms of [-1, Number.NaN, '5'])
    expect(() => new Database({ name: 'a', slow_query_ms } as never)).toThrow('slow_query_ms');
  open();
});

test('without the option no query is reported', async () => {
  const collection = open();
  const slow: SlowQuery[] = [];
  db.on('slow_query', (query) => slow.push(query));
  await collection.filter({});
  await collection.explain({});
  expect(slow).toEqual([]);
});

describe('an observer', () => {
  test('sees calls of handles that are open, and of those that open later', async () => {
    const collection = open();
    await db.ready;
    const calls: ObservedCall[] = [];
    const stop = db.runtime?.[INSPECTION].observe((call) => calls.push(call));
    const later = new db.Collection({ name: 'later', type: 'KEY_VALUE_BASED' });
    await collection.insert({ name: 'a', region: 'b' });
    await later.increase('visits', 2);
    await expect(collection.get(5 as never)).rejects.toThrow();
    stop?.();
    await collection.count();
    expect(calls.map(({ collection, method }) => `${collection}.${method}`)).toEqual([
      'people.insert',
      'later.increase',
      'people.get',
    ]);
    expect(calls[1]).toMatchObject({ args: ['visits', 2], result: 2 });
    expect(calls[2]?.error).toBeInstanceOf(Error);
  });

  test('changes neither the order of calls nor transactions', async () => {
    const collection = open();
    await db.ready;
    db.runtime?.[INSPECTION].observe(() => undefined);
    const inserted = collection.insert({ name: 'a', region: 'b' });
    const counted = collection.count();
    await inserted;
    expect(await counted).toBe(1);
    await db.transaction(async (tx) => {
      await tx(collection).insert({ name: 'b', region: 'b' });
      expect(await tx(collection).count({ region: 'b' })).toBe(2);
    });
    const names = [];
    for await (const { name } of collection) names.push(name);
    expect(names).toEqual(['a', 'b']);
  });
});

test('live queries are listed while they have readers', async () => {
  const collection = open();
  const { lives } = (await db.loadRuntime())[INSPECTION];
  const live = collection.live({ region: 'north' }, { sort: { name: 1 } });
  const count = collection.liveCount();
  const stop = live.subscribe(() => undefined);
  const stopCount = count.subscribe(() => undefined);
  await live.ready;
  await count.ready;
  await collection.insert({ name: 'a', region: 'north' });
  const [first, second] = [...lives];
  expect(first).toMatchObject({
    ...{ collection: 'people', status: 'ready', documents: 1, emissions: 2, count: false },
    search: { params: { region: 'north' }, sort: { name: 1 } },
  });
  expect(second).toMatchObject({ count: true, documents: 1 });
  expect(first?.last_emission).toBeInstanceOf(Date);
  stop();
  stopCount();
  await expect.poll(() => lives.size).toBe(0);
});

test('a call with hidden options is not observed', async () => {
  const collection = open();
  await db.ready;
  const calls: ObservedCall[] = [];
  const inspection = (await db.loadRuntime())[INSPECTION];
  inspection.observe((call) => calls.push(call));
  const options = { limit: 1 };
  inspection.hidden.add(options);
  await collection.filter({}, options);
  await collection.filter({}, { ...options });
  expect(calls).toHaveLength(1);
});
