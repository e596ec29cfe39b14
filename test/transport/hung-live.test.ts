import { afterEach, beforeEach, expect, test } from 'vitest';
import { BaseClient } from '../../src/page/client/base-client.ts';
import { LiveLog } from '../contract/live-log.ts';
import { TrappedEngines, trap } from './trapped-engines.ts';

let engines: TrappedEngines;

beforeEach(() => {
  engines = new TrappedEngines();
});

afterEach(() => {
  engines[Symbol.dispose]();
  expect(engines.violations).toEqual([]);
});

function open() {
  const settings = { name: 'trapped', storage: undefined, durability: 'relaxed' } as const;
  const db = new BaseClient(settings, engines.connect);
  const notes = new db.Collection<{ text: string }>({
    name: 'notes',
    type: 'DOCUMENT_BASED',
    activate_drop_method: true,
  });
  return { db, notes };
}

const texts = (data: readonly { text: string }[]) => data.map(({ text }) => text).join();
const hung = { code: 'query_hung', place: 'notes' };

test('a live query that hangs at its start fails alone; others go on without an event', async () => {
  const { db, notes } = open();
  await notes.insertMany([{ text: 'a' }, { text: 'hang1' }]);
  const all = new LiveLog(notes.live({}));
  const other = new LiveLog(notes.live({ text: trap(2) }));
  const count = new LiveLog(notes.liveCount());
  const before = await all.until(() => true);
  await other.until(() => true);
  await count.until(() => true);
  const trapped = new LiveLog(notes.live({ text: trap(1) }));
  expect(await trapped.error()).toMatchObject({ name: 'WorkerError', ...hung, data: undefined });
  await notes.count();
  await notes.insert({ text: 'ab' });
  expect(texts(await other.until(({ length }) => length === 2))).toBe('a,ab');
  const after = await all.until(({ length }) => length === 3);
  expect(await count.until((n) => n === 3)).toBe(3);
  expect([after[0], after[1]]).toEqual(before);
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBe(before[1]);
  for (const { snapshots } of [all, other, count]) {
    expect(snapshots.map(({ status }) => status)).toEqual(['ready', 'ready']);
  }
  await db.close();
});

test('a write that makes a live query hang is acknowledged and kept; the query fails', async () => {
  const { db, notes } = open();
  const trapped = new LiveLog(notes.live({ text: trap(1) }));
  const other = new LiveLog(notes.liveCount({ text: trap(2) }));
  await notes.insert({ text: 'a1' });
  const data = await trapped.until(({ length }) => length === 1);
  const writes = ['hang1', 'a2', 'a3'].map((text) => notes.insert({ text }));
  expect(await Promise.all(writes)).toMatchObject([{ text: 'hang1' }, {}, {}]);
  expect(await trapped.error()).toMatchObject({ ...hung, data });
  expect(await other.until((n) => n === 3)).toBe(3);
  expect(texts(await notes.filter({}))).toBe('a1,hang1,a2,a3');
  expect(engines.hung).toBe(1);
  await db.close();
});

test('several live queries that hang on one write all fail, and resume once the document is gone', async () => {
  const { db, notes } = open();
  await notes.insert({ _id: 'x', text: 'a' });
  const queries = [1, 1, 2].map((number) => notes.live({ text: trap(number) }));
  const logs = queries.map((query) => new LiveLog(query));
  for (const log of logs) await log.until(() => true);
  await notes.update('x', { text: 'hang1' });
  expect(await logs[0]?.error()).toMatchObject(hung);
  expect(await logs[1]?.error()).toMatchObject(hung);
  await logs[2]?.until(({ length }) => length === 0);
  expect(engines.hung).toBe(2);
  await notes.update('x', { text: 'ab' });
  for (const log of logs) log.stop();
  // Timers fire in order: by then the queries have stopped.
  await new Promise((resolve) => setTimeout(resolve));
  for (const query of queries) {
    // The query that did not hang may have got its data already.
    await new Promise<void>((resolve) => {
      const look = ({ status, data = [] }: ReturnType<typeof query.getSnapshot>) =>
        status === 'ready' && texts(data) === 'ab' && resolve();
      query.subscribe(look);
      look(query.getSnapshot());
    });
  }
  await db.close();
});

test('live queries may be stopped, started, dropped and closed during a restart', async () => {
  const { db, notes } = open();
  const lost = new db.Collection({
    name: 'lost',
    type: 'DOCUMENT_BASED',
    activate_drop_method: true,
  });
  await notes.insert({ text: 'hang1' });
  const left = new LiveLog(notes.liveCount());
  const kept = new LiveLog(notes.live({}));
  const gone = new LiveLog(lost.live({}));
  for (const log of [left, kept, gone]) await log.until(() => true);
  const begun: LiveLog<unknown>[] = [];
  let dropped: Promise<unknown> | undefined;
  let restarting = 0;
  db.on('status', ({ state }) => {
    if (state !== 'opening' || restarting++ > 0) return;
    left.stop();
    begun.push(new LiveLog(notes.liveCount({ text: trap(2) })), new LiveLog(notes.liveCount()));
    dropped = lost.Drop();
  });
  expect(await notes.count({ text: trap(1) }).catch(({ code }) => code)).toBe('query_hung');
  expect(await gone.error()).toMatchObject({ code: 'collection_dropped', data: [] });
  expect(await dropped).toBe(true);
  expect(await begun[0]?.until(() => true)).toBe(0);
  expect(await begun[1]?.until(() => true)).toBe(1);
  await notes.insert({ text: 'a' });
  expect(await begun[0]?.until((n) => n === 1)).toBe(1);
  expect(left.snapshots.length).toBe(1);

  const closing = notes.count({ text: trap(1) }).catch(({ code }) => code);
  const closed = db.close();
  expect(await closing).toBe('query_hung');
  await closed;
  for (const log of [kept, ...begun]) expect(await log.error()).toMatchObject({ code: 'closed' });
  expect(db.status.state).toBe('closed');
});
