import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import {
  connect,
  Database,
  type DatabaseClient,
  type DocumentCollection,
  type KeyValueCollection,
  memoryDriver,
  type Transaction,
} from '../../src/index.ts';
import { undo } from '../../src/undo/index.ts';
import { fc, runs } from '../setup/properties.ts';
import { MessageWorker } from '../transport/message-worker.ts';

type Fields = Record<string, unknown>;

interface Shop {
  readonly db: DatabaseClient;
  readonly things: DocumentCollection<Fields>;
  readonly values: KeyValueCollection;
}

const IDS = ['a', 'b'];
const id = fc.constantFrom(...IDS);
const number = fc.nat(3);
const fields = fc.record({ n: number, m: number, deep: fc.record({ x: number, y: number }) });
const key = fc.constantFrom('one', 'two', 'one.deep');

type Change = (shop: Pick<Shop, 'things' | 'values'>) => Promise<unknown>;

/** Changes that a transaction has, too. */
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(id, fields).map(
    ([_id, of]): Change =>
      ({ things }) =>
        things.upsert({ _id, ...of }),
  ),
  fields.map(
    (of): Change =>
      ({ things }) =>
        things.insert(of),
  ),
  fc.array(fields, { maxLength: 3 }).map(
    (list): Change =>
      ({ things }) =>
        things.insertMany(list),
  ),
  fc.array(fc.tuple(id, fields), { maxLength: 3 }).map(
    (list): Change =>
      ({ things }) =>
        things.upsertMany(list.map(([_id, of]) => ({ _id, ...of }))),
  ),
  fc.tuple(id, fields).map(
    ([_id, of]): Change =>
      ({ things }) =>
        things.update(_id, of),
  ),
  fc.tuple(id, number).map(
    ([_id, n]): Change =>
      ({ things }) =>
        things.patch(_id, { n }),
  ),
  fc.tuple(id, number).map(
    ([_id, x]): Change =>
      ({ things }) =>
        things.patch(_id, { 'deep.x': x }),
  ),
  id.map(
    (_id): Change =>
      ({ things }) =>
        things.patch(_id, { $inc: { m: 1 } }),
  ),
  id.map(
    (_id): Change =>
      ({ things }) =>
        things.patch(_id, { $unset: { deep: true } }),
  ),
  number.map(
    (n): Change =>
      ({ things }) =>
        things.patchMany({ n }, { $inc: { 'deep.y': 1 } }),
  ),
  fc.tuple(number, number).map(
    ([n, m]): Change =>
      ({ things }) =>
        things.patchOne({ n }, { $set: { m } }, { sort: { m: -1 }, upsert: true, archived: true }),
  ),
  id.map(
    (_id): Change =>
      ({ things }) =>
        things.archive(_id),
  ),
  id.map(
    (_id): Change =>
      ({ things }) =>
        things.unarchive(_id),
  ),
  id.map(
    (_id): Change =>
      ({ things }) =>
        things.delete(_id),
  ),
  number.map(
    (n): Change =>
      ({ things }) =>
        things.deleteMany(({ n: own }) => own === n),
  ),
  number.map(
    (n): Change =>
      ({ things }) =>
        things.deleteOne({ n }, { sort: { m: 1 } }),
  ),
  fc.tuple(key, number).map(
    ([at, n]): Change =>
      ({ values }) =>
        values.set(`${at}.n`, n),
  ),
  key.map(
    (at): Change =>
      ({ values }) =>
        values.delete(at),
  ),
  key.map(
    (at): Change =>
      ({ values }) =>
        values.push(`${at}.list`, 1),
  ),
  key.map(
    (at): Change =>
      ({ values }) =>
        values.increase(`${at}.m`, 2),
  ),
);

const together = fc.array(change, { minLength: 1, maxLength: 3 }).map(
  (changes): ((shop: Shop) => Promise<unknown>) =>
    ({ db, things, values }) =>
      db.transaction(async (tx: Transaction) => {
        const inside = { things: tx(things), values: tx(values) } as never;
        for (const perform of changes) await perform(inside).catch(() => undefined);
      }),
);
const modified = fc.tuple(id, number).map(
  ([_id, m]): Change =>
    ({ things }) =>
      things.modify(_id, (one) => ({ ...one, m })),
);

/** What one tab does. */
const act = fc.oneof({ weight: 4, arbitrary: change }, together, modified);
type Act = (shop: Shop) => Promise<unknown>;

/** What others do: it is likely to meet what was done here. */
const clash: fc.Arbitrary<Act> = fc.oneof(
  fc.tuple(id, number).map(
    ([_id, n]): Act =>
      ({ things }) =>
        things.patch(_id, { n }),
  ),
  fc.tuple(id, number).map(
    ([_id, x]): Act =>
      ({ things }) =>
        things.patch(_id, { 'deep.x': x }),
  ),
  id.map(
    (_id): Act =>
      ({ things }) =>
        things.patch(_id, { $inc: { m: 1 } }),
  ),
  number.map(
    (m): Act =>
      ({ things }) =>
        things.patchMany({}, { m }),
  ),
  id.map(
    (_id): Act =>
      ({ things }) =>
        things.delete(_id),
  ),
  fc.tuple(key, number).map(
    ([at, n]): Act =>
      ({ values }) =>
        values.set(`${at}.n`, n),
  ),
  act,
);

type Script = readonly (readonly ['mine' | 'other', Act] | readonly ['undo' | 'redo'])[];
const script: fc.Arbitrary<Script> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: act.map((perform) => ['mine', perform] as const) },
    { weight: 2, arbitrary: clash.map((perform) => ['other', perform] as const) },
    { weight: 3, arbitrary: fc.constant(['undo'] as const) },
    { weight: 2, arbitrary: fc.constant(['redo'] as const) },
  ),
  { minLength: 4, maxLength: 16, size: 'max' },
);

/** All records of both collections; a document's state is its fields and whether it is archived. */
type World = Map<string, Fields>;

async function worldOf({ things, values }: Shop): Promise<World> {
  const documents = await things.filter({}, { archived: true });
  const own = documents.map(({ _id, _updated, ...document }) => [`things ${_id}`, document]);
  const records = (await values.entries()).map(([name, value]) => [`values ${name}`, { value }]);
  return new Map([...own, ...records] as [string, Fields][]);
}

interface Step {
  readonly from: World;
  readonly to: World;
}

/** What is there after a step was taken back, and what of it stays. */
function takenBack({ from, to }: Step, now: World): { world: World; skipped: string[] } {
  const world = new Map(now);
  const skipped: string[] = [];
  for (const name of new Set([...from.keys(), ...to.keys()])) {
    const [before, after, current] = [from.get(name), to.get(name), now.get(name)];
    if (isDeepStrictEqual(before, after)) continue;
    if (!current && after) skipped.push(`${name} gone`);
    else if (!current || (!before && isDeepStrictEqual(after, current))) {
      if (before) world.set(name, before);
      else world.delete(name);
    } else if (!before || !after) skipped.push(`${name} changed`);
    else {
      const kept: string[] = [];
      const merged = mergedFields(before, after, current, '', kept);
      world.set(name, merged);
      for (const path of kept)
        skipped.push(`${name} changed ${name.startsWith('values') ? path.slice(6) : path}`.trim());
    }
  }
  return { world, skipped };
}

function mergedFields(before: Fields, after: Fields, current: Fields, at: string, kept: string[]) {
  const merged: Fields = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(current)])) {
    const path = at ? `${at}.${name}` : name;
    const [b, a, c] = [before, after, current].map((one) => one[name]);
    let value = c;
    if (!isDeepStrictEqual(a, b) && !isDeepStrictEqual(b, c)) {
      const all = [a, b, c] as Fields[];
      const areObjects = all.every((one) => typeof one === 'object' && !Array.isArray(one));
      if (isDeepStrictEqual(a, c)) value = b;
      else if (areObjects) value = mergedFields(b as Fields, a as Fields, c as Fields, path, kept);
      else kept.push(path);
    }
    if (value !== undefined) merged[name] = value;
  }
  return merged;
}

const clients: DatabaseClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

const doors: readonly (readonly [string, () => DatabaseClient])[] = [
  ['Database', () => new Database({ name: 'undo', storage: memoryDriver() })],
  [
    'connect()',
    () => connect({ name: 'undo', storage: 'memory', worker: new MessageWorker().asWorker }),
  ],
];

describe.each(doors)('with %s', (_, open) => {
  test('a history does what snapshots of the data say', async () => {
    const db = open();
    clients.push(db);
    let count = 0;
    const opened = (): Shop => ({
      db,
      things: new db.Collection({ name: `things ${count}`, type: 'DOCUMENT_BASED' }),
      values: new db.Collection({ name: `values ${count}`, type: 'KEY_VALUE_BASED' }),
    });
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        count++;
        const other = opened();
        const mine = opened();
        const begin = { n: 1, m: 1, deep: { x: 0, y: 0 } };
        await other.things.insertMany(IDS.map((_id) => ({ _id, ...begin })));
        const history = undo(db, { collections: [mine.things, mine.values] });
        let past: Step[] = [];
        let future: Step[] = [];
        try {
          for (const [kind, perform] of steps) {
            const from = await worldOf(other);
            if (perform) {
              await perform(kind === 'mine' ? mine : other).catch(() => undefined);
              const to = await worldOf(other);
              if (kind === 'mine' && !isDeepStrictEqual(from, to)) {
                past.push({ from, to });
                future = [];
              }
            } else {
              const [one, two] = kind === 'undo' ? [past, future] : [future, past];
              const step = one.pop();
              const expected = step && takenBack(step, from);
              const result = await history[kind as 'undo']().catch((error: unknown) => error);
              const to = await worldOf(other);
              expect(to).toEqual(expected?.world ?? from);
              const isChanged = !isDeepStrictEqual(from, to);
              if (isChanged) two.push({ from, to });
              if (!expected) expect(result).toBe(undefined);
              else if (
                !isChanged &&
                expected.skipped.length > 0 &&
                expected.skipped.every((skip) => skip.endsWith('gone'))
              )
                expect(result).toMatchObject({ code: 'undo_gone' });
              else {
                const { skipped } = result as { skipped: readonly Record<string, string>[] };
                const told = skipped.map(({ collection, id: of, reason, path = '' }) =>
                  `${collection?.split(' ')[0]} ${of} ${reason} ${path}`.trim(),
                );
                expect(told.toSorted()).toEqual(expected.skipped.toSorted());
              }
            }
            expect([history.can_undo, history.can_redo]).toEqual([
              past.length > 0,
              future.length > 0,
            ]);
          }
          past = [];
        } finally {
          history.stop();
        }
      }),
      runs(200),
    );
  });
});
