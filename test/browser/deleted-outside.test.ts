import { expect, test } from 'vitest';
import { connect, Database } from '../../src/index.ts';

const DOORS = { connect, Database: (options: { name: string }) => new Database(options) };
let names = 0;

const deleteDatabase = (name: string) =>
  new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(`cairn:${name}`);
    request.onsuccess = resolve;
    request.onerror = () => reject(request.error);
  });

for (const [door, make] of Object.entries(DOORS))
  for (const on_deleted of ['fail', 'start_again'] as const)
    test(`${door}, ${on_deleted}: a client hears at once that its database was deleted`, async () => {
      const options = { name: `deleted outside ${++names}`, on_deleted };
      const db = make(options);
      const notes = new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
      await notes.insert({ _id: 'old' });
      await db.save();
      const codes: unknown[] = [];
      db.on('error', ({ error }) => codes.push((error as { code?: string }).code));
      await deleteDatabase(options.name);
      // No call is made.
      await expect.poll(() => codes).toEqual(['database_destroyed']);
      if (on_deleted === 'fail') {
        expect(db.status.state).toBe('failed');
        await expect(notes.count()).rejects.toMatchObject({ code: 'database_destroyed' });
        return;
      }
      await notes.insert({ _id: 'new' });
      await db.close();
      const later = make(options);
      const kept = new later.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
      expect((await kept.filter({})).map(({ _id }) => _id)).toEqual(['new']);
      await later.close();
    });
