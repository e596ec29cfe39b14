import { expect, test } from 'vitest';
import { connect } from '../../src/cairndb.ts';
import { LiveLog } from '../contract/live-log.ts';

/** Catastrophic backtracking: each further character doubles the time. */
const endless = { text: /^(a+)+$/ };
/** WebKit aborts a match after a million steps, hence many documents. */
const subjects = Array<string>(3000).fill(`${'a'.repeat(60)}!`);

test('a write that makes a live query hang is kept; other queries go on in the next worker', async () => {
  const connection = connect({ name: `hung live ${Math.random()}`, answer_timeout: 1 });
  const notes = new connection.Collection<{ text: string | string[] }>({
    name: 'notes',
    type: 'DOCUMENT_BASED',
    save_timeout: 3600,
  });
  await notes.insertMany([
    { _id: 'a', text: 'aaa' },
    { _id: 'b', text: 'b' },
  ]);
  const all = new LiveLog(notes.live({}));
  const trapped = new LiveLog(notes.live(endless));
  const harmless = new LiveLog(notes.liveCount({ text: /b/ }));
  const before = await all.until(({ length }) => length === 2);
  const matching = await trapped.until(({ length }) => length === 1);
  await harmless.until((count) => count === 1);

  await notes.insert({ _id: 'c', text: subjects });
  await notes.insert({ _id: 'd', text: 'b' });
  expect(await trapped.error()).toMatchObject({ code: 'query_hung', data: matching });
  expect(await harmless.until((count) => count === 2)).toBe(2);
  await notes.delete('b');
  expect(await harmless.until((count) => count === 1)).toBe(1);
  const after = await all.until((data) => data.map(({ _id }) => _id).join() === 'a,c,d');
  expect(after[0]).toBe(before[0]);
  expect(await notes.get('c')).toMatchObject({ text: subjects });
  expect(all.snapshots.every(({ status }) => status === 'ready')).toBe(true);

  const begun = new LiveLog(notes.liveCount(endless));
  expect(await begun.error()).toMatchObject({ code: 'query_hung', data: undefined });
  expect(await notes.count()).toBe(3);
  expect(connection.status.state).toBe('open');
  await connection.close();
});
