import { expect, test } from 'vitest';
import { directoryKey } from '../../src/storage/checkpoint/checkpoint-format.ts';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const open = ({ db }: Tab) => new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });

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
