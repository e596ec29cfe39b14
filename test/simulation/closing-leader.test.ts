import { expect, test } from 'vitest';
import { directoryKey } from '../../src/storage/checkpoint/checkpoint-format.ts';
import { simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const open = ({ db }: Tab) => new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });

/** What the calls of a follower come to whose leader closes while they are in flight. */
async function closeAmidCalls(seed: number): Promise<readonly unknown[]> {
  const world = new World(seed);
  const browser = simulateBrowser(world);
  const [leader, follower] = [new Tab(0, browser), new Tab(1, browser)];
  const mine = open(leader);
  const shown = mine.live({});
  shown.subscribe(() => undefined);
  await world.hear(mine.insert({ n: 0 }), 2000);
  const theirs = open(follower);
  const theirsShown = theirs.live({});
  theirsShown.subscribe(() => undefined);
  await world.hear(theirs.get('none'), 2000);
  const codes: unknown[] = [];
  const calls: Promise<unknown>[] = [];
  const call = () => {
    for (let n = 0; n < 4; n++)
      calls.push(
        theirs.insert({ n }).catch((error: { code?: string }) => void codes.push(error.code)),
      );
  };
  call();
  await world.runUntil(world.now + world.random.between(0, 4));
  call();
  const closed = leader.db.close();
  for (let turn = 0; turn < 20; turn++) {
    await world.runUntil(world.now + world.random.between(0, 2));
    call();
  }
  await world.runUntil(world.now + 10_000);
  await closed;
  await Promise.all(calls);
  expect(await world.hear(theirs.count())).toBe(calls.length + 1);
  return codes;
}

test('a leader that closes answers the calls of followers first', async () => {
  for (const seed of seedsOf(30)) expect([seed, await closeAmidCalls(seed)]).toEqual([seed, []]);
});

test('a frozen follower delays the close of its leader by a second', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const [leader, follower] = [new Tab(0, browser), new Tab(1, browser)];
  await world.hear(open(leader).insert({ n: 0 }), 2000);
  const theirs = open(follower);
  await world.hear(theirs.get('none'), 2000);
  const inserted = theirs.insert({ _id: 'a' });
  follower.freeze(10_000);
  await world.hear(leader.db.close(), 1100);
  expect(await world.hear(inserted, 20_000)).toMatchObject({ _id: 'a' });
});

/** Whether there is a checkpoint once the first of some tabs has inserted, saved and closed. */
async function hasCheckpoint(tabs: number): Promise<boolean> {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const [first, ...others] = Array.from({ length: tabs }, (_, id) => new Tab(id, browser)) as [Tab];
  const notes = open(first);
  const inserted = notes.insert({ _id: 'a' });
  await world.runUntil(500);
  await inserted;
  const found = others.map((tab: Tab) => open(tab).get('a'));
  await world.runUntil(1000);
  await Promise.all(found);
  const closed = notes.save().then(() => first.db.close());
  // Less than the rest that a checkpoint waits for.
  await world.runUntil(2000);
  await closed;
  const reading = browser.storage
    .driverOf(first)
    .open('db', { damaged: () => undefined })
    .then((storage) => storage.getMany('bodies', [directoryKey('notes')]));
  await world.runUntil(2100);
  return (await reading)[0] !== undefined;
}

test('the last tab that closes writes a checkpoint', async () => {
  expect(await hasCheckpoint(1)).toBe(true);
});

test('a leader with followers leaves the checkpoint to the next', async () => {
  expect(await hasCheckpoint(2)).toBe(false);
});
