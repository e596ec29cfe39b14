import { beforeEach, expect, test } from 'vitest';
import type { Request } from '../../src/protocol/requests.ts';
import { type FaultyDriver, faultyDriver } from '../storage/faulty-driver.ts';
import { FakeClock } from './fake-clock.ts';
import { ask, join, NOTES, notes, takeOver } from './successive-engines.ts';

let driver: FaultyDriver;

beforeEach(async () => {
  driver = faultyDriver(undefined, true);
  const { session } = join(await takeOver(driver, new FakeClock()), 'a');
  for (let n = 0; n < 200; n++)
    await ask(session, { op: 'insert', handle: NOTES, id: `k${n}`, body: `{"n":${n}}` });
  await session.save();
  driver.crash();
});

/** An engine with the stored notes, and a client of it. */
async function start() {
  const engine = await takeOver(driver, new FakeClock());
  await engine.recovery.over;
  const { session } = join(engine, 'b');
  const { collection } = session.handles.open({ handle: NOTES, settings: notes });
  return { session, context: collection.context };
}

const get: Request = { op: 'get', handle: NOTES, id: 'k0', transaction: 1 };
const scan: Request<'scan'> = {
  op: 'scan',
  handle: NOTES,
  archived: false,
  all: false,
  transaction: 1,
};
const rollback: Request = { op: 'rollback', handle: 0, transaction: 1 };

const settled = (asked: Promise<unknown>) => asked.then(String, String);

test.each([
  ['is rolled back', (session: Started['session']) => void ask(session, rollback)],
  ['loses its client', (session: Started['session']) => session.leave()],
])(
  'a transaction that %s before its first request is executed leaves no snapshot',
  async (_, end) => {
    const { session, context } = await start();
    // It waits until the collection is open.
    const first = settled(ask(session, get));
    end(session);
    await first;
    expect(context.snapshots.open).toBeUndefined();
  },
);

test.each([
  ['is rolled back', (session: Started['session']) => void ask(session, rollback)],
  ['loses its client', (session: Started['session']) => session.leave()],
])('a transaction that %s while it reads leaves nothing pinned', async (_, end) => {
  const { session, context } = await start();
  await ask(session, { op: 'count', handle: NOTES });
  const reading = settled(ask(session, scan));
  const sorted = settled(ask(session, { ...scan, sort: { n: 1 } }));
  await Promise.resolve();
  expect(context.records.guard.pinned).toBe(true);
  end(session);
  await Promise.all([reading, sorted]);
  expect(context.records.guard.pinned).toBe(false);
  expect(context.snapshots.open).toBeUndefined();
});

type Started = Awaited<ReturnType<typeof start>>;
