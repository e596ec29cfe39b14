import { expect, test, vi } from 'vitest';
import { connect, type DatabaseClient } from '../../src/index.ts';
import { MessageWorker } from './message-worker.ts';

let names = 0;

/**
 * Connects twice to one database of this thread, as a module does that is replaced while its app
 * runs.
 */
function connectTwice() {
  const made: MessageWorker[] = [];
  const worker = vi.fn(() => {
    const each = new MessageWorker();
    made.push(each);
    return each.asWorker;
  });
  const name = `shared worker ${++names}`;
  const open = () => connect({ name, worker });
  return { made, open, one: open(), other: open() };
}

const notesOf = (client: DatabaseClient) =>
  new client.Collection<{ n: number }>({ name: 'notes', type: 'DOCUMENT_BASED' });

test('two connections share one worker, and each closes by itself', async () => {
  const { made, open, one, other } = connectTwice();
  const mine = notesOf(one);
  const theirs = notesOf(other);
  const seen: unknown[] = [];
  theirs.on('change', (change) => seen.push(change));
  await theirs.ready;
  await mine.insert({ _id: 'a', n: 1 });
  await theirs.patch('a', { $inc: { n: 1 } });
  expect(await mine.get('a')).toMatchObject({ n: 2 });
  expect(seen).toHaveLength(2);
  for (const { status } of [one, other])
    expect(status).toMatchObject({ engine: 'worker', started: 'given', leader: true });
  expect(made).toHaveLength(1);

  await one.close();
  expect(one.status.state).toBe('closed');
  await expect(mine.count()).rejects.toMatchObject({ code: 'closed' });
  await theirs.insert({ _id: 'b', n: 1 });
  expect(made[0]?.terminated).toBe(false);
  const third = open();
  expect(await notesOf(third).count()).toBe(2);
  expect(made).toHaveLength(1);
  await third.close();

  await other.close();
  expect(made[0]?.terminated).toBe(true);
  const later = open();
  expect(await notesOf(later).count()).toBe(2);
  expect(made).toHaveLength(2);
  await later.close();
});

test('a connection made while the last one closes gets a new worker, and all data', async () => {
  const { made, open, one, other } = connectTwice();
  await other.close();
  await notesOf(one).insert({ _id: 'a', n: 1 });
  const closed = one.close();
  const next = open();
  expect(await notesOf(next).get('a')).toMatchObject({ n: 1 });
  await closed;
  expect(await notesOf(next).count()).toBe(1);
  expect(made.filter(({ terminated }) => !terminated)).toHaveLength(1);
  await next.close();
});

test('when their worker fails, both go on with the next one, with all they have changed', async () => {
  const { made, one, other } = connectTwice();
  const mine = notesOf(one);
  const theirs = notesOf(other);
  await mine.insert({ _id: 'a', n: 1 });
  await theirs.insert({ _id: 'b', n: 1 });
  const live = theirs.live({});
  const lengths: number[] = [];
  const stop = live.subscribe(({ data }) => lengths.push(data?.length ?? 0));
  await live.ready;
  made[0]?.fallSilent();
  const inFlight = mine.insert({ _id: 'c', n: 1 });
  made[0]?.fail('out of memory');
  await Promise.all([inFlight, theirs.insert({ _id: 'd', n: 1 })]);
  const ids = ['a', 'b', 'c', 'd'];
  for (const notes of [mine, theirs])
    expect((await notes.filter({})).map(({ _id }) => _id).toSorted()).toEqual(ids);
  await expect.poll(() => lengths.at(-1)).toBe(4);
  expect(made).toHaveLength(2);
  stop();
  await one.close();
  await other.close();
});

test('what one connection listens to and reads live costs the other nothing', async () => {
  const { one, other } = connectTwice();
  const mine = notesOf(one);
  const theirs = notesOf(other);
  await mine.ready;
  const changes: unknown[] = [];
  one.on('change', (change) => changes.push(change));
  const live = mine.live({});
  await live.ready;
  await one.close();
  await theirs.insert({ n: 1 });
  await theirs.save();
  expect(changes).toEqual([]);
  expect(other.status).toMatchObject({ state: 'open', unsaved: 0 });
  await other.close();
});
