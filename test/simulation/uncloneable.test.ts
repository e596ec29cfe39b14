import { expect, test } from 'vitest';
import { uncloneableBlob } from '../transport/uncloneable-blob.ts';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

test('a call of a follower that no message can carry rejects, and keeps no other from being answered', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    await Promise.all([new Tab(0, browser).db.ready, world.runUntil(100)]);
    const { db } = new Tab(1, browser);
    const notes = new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
    await Promise.all([notes.ready, world.runUntil(200 + seed * 10)]);
    const told: unknown[] = [];
    const note = (answer: unknown) => told.push(answer);
    notes.insert({ blob: uncloneableBlob() }).catch((error) => note(error.cause.name));
    await world.runUntil(500);
    notes.insert({}).then(() => note('inserted'), note);
    await world.runUntil(5000);
    notes.count().then(note, note);
    db.save().then(() => note('saved'), note);
    await world.runUntil(10_000);
    expect([seed, ...told]).toEqual([seed, 'DataCloneError', 'inserted', 1, 'saved']);
  }
});
