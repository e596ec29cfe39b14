import { expect, test } from 'vitest';
import type { DatabaseOptions } from '../../src/api/options/client-options.ts';
import { parseDatabaseOptions } from '../../src/api/options/client-options.ts';
import { encrypted } from '../../src/encryption/index.ts';
import { BaseClient } from '../../src/page/client/base-client.ts';
import { pagePlatform } from '../../src/page/connection/page-platform.ts';
import { connectInThread } from '../../src/page/connection/thread-engine.ts';
import { connectToWorker } from '../../src/page/connection/worker/connect-to-worker.ts';
import { MessageWorker } from './message-worker.ts';

const DOORS = ['in the thread', 'in a worker'] as const;
let names = 0;

/** Clients of one database, as two parts of a page make them. */
function openClients(door: (typeof DOORS)[number], options: Omit<DatabaseOptions, 'name'>) {
  const name = `deleted ${++names} ${Math.random()}`;
  const platform = Object.create(pagePlatform);
  const make = () => {
    const settings = parseDatabaseOptions({ name, ...options });
    const worker = () => new MessageWorker().asWorker;
    return new BaseClient(settings, () =>
      door === 'in the thread'
        ? connectInThread(settings, platform)
        : connectToWorker({ worker, answer_timeout: 60 }, settings, platform),
    );
  };
  return { name, make };
}

const notesOf = (client: BaseClient) =>
  new client.Collection({ name: 'notes', type: 'DOCUMENT_BASED', save_timeout: 3600 });

const deleteDatabase = (name: string) =>
  new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(`cairn:${name}`);
    request.onsuccess = resolve;
    request.onerror = reject;
  });

/** The codes of the errors that a client tells by itself. */
function errorsOf(client: BaseClient): unknown[] {
  const codes: unknown[] = [];
  client.on('error', ({ error }) => codes.push((error as { code?: string }).code));
  return codes;
}

const key = crypto.getRandomValues(new Uint8Array(32));

for (const door of DOORS)
  for (const isEncrypted of door === 'in the thread' ? [false, true] : [false]) {
    const storage = () => (isEncrypted ? encrypted('indexeddb', { key: key.slice() }) : undefined);
    const where = `${door}${isEncrypted ? ', encrypted' : ''}`;

    test(`${where}: a database that is deleted from outside fails its clients at once`, async () => {
      const { name, make } = openClients(door, { storage: storage() });
      const [one, other] = [make(), make()];
      const shown = notesOf(one).live({});
      const told: unknown[] = [];
      shown.subscribe(({ error }) => error && told.push((error as { code?: string }).code));
      await shown.ready;
      await notesOf(one).insert({ _id: 'saved' });
      await one.save();
      await notesOf(other).insert({ _id: 'unsaved' });
      const errors = [errorsOf(one), errorsOf(other)];
      await deleteDatabase(name);
      // No call is made.
      for (const client of [one, other])
        await expect
          .poll(() => client.status)
          .toMatchObject({ state: 'failed', last_error: { code: 'database_destroyed' } });
      expect(errors).toEqual([['database_destroyed'], ['database_destroyed']]);
      expect(told).toEqual(['database_destroyed']);
      await expect(notesOf(one).count()).rejects.toMatchObject({ code: 'database_destroyed' });
      const anew = make();
      expect(await notesOf(anew).count()).toBe(0);
      await anew.close();
    });

    test(`${where}: clients that ask for it start again with an empty database`, async () => {
      const { name, make } = openClients(door, { storage: storage(), on_deleted: 'start_again' });
      const [one, other] = [make(), make()];
      const [mine, theirs] = [notesOf(one), notesOf(other)];
      let shown: readonly unknown[] | undefined;
      mine.live({}).subscribe(({ data }) => {
        shown = data;
      });
      await mine.insert({ _id: 'saved' });
      await one.save();
      await theirs.insert({ _id: 'unsaved' });
      const errors = [errorsOf(one), errorsOf(other)];
      await deleteDatabase(name);
      await expect.poll(() => errors.flat()).toEqual(Array(2).fill('database_destroyed'));
      await expect.poll(() => shown).toEqual([]);
      expect(await theirs.count()).toBe(0);
      await mine.insert({ _id: 'new' });
      await theirs.insert({ _id: 'newer' });
      await expect.poll(() => shown?.length).toBe(2);
      expect(one.status.state).toBe('open');
      await one.close();
      await other.close();
      const later = make();
      expect((await notesOf(later).filter({})).map(({ _id }) => _id)).toEqual(['new', 'newer']);
      await later.close();
    });

    test(`${where}: calls in flight are made in the empty database`, async () => {
      const { name, make } = openClients(door, { storage: storage(), on_deleted: 'start_again' });
      const db = make();
      const notes = notesOf(db);
      await notes.insert({ _id: 'old' });
      const deleted = deleteDatabase(name);
      const codes: unknown[] = [];
      for (let n = 0; n < 200; n++) {
        await notes.insert({ n }).catch(({ code }) => codes.push(code));
        if (n % 10 === 0) await notes.save().catch(({ code }) => codes.push(code));
      }
      await deleted;
      expect(codes).toEqual([]);
      expect(await notes.get('old')).toBe(undefined);
      await db.close();
    });
  }
