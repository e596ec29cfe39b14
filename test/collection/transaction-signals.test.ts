import { expect, test } from 'vitest';
import { Database, memoryDriver } from '../../src/index.ts';
import { FailingStorage } from '../contract/failing-storage.ts';
import { rejection } from '../contract/outcomes.ts';

const reason = new Error('enough');

async function open() {
  const storage = new FailingStorage(memoryDriver());
  const db = new Database({ name: 'signals', storage });
  const things = new db.Collection<{ n: number }>({
    ...{ name: 'things', type: 'DOCUMENT_BASED' },
    ...{ save_timeout: 3600, save_directly_after: 1000 },
  });
  await things.insert({ _id: 'a', n: 1 });
  return { storage, db, things };
}

test('a signal ends the wait of a durable transaction for a save; the change is made', async () => {
  const { storage, db, things } = await open();
  const controller = new AbortController();
  let finish: () => void = () => undefined;
  storage.beforeWrite = () => {
    controller.abort(reason);
    return new Promise((resolve) => {
      finish = resolve;
    });
  };
  const { signal } = controller;
  const change = db.transaction((tx) => tx(things).patch('a', { n: 2 }), { durable: true, signal });
  expect(await rejection(change)).toBe(reason);
  expect((await things.get('a'))?.n).toBe(2);
  storage.beforeWrite = async () => undefined;
  finish();
  await db.close();
});

test('a signal ends the wait for a call behind an import; nothing is changed', async () => {
  const { db, things } = await open();
  const file = await things.exportBackup(await things.createBackup());
  let deliver: () => void = () => undefined;
  const late = new ReadableStream({
    start: (stream) => {
      deliver = () =>
        void file.pipeTo(
          new WritableStream({
            write: (chunk) => stream.enqueue(chunk),
            close: () => stream.close(),
          }),
        );
    },
  });
  const controller = new AbortController();
  let imported: Promise<unknown> = Promise.resolve();
  const change = db.transaction(
    async (tx) => {
      await tx(things).patch('a', { n: 2 });
      imported = things.importBackup(late);
      setTimeout(() => controller.abort(reason));
      // It waits for the import.
      await tx(things).patch('a', { n: 3 });
    },
    { signal: controller.signal },
  );
  expect(await rejection(change)).toBe(reason);
  deliver();
  await imported;
  expect((await things.get('a'))?.n).toBe(1);
  await db.close();
});
