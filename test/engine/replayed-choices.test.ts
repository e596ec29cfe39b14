import { expect, test } from 'vitest';
import { type Request, UNACKNOWLEDGED } from '../../src/protocol/requests.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from './engine-client.ts';
import { FakeClock } from './fake-clock.ts';
import { ReplayingClient } from './replaying-client.ts';
import { NOTES, notes, takeOver, VALUES, values } from './successive-engines.ts';

const insert = (id: string, fields: object): Request => ({
  ...{ op: 'insert', handle: NOTES, id, body: JSON.stringify(fields) },
});

/** What an engine holds after changes, and what the next one holds an hour later by replay. */
async function replayed(clock: FakeClock, ...changes: Request[]) {
  const client = new ReplayingClient();
  await client.join(await takeOver(memoryDriver(), clock, 'a'));
  for (const change of changes) await client.make(change);
  const made = await client.contents();
  clock.jump(3_600_000);
  const failures = await client.join(await takeOver(memoryDriver(), clock, 'a'));
  expect(failures).toEqual(new Map());
  return { made, again: await client.contents() };
}

const needs: Request['needs'] = ['updates'];

test('a replayed patchOne chooses items in its collation', async () => {
  const items = { tags: ['a', 'RED', 'red'] };
  const collation = 'en 2';
  const { made, again } = await replayed(
    new FakeClock(),
    insert('x', items),
    insert('y', items),
    {
      ...{ op: 'patchOne', handle: NOTES, criteria: { tags: 'Red' }, archived: false, collation },
      ...{ changes: '{"$set":{"tags.$":"first"}}', needs },
    },
    {
      ...{ op: 'patchOne', handle: NOTES, criteria: { _id: 'y' }, archived: false, collation },
      ...{ changes: '{"$set":{"tags.$[t]":"both"}}', filters: [{ t: 'rED' }], needs },
    },
  );
  expect(made).toMatchObject({
    bodies: ['{"tags":["a","first","red"]}', '{"tags":["a","both","both"]}'],
  });
  expect(again).toEqual(made);
});

test('a replay chooses documents by $$NOW as it was', async () => {
  const clock = new FakeClock();
  const now = clock.now();
  const [past, soon] = [now - 1000, now + 1000];
  const criteria = { $expr: { $lt: ['$due', { $toDouble: '$$NOW' }] } };
  const late = { criteria, archived: false, needs: ['expressions'] } as const;
  const { made, again } = await replayed(
    clock,
    insert('past', { due: past }),
    insert('soon', { due: soon }),
    { op: 'patchMany', handle: NOTES, changes: '{"late":true}', ...late },
    insert('older', { due: past }),
    { op: 'deleteMany', handle: NOTES, ...late, now },
  );
  expect(made).toMatchObject({ keys: ['soon'], bodies: [`{"due":${soon}}`] });
  expect(again).toEqual(made);
});

test('a deleteMany says which time $$NOW is', async () => {
  const { client } = openClient(memoryDriver());
  const notes = new client.Collection<{ due: Date }>({ name: 'notes', type: 'DOCUMENT_BASED' });
  const now = Date.now();
  await notes.insertMany([{ due: new Date(now - 1000) }, { due: new Date(now + 3_600_000) }]);
  // The clock of the engine stands years before.
  expect(await notes.deleteMany({ $expr: { $lt: ['$due', '$$NOW'] } })).toBe(1);
  await client.close();
});

test.each<Request>([
  { op: 'patch', handle: NOTES, id: 'gone', changes: '{"n":1}' },
  { op: 'update', handle: NOTES, id: 'gone', body: '{"n":1}' },
  { op: 'archive', handle: NOTES, id: 'gone' },
])('a caller that waits hears that its change finds no document now: $op', async (request) => {
  const engine = await takeOver(memoryDriver(), new FakeClock(), 'a');
  const session = engine.join(() => undefined, 'a');
  session.openAll([[NOTES, notes]]);
  // As the page left, nobody had answered.
  const failures = await session.replay([{ request, number: 1, turn: UNACKNOWLEDGED }]);
  expect(failures.get(0)).toMatchObject({ code: 'change_lost' });
  const again = await session.execute([request], [[NOTES, 1]]);
  expect(again.failures).toBeUndefined();
  expect(again.values[0] ?? false).toBe(false);
});

const none = { criteria: { n: 1 }, archived: false } as const;

test.each<Request>([
  { op: 'patch', handle: NOTES, id: 'gone', changes: '{"n":1}' },
  { op: 'patchOne', handle: NOTES, ...none, changes: '{"n":1}' },
  { op: 'patchMany', handle: NOTES, ...none, changes: '{"n":1}' },
  { op: 'update', handle: NOTES, id: 'gone', body: '{"n":1}' },
  { op: 'archive', handle: NOTES, id: 'gone' },
  { op: 'delete', handle: NOTES, id: 'gone' },
  { op: 'deleteOne', handle: NOTES, ...none },
  { op: 'deleteMany', handle: NOTES, ...none },
  { op: 'kvDelete', handle: VALUES, key: 'gone' },
])(
  'a change that finds nothing is not told to be made where its answer is lost: $op',
  async (request) => {
    const driver = memoryDriver();
    const clock = new FakeClock();
    const ask = async (...sent: Request[]) => {
      const session = (await takeOver(driver, clock)).join(() => undefined, 'a');
      session.openAll([
        [NOTES, notes],
        [VALUES, values],
      ]);
      const reply = await session.execute(sent, [[request.handle, 1]]);
      await session.save();
      return reply;
    };
    const change = { op: 'insert', handle: NOTES, id: 'x', body: '{}' } as const;
    const value = { op: 'kvSet', handle: VALUES, key: 'x', body: '1' } as const;
    // What follows it is made and saved.
    const first = await ask(request, request.handle === NOTES ? change : value);
    const again = await ask(request);
    expect(again.failures).toBeUndefined();
    const counted = ({ values: [found] }: typeof again) =>
      (found as { count?: number } | undefined)?.count ?? found;
    expect(counted(again)).toEqual(counted(first));
  },
);
