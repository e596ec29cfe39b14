import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const options = { name: 'log', type: 'KEY_VALUE_BASED', caching: true, save_timeout: 100 } as const;

/** A leader and a tab that follows it. */
async function twoTabs(seed = 1) {
  const world = new World(seed);
  const browser = simulateBrowser(world);
  const hear = <T>(asked: Promise<T>, ms = 2000): Promise<T> => world.hear(asked, ms);
  let tabs = 0;
  const open = async () => {
    const tab = new Tab(tabs++, browser);
    const log = new tab.db.Collection(options);
    await hear(log.ready);
    return [tab, log] as const;
  };
  const [leader, led] = await open();
  const [follower, log] = await open();
  return { hear, open, leader, led, follower, log };
}

test('what was called first through one handle and then through another is made in this order again', async () => {
  const { hear, leader, follower, log } = await twoTabs();
  const other = new follower.db.Collection(options);
  // The first handle has made more changes by then, so that its numbers are higher.
  await hear(log.set('before', 1));
  await hear(Promise.all([log.set('x', 'first'), other.set('x', 'second')]));
  leader.kill();
  expect(await hear(other.get('x'))).toBe('second');
});

test('calls without an answer are reapplied after the changes acknowledged to others before', async () => {
  const { hear, leader, led, log } = await twoTabs();
  await hear(log.set('x', 'first'));
  await hear(log.set('x', 'second'));
  led.sync.set('x', 'third');
  leader.rest(10_000);
  expect(await hear(log.get('x'))).toBe('third');
});

test('an acknowledged change that can never be reapplied is an error event of its collection', async () => {
  const { hear, leader, follower } = await twoTabs();
  const open = ({ db }: Tab) =>
    new db.Collection<{ email?: string }>({
      ...{ name: 'users', type: 'DOCUMENT_BASED', save_timeout: 100 },
      indexes: [{ fields: 'email', unique: true }],
    });
  const [led, users] = [open(leader), open(follower)];
  const errors: unknown[] = [];
  users.on('error', ({ error }) => errors.push(error));
  await hear(Promise.all([led.insert({ _id: 'other' }), users.insert({ _id: 'a', email: 'x' })]));
  // Acknowledged to the leader alone, which is gone.
  await hear(led.delete('a'));
  await hear(users.insert({ _id: 'b', email: 'x' }));
  leader.kill();
  expect((await hear(users.filter({}))).map(({ _id }) => _id)).toEqual(['a']);
  expect(errors).toMatchObject([{ code: 'unique_violation' }]);
});

test('what does not reach a leader that is frozen is not overtaken by what does', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { hear, leader, log } = await twoTabs(seed);
    leader.freeze(300);
    const first = log.set('x', 'first');
    await hear(Promise.resolve(), 310);
    await hear(log.set('x', 'second'), 20_000);
    await hear(first);
    expect([seed, await hear(log.get('x'))]).toEqual([seed, 'second']);
  }
});

test('nor is it left out of what is told to be saved', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { hear, open, leader, follower, log } = await twoTabs(seed);
    leader.freeze(300);
    log.set('x', 'before').catch(() => undefined);
    await hear(Promise.resolve(), 310);
    const saved = follower.db.save().then(() => {
      leader.kill();
      follower.kill();
    });
    await hear(saved, 20_000);
    const [, later] = await open();
    expect([seed, await hear(later.get('x'))]).toEqual([seed, 'before']);
  }
});
