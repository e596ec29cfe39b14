import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

test('explain says that the engine is in another tab', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const engines: string[] = [];
  for (const tab of [new Tab(0, browser), new Tab(1, browser)]) {
    const notes = new tab.db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
    const explained = notes.explain({});
    await world.runUntil(world.now + 1000);
    engines.push((await explained).engine);
  }
  expect(engines).toEqual(['thread', 'tab']);
});
