import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { mergeFields } from '../../src/replication/index.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

afterEach(closeDevices);

type Item = { readonly id: string; readonly done?: number; readonly text?: number };

const rules = { checklist: { by: 'id' } };

const items = fc.uniqueArray(
  fc.record(
    { id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), done: fc.nat(2), text: fc.nat(2) },
    { requiredKeys: ['id'] },
  ),
  { selector: ({ id }) => id, maxLength: 5 },
);

function merged(base: Item[] | undefined, local: Item[], remote: Item[]): Item[] {
  const documents = [base, local, remote].map((checklist) => ({ _id: 'o', checklist }));
  const [b, l, r] = documents as [object, object, object];
  const states = { id: 'o', base: base && b, local: l, remote: r };
  return (mergeFields(states, rules) as { checklist: Item[] }).checklist;
}

/** The state of one item by the rules of documents: what one side changed counts, edits survive. */
function expectedItem(
  base: Item | undefined,
  local: Item | undefined,
  remote: Item | undefined,
): object | undefined {
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  if (!local || !remote) return base && same(base, local ?? remote) ? undefined : (local ?? remote);
  const item: Record<string, unknown> = { id: remote.id };
  for (const field of ['done', 'text'] as const) {
    const isLocal = same(base?.[field], remote[field]) && (base || remote[field] === undefined);
    const value = isLocal ? local[field] : !base ? (remote[field] ?? local[field]) : remote[field];
    if (value !== undefined) item[field] = value;
  }
  return item;
}

test('items merge as documents would that have their ids', () => {
  fc.assert(
    fc.property(items, items, items, (base, local, remote) => {
      const result = merged(base, local, remote);
      const of = (list: Item[], id: string) => list.find((one) => one.id === id);
      const ids = new Set([...base, ...local, ...remote].map(({ id }) => id));
      for (const id of ids) {
        const wanted = expectedItem(of(base, id), of(local, id), of(remote, id));
        expect(of(result, id)).toEqual(wanted);
      }
      expect(new Set(result.map(({ id }) => id)).size).toBe(result.length);
    }),
    { numRuns: 2000 },
  );
});

test('the order is that of the side that has changed it', () => {
  fc.assert(
    fc.property(items, fc.array(fc.nat(10)), items, (base, moves, remote) => {
      const idsOf = (list: readonly Item[]) => list.map(({ id }) => id);
      const local = [...base];
      for (const move of moves) local.push(...local.splice(move % (local.length || 1), 1));
      // What one side alone has done is what comes out.
      expect(merged(base, local, base)).toEqual(local);
      expect(merged(base, base, remote)).toEqual(remote);
      const result = idsOf(merged(base, local, remote));
      const common = idsOf(base).filter((id) => idsOf(remote).includes(id));
      const orderOf = (list: string[]) => list.filter((id) => common.includes(id));
      const isMovedThere = orderOf(idsOf(remote)).join() !== common.join();
      expect(orderOf(result)).toEqual(orderOf(idsOf(isMovedThere ? remote : local)));
    }),
    { numRuns: 1000 },
  );
});

test('both append, and both are there', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => ({ id })) as [Item, Item, Item, Item];
  expect(merged([a], [a, b], [a, c])).toEqual([a, c, b]);
  expect(merged([a, d], [b, a, d], [c, a, d])).toEqual([c, a, d, b]);
  expect(merged(undefined, [a, b], [a, c])).toEqual([a, c, b]);
  expect(merged([a, b, d], [a, d], [b, c, a, d])).toEqual([c, a, d]);
});

test.each([
  ['without ids', [{ done: 1 }], [{ done: 2 }]],
  ['with one id twice', [{ id: 1 }, { id: 1 }], [{ id: 2 }]],
  ['of other values', [1], [{ id: 1 }]],
  ['that is none', { id: 1 }, [{ id: 1 }]],
])('an array %s is one value', (_, local, remote) => {
  expect(merged([], local as never, remote as never)).toBe(remote);
});

test('a long array of others is merged in time that grows with it', () => {
  const list = (prefix: string) => Array.from({ length: 50_000 }, (_, at) => ({ id: prefix + at }));
  expect(merged([], list('a'), list('b'))).toHaveLength(100_000);
});

test('two devices tick items of one checklist offline, and no tick is lost', async () => {
  const remote = new MemoryRemote();
  const merge = { checklist: { by: 'id' }, 'checklist.parts': { by: 'name' } };
  const devices = [new Device(remote, { merge }), new Device(remote, { merge })];
  const [first, second] = devices.map(({ orders }) => orders as any);
  const parts = [{ name: 'x' }, { name: 'y' }];
  await first.insert({ _id: 'o', checklist: [{ id: 1, parts }, { id: 2 }] });
  for (const device of devices) await device.settled();
  for (const { sync } of devices) sync.pause();
  await first.patch('o', { 'checklist.0.done': true, 'checklist.0.parts.0.ok': true });
  await second.patch('o', { 'checklist.1.done': true, 'checklist.0.parts.1.ok': true });
  await first.patch('o', { $push: { checklist: { id: 3 } } });
  for (const { sync } of devices) sync.resume();
  for (const device of [...devices, ...devices]) await device.settled();
  for (const { orders, sync } of devices) {
    const [found] = await orders.filter({});
    const ok = [
      { name: 'x', ok: true },
      { name: 'y', ok: true },
    ];
    const checklist = [{ id: 1, done: true, parts: ok }, { id: 2, done: true }, { id: 3 }];
    expect(found).toMatchObject({ checklist });
    expect(sync.conflicts()).toEqual([]);
  }
});

test.each([
  [{ checklist: 'id' }, 'option_invalid'],
  [{ checklist: { by: 'id', of: 1 } }, 'option_invalid'],
  [[], 'option_invalid'],
])('merge: %j is refused', (merge, code) => {
  expect(() => new Device(new MemoryRemote(), { merge: merge as never })).toThrow(
    expect.objectContaining({ code, place: 'merge' }),
  );
});

test('merge beside resolve is refused, as it would do nothing', () => {
  const resolve = () => undefined;
  expect(() => new Device(new MemoryRemote(), { merge: rules, resolve })).toThrow(
    expect.objectContaining({ code: 'option_conflict', place: 'merge' }),
  );
});
