import { expect, test } from 'vitest';
import { connect } from '../../src/index.ts';
import { MessageWorker } from './message-worker.ts';

test('a reply that waits for a save brings no status from before the save', async () => {
  const db = connect({
    name: 'status order',
    storage: 'memory',
    worker: () => new MessageWorker().asWorker,
  });
  const things = new db.Collection({
    name: 'things',
    type: 'DOCUMENT_BASED',
    save_timeout: 3600,
    save_directly_after: 1000,
  });
  await things.ready;
  await db.save();
  const unsaved: number[] = [];
  db.on('status', (status) => unsaved.push(status.unsaved));

  void things.insert({});
  void things.insert({});
  await things.save();

  expect(unsaved.at(-1)).toBe(0);
  expect(db.status.unsaved).toBe(0);
  await db.close();
});
